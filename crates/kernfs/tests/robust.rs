//! Garbage in place of the kernel's files: no panic, an error that names the file, and the other files go
//! on.
mod common;

use kernfs::buddyinfo::Buddyinfo;
use kernfs::cgroup::{parse_bytes, parse_limit};
use kernfs::dentry::{DentryState, InodeNr};
use kernfs::knobs::Knob;
use kernfs::lru_gen::{parse_enabled, Generations};
use kernfs::meminfo::Meminfo;
use kernfs::node::{parse_list, NodeMeminfo, Numastat};
use kernfs::psi::Pressure;
use kernfs::samples::{Reader, Record};
use kernfs::vmstat::Vmstat;
use kernfs::zoneinfo::Zoneinfo;
use kernfs::{ErrorKind, News, Options, Root, Sample, Sampler, Sources};
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// One parser of each kind, used again and again as by a sampler: leftovers of one text would show in the
/// next.
#[derive(Default)]
struct Parsers {
    vmstat: Vmstat,
    zoneinfo: Zoneinfo,
    buddyinfo: Buddyinfo,
    meminfo: Meminfo,
    node: NodeMeminfo,
    numastat: Numastat,
    psi: Pressure,
    dentry: DentryState,
    inode: InodeNr,
    generations: Generations,
    list: Vec<u32>,
}

impl Parsers {
    /// The number of parsers that accept the text.
    fn all(&mut self, text: &[u8]) -> usize {
        let results = [
            self.vmstat.parse(text).is_ok(),
            self.zoneinfo.parse(text).is_ok(),
            self.buddyinfo.parse(text).is_ok(),
            self.meminfo.parse(text).is_ok(),
            self.node.parse(0, text).is_ok(),
            self.numastat.parse(text).is_ok(),
            self.psi.parse(text).is_ok(),
            self.dentry.parse(text).is_ok(),
            self.inode.parse(text).is_ok(),
            self.generations.parse(text).is_ok(),
            kernfs::knobs::parse(text).is_ok(),
            parse_enabled(text).is_ok(),
            parse_bytes(text).is_ok(),
            parse_limit(text).is_ok(),
            parse_list(text, &mut self.list).is_ok(),
        ];
        // Reading the parsed fields must not panic either.
        let _ = self.vmstat.fields.iter().count() + self.vmstat.fields.unknown().count();
        let _ = (
            self.vmstat.allocstall(),
            self.vmstat.pgsteal(),
            self.meminfo.hugetlb(),
        );
        let zones = self.zoneinfo.zones.iter();
        let _ = zones.map(|zone| zone.protection().len()).sum::<usize>();
        results.into_iter().filter(|fine| *fine).count()
    }
}

/// Files whose text each parser knows.
fn corpus() -> Vec<Vec<u8>> {
    let names = ["4.18", "5.15-sparse-nodes", "6.18", "7.3"];
    let roots = names.iter().map(|name| common::fixture(name));
    let files = roots.flat_map(|root| common::files(&root));
    files.map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn a_file_cut_off_anywhere_does_not_panic() {
    let mut parsers = Parsers::default();
    for text in corpus() {
        let step = text.len() / 300 + 1;
        for end in (0..text.len()).step_by(step) {
            parsers.all(&text[..end]);
        }
    }
}

#[test]
fn a_table_cut_off_within_a_line_is_never_taken() {
    // `nr_free_pages 12` for 1234 is a wrong number of the right form.
    for name in common::ALL {
        let mut parsers = Parsers::default();
        for file in [
            "proc/vmstat",
            "proc/zoneinfo",
            "proc/buddyinfo",
            "proc/meminfo",
        ] {
            let text = common::text(name, file).into_bytes();
            let step = text.len() / 500 + 1;
            for end in (0..text.len()).step_by(step) {
                if !text[..end].ends_with(b"\n") {
                    assert!(parsers.vmstat.parse(&text[..end]).is_err());
                    assert!(parsers.meminfo.parse(&text[..end]).is_err());
                    assert!(parsers.zoneinfo.parse(&text[..end]).is_err());
                    assert!(parsers.buddyinfo.parse(&text[..end]).is_err());
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_parsed_without_a_panic(
        texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..400), 1..4),
    ) {
        let mut parsers = Parsers::default();
        for text in texts {
            parsers.all(&text);
        }
    }

    #[test]
    fn tokens_of_the_kernel_in_any_order_are_parsed_without_a_panic(
        tokens in prop::collection::vec(prop::sample::select(vec![
            "Node", " ", "0", ",", "zone", "DMA", "\n", ":", "per-node stats", "pages free", "min",
            "pagesets", "protection: (", ")", "99999999999999999999", "-1", "kB", "some", "avg10=",
            "total=", "memcg", "x", "nr_free_pages", "MemTotal", "cpu:", "vm stats threshold", "\0",
            "low", "high", "present", "managed", "  ", "18446744073709551615", "0x7", "max",
        ]), 0..200),
    ) {
        let mut parsers = Parsers::default();
        parsers.all(tokens.concat().as_bytes());
        let spaced = tokens.join(" ") + "\n";
        parsers.all(spaced.as_bytes());
    }

    #[test]
    fn files_with_changed_bytes_are_parsed_without_a_panic(
        file in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let corpus = corpus();
        let mut text = file.get(&corpus).clone();
        let mut parsers = Parsers::default();
        parsers.all(&text);
        for (at, byte) in changes {
            if !text.is_empty() {
                let at = at.index(text.len());
                text[at] = byte;
            }
        }
        parsers.all(&text);
    }

    /// The quick way, for lines that stand where they stood last time, against the slow one.
    #[test]
    fn the_last_text_does_not_change_what_the_next_one_gives(
        name in prop::sample::select(common::ALL.to_vec()),
        at in any::<prop::sample::Index>(),
        byte in prop::sample::select(b"0 9\n:anZ-\t".to_vec()),
        insert in any::<bool>(),
    ) {
        let (mut warm, mut fresh) = (Parsers::default(), Parsers::default());
        for file in ["proc/vmstat", "proc/zoneinfo", "proc/meminfo", "proc/buddyinfo"] {
            let mut text = common::text(name, file).into_bytes();
            warm.all(&text);
            let at = at.index(text.len());
            if insert {
                text.insert(at, byte);
            } else {
                text[at] = byte;
            }
            macro_rules! same {
                ($parser:ident, $shown:expr) => {
                    let results = [warm.$parser.parse(&text), fresh.$parser.parse(&text)];
                    prop_assert_eq!(&results[0], &results[1]);
                    if results[0].is_ok() {
                        prop_assert_eq!($shown(&warm.$parser), $shown(&fresh.$parser));
                    }
                };
            }
            let shown = |fields: &kernfs::Fields| {
                fields.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>()
            };
            same!(vmstat, |vmstat: &Vmstat| (shown(&vmstat.fields), vmstat.nr_free_pages()));
            same!(meminfo, |meminfo: &Meminfo| (shown(&meminfo.fields), meminfo.slab()));
            same!(buddyinfo, |found: &Buddyinfo| found.zones.to_vec());
            same!(zoneinfo, |found: &Zoneinfo| {
                let zones = found.zones.iter();
                let zones = zones.map(|zone| {
                    (zone.node, zone.name, zone.free, zone.watermarks.high, shown(&zone.all.fields))
                });
                let nodes = found.nodes.iter();
                let nodes = nodes.map(|node| (node.id, shown(&node.stats.fields)));
                (zones.collect::<Vec<_>>(), nodes.collect::<Vec<_>>())
            });
        }
    }

    #[test]
    fn numbers_come_through_as_they_are(values in prop::collection::vec(any::<u64>(), 1..60)) {
        let lines = values.iter().enumerate();
        let text: String = lines.map(|(n, value)| format!("field_{n} {value}\n")).collect();
        let mut numastat = Numastat::default();
        for _ in 0..2 {
            numastat.parse(text.as_bytes()).unwrap();
            let found: Vec<u64> = numastat.fields.iter().map(|(_, value)| value).collect();
            prop_assert_eq!(&found, &values);
        }
    }

    #[test]
    fn samples_files_of_any_text_are_read_without_a_panic(
        lines in prop::collection::vec("[ -~]{0,60}", 0..8),
    ) {
        let text = lines.join("\n");
        let _ = Reader::new(text.as_bytes()).take_while(Result::is_ok).count();
    }
}

fn sampler(root: &Path) -> Sampler {
    let options = Options {
        sources: Sources::ALL | Sources::GENERATIONS,
        knobs: Knob::ALL.to_vec(),
        cgroups: vec!["/sys/fs/cgroup/user.slice".into()],
    };
    Sampler::new(Root::new(root), options)
}

/// Paths below the root of the files that could not be read.
fn failed(sample: &Sample, root: &Path) -> Vec<String> {
    let errors = sample.errors.iter();
    let names = errors.map(|error| error.path.strip_prefix(root).unwrap().display().to_string());
    names.collect()
}

#[test]
fn each_file_broken_alone_leaves_the_others() {
    let dir = common::copy("7.3-eight-nodes");
    let root = dir.path();
    let mut sampler = sampler(root);
    let mut sample = Sample::default();
    sampler.sample(&mut sample);
    assert_eq!(failed(&sample, root), [""; 0]);
    let whole = Record::of(&sample);
    for path in common::files(root) {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        // Read once, when the sampler is made, or not at all.
        if name.ends_with("osrelease") || name.ends_with("cpu/online") {
            continue;
        }
        let good = std::fs::read(&path).unwrap();
        for bad in [&b""[..], b"\0\xff garbage \n", b"Node\n"] {
            std::fs::write(&path, bad).unwrap();
            sampler.sample(&mut sample);
            // The pools' files are read anew only when the total changes.
            let lists_none = name.ends_with("debug/lru_gen") && bad.is_empty();
            if name.ends_with("nr_hugepages") && name.starts_with("sys") || lists_none {
                assert_eq!(failed(&sample, root), [""; 0], "{name}");
            } else {
                assert_eq!(failed(&sample, root), [name.as_str()], "{bad:?}");
                assert!(matches!(sampler.news(), [News::Lost(_)] | []), "{name}");
            }
        }
        std::fs::write(&path, good).unwrap();
        sampler.sample(&mut sample);
        assert_eq!(failed(&sample, root), [""; 0], "{name} is whole again");
        let mut again = Record::of(&sample);
        again.t = whole.t;
        assert_eq!(again, whole, "{name}");
    }
}

#[test]
fn a_file_that_vanishes_is_reported_once_and_found_again() {
    let dir = common::copy("6.1");
    let root = dir.path();
    let mut sampler = sampler(root);
    let mut sample = Sample::default();
    sampler.sample(&mut sample);
    let text = common::text("6.1", "proc/vmstat");
    let path = root.join("proc/vmstat");
    std::fs::remove_file(&path).unwrap();
    sampler.sample(&mut sample);
    assert!(matches!(sampler.news(), [News::Lost(error)]
        if *error.path == *path && error.kind == ErrorKind::Missing));
    assert!(!sample.fresh.contains(Sources::VMSTAT) && sample.fresh.contains(Sources::ZONEINFO));
    assert!(
        sample.vmstat.fields.is_empty(),
        "an old number is not shown as a new one"
    );
    for _ in 0..20 {
        sampler.sample(&mut sample);
        assert_eq!(sampler.news(), [], "reported once");
        assert_eq!(failed(&sample, root), ["proc/vmstat"]);
    }
    std::fs::write(&path, text).unwrap();
    let found = (0..63).find(|_| {
        sampler.sample(&mut sample);
        sampler.news() == [News::Back(path.as_path().into())]
    });
    assert!(found.is_some());
    assert!(sample.vmstat.nr_free_pages().is_some());
    // The absence of a knob that the kernel never had is no error. A knob that vanishes is one.
    assert_eq!(sample.knobs.get(Knob::DefragMode), None);
    std::fs::remove_file(root.join("proc/sys/vm/watermark_scale_factor")).unwrap();
    sampler.sample(&mut sample);
    assert_eq!(
        failed(&sample, root),
        ["proc/sys/vm/watermark_scale_factor"]
    );
    assert_eq!(sample.knobs.get(Knob::WatermarkScaleFactor), None);
}

#[test]
fn a_root_that_vanishes_leaves_no_nodes_and_many_errors() {
    let dir = common::copy("5.15-sparse-nodes");
    let mut sampler = sampler(dir.path());
    let mut sample = Sample::default();
    sampler.sample(&mut sample);
    assert_eq!(sample.nodes.len(), 3);
    std::fs::remove_dir_all(dir.path().join("proc")).unwrap();
    std::fs::remove_dir_all(dir.path().join("sys")).unwrap();
    for _ in 0..5 {
        sampler.sample(&mut sample);
        assert!(sample.nodes.is_empty());
        assert!(sample.errors.len() > 10);
    }
}

/// Sets the user whose rights this thread has on files, where the process may. Returns the one before.
fn file_system_user(user: libc::uid_t) -> libc::uid_t {
    // SAFETY: changes the rights of this thread only, and touches no memory.
    unsafe { libc::setfsuid(user) as libc::uid_t }
}

#[test]
fn a_file_that_may_not_be_read_is_denied() {
    let dir = common::copy("6.12");
    let path = dir.path().join("proc/meminfo");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    let mut held = kernfs::held::Held::new(path.clone(), kernfs::held::Shape::Whole, true);
    let mut buffer = kernfs::held::Buffer::default();
    // Root may read everything, so that this thread reads as nobody.
    let own = file_system_user(65534);
    let read = held.read(&mut buffer).map(<[u8]>::len);
    file_system_user(own);
    assert_eq!(read, Err(ErrorKind::Denied));
    let error = held.error(ErrorKind::Denied).to_string();
    assert!(error.contains("proc/meminfo"), "{error}");
}

#[test]
fn nodes_that_come_and_go_are_followed() {
    let dir = common::copy("7.3-eight-nodes");
    let root = dir.path();
    let zoneinfo = root.join("proc/zoneinfo");
    let whole = std::fs::read_to_string(&zoneinfo).unwrap();
    let last = whole.find("Node 31,").unwrap();
    let mut sampler = sampler(root);
    let mut sample = Sample::default();
    for (text, nodes) in [(&whole[..last], 7), (&whole[..], 8), (&whole[..last], 7)] {
        std::fs::write(&zoneinfo, text).unwrap();
        sampler.sample(&mut sample);
        assert_eq!(sample.nodes.len(), nodes);
        assert_eq!(sample.errors, []);
        if nodes == 8 {
            let came = sample.node(31).unwrap();
            assert_eq!(came.huge, 2 * 262_144);
            let blocks = came.blocks.iter().enumerate();
            assert_eq!(blocks.map(|(order, n)| n << order).sum::<u64>(), came.free);
        }
    }
}
