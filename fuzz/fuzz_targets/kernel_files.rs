//! Any bytes as any file of the kernel: no parser panics, and what a parser has read before changes nothing.
#![no_main]
use kernfs::buddyinfo::Buddyinfo;
use kernfs::cgroup::{parse_bytes, parse_limit};
use kernfs::dentry::{DentryState, InodeNr};
use kernfs::lru_gen::{parse_enabled, Generations};
use kernfs::meminfo::Meminfo;
use kernfs::node::{parse_list, NodeMeminfo, Numastat};
use kernfs::psi::Pressure;
use kernfs::vmstat::Vmstat;
use kernfs::zoneinfo::Zoneinfo;
use libfuzzer_sys::fuzz_target;
use std::cell::RefCell;

thread_local! {
    /// The tables, which remember where the lines of the last text stood.
    static WARM: RefCell<(Vmstat, Meminfo, Buddyinfo, Zoneinfo)> = RefCell::default();
}

fuzz_target!(|text: &[u8]| {
    let _ = NodeMeminfo::default().parse(0, text);
    let _ = Numastat::default().parse(text);
    let _ = Pressure::default().parse(text);
    let _ = DentryState::default().parse(text);
    let _ = InodeNr::default().parse(text);
    let _ = Generations::default().parse(text);
    let _ = parse_list(text, &mut Vec::new());
    let _ = (kernfs::knobs::parse(text), parse_enabled(text));
    let _ = (parse_bytes(text), parse_limit(text));
    for sample in kernfs::samples::Reader::new(text).take(50) {
        let Ok(record) = sample else { break };
        let _ = record.restore(&mut kernfs::Sample::default());
    }
    let shown = |fields: &kernfs::Fields| -> Vec<(Vec<u8>, u64)> {
        let all = fields.iter().chain(fields.unknown());
        all.map(|(name, value)| (name.to_string().into_bytes(), value))
            .collect()
    };
    WARM.with_borrow_mut(|(vmstat, meminfo, buddyinfo, zoneinfo)| {
        let mut fresh = Vmstat::default();
        let read = vmstat.parse(text);
        assert_eq!(read, fresh.parse(text));
        if read.is_ok() {
            assert_eq!(shown(&vmstat.fields), shown(&fresh.fields));
            assert_eq!(vmstat.pgsteal(), fresh.pgsteal());
        }
        let mut fresh = Meminfo::default();
        let read = meminfo.parse(text);
        assert_eq!(read, fresh.parse(text));
        if read.is_ok() {
            assert_eq!(shown(&meminfo.fields), shown(&fresh.fields));
        }
        let mut fresh = Buddyinfo::default();
        let read = buddyinfo.parse(text);
        assert_eq!(read, fresh.parse(text));
        if read.is_ok() {
            assert_eq!(buddyinfo.zones.to_vec(), fresh.zones.to_vec());
        }
        let mut fresh = Zoneinfo::default();
        let read = zoneinfo.parse(text);
        assert_eq!(read, fresh.parse(text));
        if read.is_ok() {
            let zones = |found: &Zoneinfo| -> Vec<_> {
                let zones = found.zones.iter();
                zones
                    .map(|zone| {
                        (
                            zone.node,
                            zone.free,
                            zone.watermarks.high,
                            shown(&zone.all.fields),
                        )
                    })
                    .collect()
            };
            assert_eq!(zones(zoneinfo), zones(&fresh));
        }
    });
});
