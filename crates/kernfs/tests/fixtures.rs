//! Samples of the fixture roots.
mod common;

use kernfs::cgroup::Limit;
use kernfs::knobs::Knob;
use kernfs::sample::Node;
use kernfs::{Options, Root, Sample, Sampler, Sources};

fn sampled(name: &str) -> Sample {
    let options = Options {
        sources: Sources::ALL | Sources::GENERATIONS,
        knobs: Knob::ALL.to_vec(),
        cgroups: match common::RECORDED.contains(&name) {
            true => vec![],
            false => vec!["/sys/fs/cgroup/user.slice".into()],
        },
    };
    let mut sampler = Sampler::new(Root::new(common::fixture(name)), options);
    let mut sample = Sample::default();
    sampler.sample(&mut sample);
    assert_eq!(sample.errors, [], "{name}");
    sample
}

fn sum(sample: &Sample, figure: impl Fn(&Node) -> u64) -> Option<u64> {
    Some(sample.nodes.iter().map(figure).sum())
}

/// The number after a name, found without the crate's parsers.
fn number(text: &str, name: &str) -> u64 {
    let line = text.lines().find(|line| {
        let mut parts = line.split([' ', ':']).filter(|word| !word.is_empty());
        parts.next() == Some(name)
    });
    let line = line.unwrap_or_else(|| panic!("no {name}"));
    let digits = line.split_whitespace().nth(1).unwrap();
    digits.parse().unwrap()
}

#[test]
fn sums_over_nodes_are_the_figures_of_vmstat_and_meminfo() {
    // The files of a recorded machine were read one after the other, and need not agree to the page.
    let composed = common::ALL.iter();
    for name in composed.filter(|name| !common::RECORDED.contains(name)) {
        let sample = sampled(name);
        let (vmstat, meminfo) = (&sample.vmstat, &sample.meminfo);
        let by_node = |figure: fn(&Node) -> u64| sum(&sample, figure);
        assert_eq!(by_node(|node| node.free), vmstat.nr_free_pages(), "{name}");
        for (nodes, machine) in [
            (by_node(|node| node.active_file), vmstat.nr_active_file()),
            (
                by_node(|node| node.inactive_file),
                vmstat.nr_inactive_file(),
            ),
            (by_node(|node| node.active_anon), vmstat.nr_active_anon()),
            (
                by_node(|node| node.inactive_anon),
                vmstat.nr_inactive_anon(),
            ),
            (by_node(|node| node.managed * 4), meminfo.mem_total()),
            (by_node(|node| node.free * 4), meminfo.mem_free()),
            (by_node(|node| node.huge * 4), meminfo.hugetlb()),
        ] {
            assert_eq!(nodes, machine, "{name}");
        }
    }
}

#[test]
fn free_blocks_of_a_node_are_its_free_pages() {
    let composed = common::ALL.iter();
    for name in composed.filter(|name| !common::RECORDED.contains(name)) {
        for node in &sampled(name).nodes {
            let blocks = node.blocks.iter().enumerate();
            let pages: u64 = blocks.map(|(order, count)| count << order).sum();
            assert_eq!(pages, node.free, "{name}: node {}", node.id);
        }
    }
}

#[test]
fn every_node_has_watermarks_in_order_and_files_of_its_own() {
    for name in common::ALL {
        let sample = sampled(name);
        assert!(!sample.nodes.is_empty(), "{name}");
        for node in &sample.nodes {
            assert!(node.managed > 0 && node.present >= node.managed, "{name}");
            let watermarks = node.watermarks;
            assert!(watermarks.min < watermarks.low, "{name}: {node:?}");
            assert!(watermarks.low < watermarks.high, "{name}: {node:?}");
        }
        for (node, files) in sample.nodes.iter().zip(&sample.node_files) {
            assert_eq!(node.id, files.id);
            assert_eq!(files.meminfo.mem_total(), Some(node.managed * 4), "{name}");
            let hits = files.numastat.numa_hit();
            assert!(hits.is_some_and(|hits| hits > 0), "{name}");
            assert!(files.vmstat.nr_free_pages().is_some());
        }
        assert_eq!(sample.nodes.len(), sample.node_files.len());
    }
}

#[test]
fn every_field_is_kept_with_its_number() {
    for name in common::ALL {
        let sample = sampled(name);
        for (file, fields, separator) in [
            ("proc/vmstat", &sample.vmstat.fields, " "),
            ("proc/meminfo", &sample.meminfo.fields, ":"),
        ] {
            let text = common::text(name, file);
            assert_eq!(fields.len(), text.lines().count(), "{name}/{file}");
            for line in text.lines() {
                let (field, value) = line.split_once(separator).unwrap();
                let value = value.trim().trim_end_matches(" kB").parse().ok();
                assert_eq!(fields.get(field), value, "{name}/{file}: {field}");
            }
            assert!(fields.unknown().count() < fields.len());
        }
    }
}

#[test]
fn fields_that_only_some_kernels_have_are_none_elsewhere() {
    let old = sampled("4.18");
    assert_eq!(old.psi, kernfs::sample::Psi::default());
    assert_eq!(old.knobs.get(Knob::NegativeDentryLimit), Some(0));
    assert_eq!(old.knobs.get(Knob::WatermarkBoostFactor), None);
    assert_eq!(old.dentry.unwrap().nr_dentry, 288_497);
    assert_eq!(
        old.dentry.unwrap().nr_negative,
        None,
        "not counted before 5.0"
    );
    let text = common::text("4.18", "proc/vmstat");
    let refaults = number(&text, "workingset_refault");
    assert_eq!(old.vmstat.workingset_refault(), Some(refaults));
    assert_eq!(old.vmstat.pgsteal_proactive(), None);
    assert!(old.nodes[0].stolen.is_none());
    assert_eq!(old.lru_gen.enabled, None);

    let new = sampled("7.3");
    let text = common::text("7.3", "proc/vmstat");
    let stolen: u64 = ["kswapd", "direct", "khugepaged", "proactive"]
        .iter()
        .map(|by| number(&text, &format!("pgsteal_{by}")))
        .sum();
    assert_eq!(new.nodes[0].stolen, Some(stolen));
    assert_eq!(new.vmstat.pgsteal(), Some(stolen));
    assert_eq!(new.knobs.get(Knob::CleanMinRatio), Some(15));
    assert_eq!(new.dentry.unwrap().nr_negative, Some(271_166));
    assert!(new.psi.memory.some.unwrap().total_us > 0);
    assert!(new
        .vmstat
        .fields
        .unknown()
        .any(|(name, _)| name == "wsprot_kept"));

    let boosted = sampled("6.1");
    assert_eq!(boosted.nodes[0].boost, 9216);
    assert_eq!(boosted.lru_gen.enabled, Some(3));
    assert_eq!(boosted.lru_gen.min_ttl_ms, Some(0));
    assert_eq!(boosted.generations.list.len(), 4);
    assert_eq!(boosted.nodes[0].huge, 256 * 512);
    let cgroup = &boosted.cgroups[0];
    assert_eq!(
        (cgroup.low, cgroup.max),
        (Some(Limit::Bytes(1 << 28)), Some(Limit::None))
    );
    assert_eq!(cgroup.events.low(), Some(12));
    assert_eq!(cgroup.pressure.full.unwrap().total_us, 102_938);
    let (anon, file) = (cgroup.stat.anon().unwrap(), cgroup.stat.file().unwrap());
    assert_eq!(cgroup.current, Some(anon + file));
}

#[test]
fn allocation_stalls_are_those_of_all_zones() {
    for name in common::ALL {
        let text = common::text(name, "proc/vmstat");
        let lines = text.lines().filter(|line| line.starts_with("allocstall"));
        let all: u64 = lines
            .map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap())
            .sum();
        assert_eq!(sampled(name).vmstat.allocstall(), Some(all), "{name}");
    }
}

#[test]
fn nodes_keep_the_kernels_ids() {
    let ids = |name| {
        sampled(name)
            .nodes
            .iter()
            .map(|node| node.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(ids("5.15-sparse-nodes"), [0, 3, 8]);
    assert_eq!(ids("7.3-eight-nodes"), [0, 1, 2, 3, 16, 17, 18, 31]);
    let sample = sampled("7.3-eight-nodes");
    let device = sample
        .zoneinfo
        .zones
        .iter()
        .rfind(|zone| zone.is_populated())
        .unwrap();
    assert_eq!((device.name.as_str(), device.managed), ("Device", 0));
    assert_eq!(sample.node(31).unwrap().zones, 2);
    assert_eq!(sample.node(31).unwrap().huge, 2 * 262_144);
    assert_eq!(sample.node(0).unwrap().huge, 10_000 * 512 + 4 * 262_144);
    assert!(sample.node(4).is_none());
}

#[test]
fn nodes_have_as_many_orders_as_the_kernel() {
    let sample = sampled("6.12-many-orders");
    assert_eq!(sample.buddyinfo.orders(), 16);
    assert_eq!(sample.nodes[0].blocks.len(), 16);
    assert_eq!(sampled("4.18").buddyinfo.orders(), 11);
}

#[test]
fn watermarks_of_the_recorded_machine_are_sums_over_its_zones() {
    let sample = sampled("6.18");
    let text = common::text("6.18", "proc/zoneinfo");
    let mut sums = [0u64; 4];
    // Watermarks of the three zones that have pages; Movable has none, and a min of 32.
    for zone in text.split("Node 0, zone").skip(1).take(3) {
        for (sum, name) in sums.iter_mut().zip(["min", "low", "high", "managed"]) {
            *sum += number(zone, name);
        }
    }
    let node = &sample.nodes[0];
    assert_eq!(
        [
            node.watermarks.min,
            node.watermarks.low,
            node.watermarks.high,
            node.managed
        ],
        sums
    );
    assert_eq!(node.zones, 3);
    assert_eq!(sample.zoneinfo.zones.len(), 5);
    assert_eq!(sample.zoneinfo.zones[0].protection().len(), 5);
    assert_eq!(sample.knobs.get(Knob::WatermarkScaleFactor), Some(10));
    let machine = kernfs::samples::Machine::of(&Root::new(common::fixture("6.18")));
    assert_eq!((machine.release.as_str(), machine.cpus), ("6.18.44", 2));
}

/// Guests of 384 and 128 MB, and one of 512. Their firmware and kernel keep a few percent.
#[test]
fn recorded_guests_have_the_nodes_that_they_were_given() {
    for (name, release, sizes) in [
        (
            "6.1-debian-two-nodes",
            "6.1.0-56-cloud-amd64",
            &[384, 128][..],
        ),
        ("6.12-two-nodes", "6.12.117", &[384, 128]),
        ("7.3-two-nodes", "7.3.4", &[384, 128]),
        ("6.12-debian", "6.12.117+deb12-cloud-amd64", &[512]),
    ] {
        let machine = kernfs::samples::Machine::of(&Root::new(common::fixture(name)));
        assert_eq!(machine.release, release);
        let sample = sampled(name);
        assert_eq!(sample.nodes.len(), sizes.len(), "{name}");
        for (node, mb) in sample.nodes.iter().zip(sizes) {
            let managed_mb = node.managed / 256;
            assert!(
                (mb * 3 / 4..=*mb).contains(&managed_mb),
                "{name}: {managed_mb} of {mb} MB"
            );
        }
        // The machine's counters are the sums of its nodes', except for changes in between.
        let by_node = sum(&sample, |node| node.free).unwrap();
        let whole = sample.vmstat.nr_free_pages().unwrap();
        assert!(by_node.abs_diff(whole) < 1024, "{name}: {by_node} {whole}");
    }
}

/// zoneinfo as a machine with more CPUs has it.
fn with_cpus(zoneinfo: &str, cpus: u32) -> String {
    let mut out = String::new();
    for line in zoneinfo.lines() {
        out += line;
        out.push('\n');
        if line == "  pagesets" {
            for cpu in 2..cpus {
                out += &format!(
                    "    cpu: {cpu}\n              count:    7\n              high:     1444\n  \
                     vm stats threshold: 24\n"
                );
            }
        }
    }
    out
}

#[test]
fn a_long_zoneinfo_is_read_now_and_then_and_nodes_are_always_of_now() {
    for name in ["6.1", "7.3-eight-nodes"] {
        let dir = common::copy(name);
        let file = |file: &str| dir.path().join(file);
        let long = with_cpus(&common::text(name, "proc/zoneinfo"), 256);
        std::fs::write(file("proc/zoneinfo"), &long).unwrap();
        let mut sampler = Sampler::new(Root::new(dir.path()), Options::default());
        let mut sample = Sample::default();
        sampler.sample(&mut sample);
        let first = sample.clone();
        let short = sampled(name);
        for (long, short) in sample.nodes.iter().zip(&short.nodes) {
            assert_eq!(format!("{long:?}"), format!("{short:?}"), "{name}");
        }

        // Time goes on: vmstat and the nodes' vmstat have other numbers.
        let mut vmstats = vec!["proc/vmstat".to_owned()];
        let ids = sample.nodes.iter().map(|node| node.id);
        vmstats.extend(ids.map(|id| format!("sys/devices/system/node/node{id}/vmstat")));
        for vmstat in vmstats {
            let text = std::fs::read_to_string(file(&vmstat)).unwrap();
            let lines = text
                .lines()
                .map(|line| match line.split_once(' ').unwrap() {
                    (name @ ("nr_free_pages" | "nr_active_file" | "pgsteal_direct"), value) => {
                        format!("{name} {}\n", value.parse::<u64>().unwrap() + 5)
                    }
                    _ => format!("{line}\n"),
                });
            std::fs::write(file(&vmstat), lines.collect::<String>()).unwrap();
        }
        let zoneinfo = long.replace("        high     ", "        high     1");
        std::fs::write(file("proc/zoneinfo"), zoneinfo).unwrap();
        sampler.sample(&mut sample);
        assert!(sample.fresh.contains(Sources::ZONEINFO));
        for (now, then) in sample.nodes.iter().zip(&first.nodes) {
            assert_eq!(
                (now.free, now.active_file),
                (then.free + 5, then.active_file + 5)
            );
            assert_eq!(now.stolen, then.stolen.map(|pages| pages + 5), "{name}");
            assert_eq!(
                (now.watermarks.high, now.managed, now.huge),
                (then.watermarks.high, then.managed, then.huge)
            );
            assert_eq!(now.blocks, then.blocks);
        }

        // A watermark sysctl changes, and zoneinfo is read at once.
        std::fs::write(file("proc/sys/vm/watermark_scale_factor"), "300\n").unwrap();
        sampler.sample(&mut sample);
        for (now, then) in sample.nodes.iter().zip(&first.nodes) {
            assert!(now.watermarks.high > then.watermarks.high, "{name}");
            assert_eq!(now.free, then.free, "{name}: as zoneinfo has it");
        }
    }
}
