//! Kernels' logs: real ones of the lab's guests, and ones in the words of other kernels.
use explain::growth::Who;
use explain::klog::gather::{Found, Gatherer};
use explain::klog::incident::{self, Incident};
use explain::klog::judge::judge;
use explain::klog::report::{Constraint, Missing};
use explain::klog::stamp::Civil;
use explain::klog::words::{advice, facts, headline, places, unknown};
use explain::verdict::Kind;
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

/// Every civil time is the same second of its day.
fn clock(civil: &Civil) -> Option<f64> {
    let minutes = f64::from(civil.day) * 1440.0 + f64::from(civil.hour) * 60.0;
    Some((minutes + f64::from(civil.minute)) * 60.0 + civil.second)
}

fn gathered(text: &str) -> Found {
    let mut gatherer = Gatherer::new(&clock);
    text.lines().for_each(|line| gatherer.push(line));
    gatherer.finish()
}

fn only(text: &str) -> Incident {
    let mut incidents = incident::of(&gathered(text));
    assert_eq!(incidents.len(), 1, "{incidents:#?}");
    incidents.remove(0)
}

#[test]
fn a_leak_in_a_guest_of_user_mode_linux() {
    let incident = only(include_str!("klog/uml-7.3.log"));
    let report = incident.fullest().unwrap();
    assert_eq!(report.missing, []);
    assert_eq!(report.strange, 0);
    assert_eq!(
        (report.asked.as_str(), report.kernel.as_str()),
        ("leaky", "7.3.4")
    );
    let finding = judge(report);
    assert_eq!((finding.kind, finding.swap_full), (Kind::Program, true));
    let culprit = finding.culprit.unwrap();
    // Pages of 4 KiB: anonymous ones and those in swap.
    assert_eq!(culprit.bytes, (75_930 + 32_767) * 4096);
    let memory = report.memory.unwrap();
    assert_eq!(memory.total, (131_072 - 4455) * 4096);
    assert!(memory.elsewhere < memory.total / 10, "{memory:?}");
    let headline = headline(&incident);
    let expected = "leaky (44) had 424.6 MiB of 622.6 MiB of memory and swap: it was killed";
    assert_eq!(headline, expected);
    let places = places(report);
    assert_eq!(places[0].0, "programs");
}

#[test]
fn three_hogs_in_qemu_are_told_apart_or_together() {
    let incident = only(include_str!("klog/qemu-7.3.log"));
    let report = incident.fullest().unwrap();
    assert_eq!(report.kernel, "7.3.4+deb13-cloud-amd64");
    let finding = judge(report);
    let Who::Crowd { name, count, .. } = &finding.culprit.as_ref().unwrap().who else {
        panic!("{finding:?}");
    };
    assert_eq!((name.as_str(), *count), ("hog", 4));
    assert!(headline(&incident).ends_with("hog (125) was killed"));
    assert!(report.victims[0].cgroup.ends_with("/all"));
    assert!(facts(report).contains(&"Swap was full.".to_string()));
}

#[test]
fn older_guests_and_two_kills() {
    let incident = only(include_str!("klog/uml-6.12.log"));
    assert_eq!((incident.kills, incident.reports.len()), (2, 2));
    let first = incident.fullest().unwrap();
    assert_eq!(first.at, incident.begin);
    assert!(
        headline(&incident).contains("and another process were killed"),
        "{}",
        headline(&incident)
    );
    let incident = only(include_str!("klog/uml-6.18.log"));
    assert_eq!(incident.fullest().unwrap().missing, []);
}

#[test]
fn a_cgroup_at_its_limit_in_a_syslog_of_4_18() {
    let incident = only(include_str!("klog/cgroup-4.18.log"));
    let report = incident.fullest().unwrap();
    assert_eq!(report.constraint, Constraint::Cgroup);
    assert_eq!(report.missing, []);
    let limit = report.limit.as_ref().unwrap();
    assert_eq!(limit.limit, 512 * MIB);
    assert_eq!(
        headline(&incident),
        "/system.slice/app.service used all of its limit of 512.0 MiB, and java (63635) had 500.1 MiB of it: it was \
         killed"
    );
    let command = &advice(&incident)[0].command;
    assert_eq!(command, "systemctl set-property app.service MemoryMax=SIZE");
    let unknown = unknown(&incident, 0).join(" ");
    assert!(unknown.contains("the machine itself"), "{unknown}");
}

#[test]
fn swap_is_no_part_of_a_limit() {
    let incident = only(include_str!("klog/cgroup-7.3.log"));
    let report = incident.fullest().unwrap();
    assert_eq!(
        (report.constraint, report.missing.len()),
        (Constraint::Cgroup, 0)
    );
    let finding = judge(report);
    let culprit = finding.culprit.unwrap();
    assert!(culprit.bytes > finding.whole && culprit.bytes - culprit.swapped <= finding.whole);
    let bytes = units::format_bytes((culprit.bytes - culprit.swapped) as f64);
    assert!(headline(&incident).contains(&format!("had {bytes} of it")));
}

#[test]
fn a_journal_has_a_crowd_a_bare_kill_a_hung_task_and_oomd() {
    let found = gathered(include_str!("klog/journal-6.1.log"));
    let incidents = incident::of(&found);
    assert_eq!(incidents.len(), 2);
    let first = &incidents[0];
    assert_eq!((first.kills, first.hung.len()), (2, 1));
    let report = first.fullest().unwrap();
    // The lines of one message are indented, and have no time.
    assert_eq!(report.memory.unwrap().slab, 14_000 * 4096);
    let headline_1 = headline(first);
    assert!(
        headline_1.starts_with("5 processes called cc1plus had 7.2 GiB of 7.8 GiB"),
        "{headline_1}"
    );
    assert_eq!(first.reports[1].missing, [Missing::Report]);
    let told = unknown(first, found.lost).join(" ");
    assert!(told.contains("ten reports in five seconds"), "{told}");
    assert_eq!(incident::choose(&incidents, None), Some(&incidents[1]));
    assert_eq!(
        incident::choose(&incidents, Some(1_795_794_000.0)),
        Some(first)
    );
    let second = headline(&incidents[1]);
    assert!(
        second.starts_with("systemd-oomd ended /user.slice/"),
        "{second}"
    );
    assert_eq!(advice(&incidents[1])[0].command, "oomctl");
}

#[test]
fn every_kind_of_shortage_in_the_counters() {
    let whole = include_str!("klog/journal-6.1.log");
    let kind = |changes: &[(&str, &str)]| {
        let mut text = whole.to_string();
        for (from, to) in changes {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
        }
        let incidents = incident::of(&gathered(&text));
        let finding = judge(incidents[0].fullest().unwrap());
        (finding.kind, finding.culprit.map(|one| one.who))
    };
    let small = ("inactive_anon:1890000 ", "inactive_anon:90000 ");
    let calm: Vec<(String, String)> = [400, 390, 380, 370, 340]
        .map(|rss| (format!(" {rss}000  3300000 "), " 3000  3300000 ".into()))
        .into();
    let calm: Vec<(&str, &str)> = calm.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let with = |more: &[(&'static str, &'static str)]| {
        let mut all = calm.clone();
        all.extend(more);
        kind(&all)
    };
    let slab = with(&[
        small,
        ("slab_unreclaimable:14000", "slab_unreclaimable:1500000"),
    ]);
    assert_eq!(slab, (Kind::Kernel, Some(Who::Slab)));
    let shared = with(&[("shmem:500 ", "shmem:1500000 ")]);
    assert_eq!(shared, (Kind::SharedFiles, Some(Who::SharedFiles)));
    let tables = with(&[small, (" pagetables:9000", " pagetables:1500000")]);
    assert_eq!(tables, (Kind::Kernel, Some(Who::PageTables)));
    let nowhere = with(&[small]);
    assert_eq!(nowhere, (Kind::Kernel, Some(Who::Elsewhere)));
    let total = "host kernel: 900 total pagecache pages";
    let pool = "host kernel: Node 0 hugepages_total=3000 hugepages_free=2900 hugepages_surp=0 hugepages_size=2048kB";
    assert_eq!(with(&[small, (total, pool)]).0, Kind::HugePages);
    assert_eq!(kind(&[("order=0", "order=3")]).0, Kind::Fragmentation);
}

#[test]
fn a_log_that_is_cut_off_says_what_it_lacks() {
    let whole = include_str!("klog/uml-7.3.log");
    let lines: Vec<&str> = whole.lines().collect();
    let at = |words: &str| lines.iter().position(|line| line.contains(words)).unwrap();
    let begun = only(&lines[at("Free swap")..].join("\n"));
    let report = begun.fullest().unwrap();
    assert_eq!(report.missing, [Missing::Begin, Missing::Memory]);
    assert!(
        headline(&begun).starts_with("leaky (44) had 424.6 MiB"),
        "{}",
        headline(&begun)
    );
    let ended = only(&lines[..at("oom-kill:")].join("\n"));
    assert_eq!(ended.fullest().unwrap().missing, [Missing::End]);
    assert!(headline(&ended).ends_with("the log does not say who was killed"));
    let bare = only(lines[at("Killed process")]);
    assert_eq!(bare.fullest().unwrap().missing, [Missing::Report]);
    assert_eq!(
        headline(&bare),
        "memory ran out, and the log does not say who had it: leaky (44) was killed"
    );
    for incident in [&begun, &ended, &bare] {
        assert!(unknown(incident, 0).len() > 3);
    }
}

#[test]
fn lines_of_others_in_between_change_nothing_and_broken_ones_are_counted() {
    let whole = include_str!("klog/uml-7.3.log");
    let mixed: String = whole
        .lines()
        .flat_map(|line| {
            [
                line,
                "[   52.380000] usb 1-1: new high-speed device",
                "",
                "\u{fffd}",
            ]
        })
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(headline(&only(&mixed)), headline(&only(whole)));
    let broken = whole.replace("     0    43    33525", "     0 usb 1-1: gone");
    let incident = only(&broken);
    assert_eq!(incident.fullest().unwrap().strange, 1);
    assert!(unknown(&incident, 0)
        .iter()
        .any(|one| one.contains("1 line of the report")));
    let lost = gathered(&format!(
        "{whole}[   53.0] ** 17 printk messages dropped **\n"
    ));
    assert_eq!(lost.lost, 17);
}

#[test]
fn counters_of_a_failed_allocation_are_no_kill() {
    let whole = include_str!("klog/uml-7.3.log");
    let line = whole
        .lines()
        .find(|line| line.contains("invoked oom-killer"))
        .unwrap();
    let failed = whole
        .replace(
            line,
            "[   52.380000] leaky: page allocation failure: order:4, mode:0x40dc0",
        )
        .lines()
        .filter(|line| {
            !line.contains("] [ ") && !line.contains("oom-kill:") && !line.contains("Killed")
        })
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    assert_eq!(incident::of(&gathered(&failed)), []);
    assert_eq!(incident::of(&gathered("")), []);
}

#[test]
fn one_message_of_several_lines_is_read_in_all_spellings() {
    let whole = include_str!("klog/uml-7.3.log");
    let expected = only(whole).fullest().unwrap().memory;
    for joint in ["#012", "\\x0a"] {
        let joined = whole.replace("\n[   52.380000]  ", joint);
        assert_ne!(joined, whole);
        assert_eq!(only(&joined).fullest().unwrap().memory, expected, "{joint}");
    }
}

#[test]
fn pages_of_64_kib_are_noticed() {
    let mut text = include_str!("klog/uml-7.3.log").to_string();
    text = text.replace("total-vm:445396kB", "total-vm:7126336kB");
    let report = only(&text).fullest().unwrap().clone();
    assert_eq!(report.memory.unwrap().total, (131_072 - 4455) * 65_536);
}

proptest! {
    /// Whatever is cut out, doubled or overwritten: every part still speaks, and nothing panics.
    #[test]
    fn no_damage_panics(
        which in 0..5_usize,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), "\\PC{0,12}"), 0..8),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
    ) {
        let texts = [
            include_str!("klog/uml-7.3.log"),
            include_str!("klog/qemu-7.3.log"),
            include_str!("klog/uml-6.12.log"),
            include_str!("klog/cgroup-4.18.log"),
            include_str!("klog/journal-6.1.log"),
        ];
        let mut lines: Vec<String> = texts[which].lines().map(str::to_string).collect();
        for (line, place, with) in cuts {
            let line = line.get(&lines).clone();
            let at = lines.iter().position(|one| *one == line).unwrap_or(0);
            let place = place.index(line.len() + 1);
            if line.is_char_boundary(place) {
                lines[at] = format!("{}{with}", &line[..place]);
            }
        }
        let (from, to) = (from.index(lines.len()), to.index(lines.len() + 1));
        let found = gathered(&lines[from.min(to)..to].join("\n"));
        for incident in incident::of(&found) {
            prop_assert!(!headline(&incident).is_empty());
            prop_assert!(!advice(&incident).is_empty() && !unknown(&incident, found.lost).is_empty());
            for report in &incident.reports {
                let _ = (facts(report), places(report), judge(report));
            }
        }
    }

    #[test]
    fn no_line_panics(lines in prop::collection::vec("[\\[\\]0-9A-Za-z:=,. ()<>*/;-]{0,60}", 0..20)) {
        let found = gathered(&lines.join("\n"));
        for incident in incident::of(&found) {
            prop_assert!(!headline(&incident).is_empty());
        }
    }

    /// Huge numbers anywhere.
    #[test]
    fn no_number_panics(number in any::<u64>(), at in 0..400_usize) {
        let text = include_str!("klog/uml-7.3.log");
        let mut place = 0;
        let words: Vec<String> = text
            .split_inclusive([' ', ':', '=', '\n'])
            .map(|word| {
                let digits = word.bytes().take_while(u8::is_ascii_digit).count();
                place += usize::from(digits > 0);
                match digits > 0 && place == at {
                    true => format!("{number}{}", &word[digits..]),
                    false => word.to_string(),
                }
            })
            .collect();
        let found = gathered(&words.concat());
        for incident in incident::of(&found) {
            for report in &incident.reports {
                let _ = (facts(report), places(report), judge(report), headline(&incident));
            }
        }
    }
}
