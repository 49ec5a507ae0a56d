//! Defects of memoptimizer's reading of the kernel's files (shared/reference/memoptimizer.md), one
//! test each, which would fail on it. The others' tests are in policy and hotsetd.
mod common;

use kernfs::buddyinfo::Buddyinfo;
use kernfs::psi::Pressure;
use kernfs::vmstat::Vmstat;
use kernfs::{Options, Root, Sample, Sampler, Sources};

fn sampled(name: &str) -> Sample {
    let mut sampler = Sampler::new(Root::new(common::fixture(name)), Options::default());
    let mut sample = Sample::default();
    sampler.sample(&mut sample);
    sample
}

/// "Zones without a pagesets line swallow the next node."
#[test]
fn a_zone_without_pagesets_ends_where_the_next_begins() {
    let text = common::text("5.15-sparse-nodes", "proc/zoneinfo");
    let node_3 = text.find("Node 3, zone      DMA").unwrap();
    let before = &text[..node_3];
    let unpopulated = before.rfind("Node 1,").unwrap();
    assert!(
        !before[unpopulated..].contains("pagesets"),
        "node 1 has no zone with pages"
    );

    let sample = sampled("5.15-sparse-nodes");
    let zones = sample.zoneinfo.zones.iter();
    let found: Vec<_> = zones.map(|zone| (zone.node, zone.name.as_str())).collect();
    let names = ["DMA", "DMA32", "Normal", "Movable", "Device"];
    let nodes = [0, 1, 3, 8].iter();
    let all: Vec<_> = nodes
        .flat_map(|node| names.map(|name| (*node, name)))
        .collect();
    assert_eq!(found, all);
    let normal = &sample.zoneinfo.zones[12];
    assert_eq!(
        (normal.node, normal.free, normal.present),
        (3, 900_000, 16 * 262_144)
    );
    assert_eq!(sample.node(3).unwrap().free, 900_000);
    assert!(sample.node(1).is_none());
}

/// "Total free compared with the average watermark of all nodes, global rates with per-node trends."
#[test]
fn every_node_has_its_own_free_pages_and_watermarks() {
    let sample = sampled("4.18-two-nodes");
    let [first, second] = &sample.nodes[..] else {
        panic!("{:?}", sample.nodes);
    };
    assert_eq!(
        (first.free, second.free),
        (3000 + 90_000 + 250_000, 4_000_000)
    );
    assert_ne!(first.low, second.low);
    // The sum over the node's zones, not the last zone's and not an average.
    let zones = sample.zoneinfo.zones.iter();
    let low: u64 = zones
        .filter(|zone| zone.node == 0 && zone.present > 0)
        .map(|zone| zone.low)
        .sum();
    assert_eq!(first.low, low);
    // Where the kernel counts reclaim by node, so do we.
    let new = sampled("7.3-eight-nodes");
    let stolen: Vec<u64> = new.nodes.iter().filter_map(|node| node.stolen).collect();
    assert_eq!(stolen.len(), 8);
    assert!(stolen.windows(2).any(|pair| pair[0] != pair[1]));
}

/// "Order count fixed at 11."
#[test]
fn any_number_of_orders() {
    let mut buddyinfo = Buddyinfo::default();
    for orders in [1, 9, 10, 11, 14, 16, 40] {
        let blocks: Vec<String> = (0..orders)
            .map(|order| format!("{:6}", order + 1))
            .collect();
        let text = format!("Node 0, zone   Normal {} \n", blocks.join(" "));
        buddyinfo.parse(text.as_bytes()).unwrap();
        assert_eq!(buddyinfo.orders(), orders);
        let counts: Vec<u64> = (1..=orders as u64).collect();
        assert_eq!(buddyinfo.zones[0].blocks, counts);
    }
}

/// "Microseconds added as milliseconds."
#[test]
fn psi_totals_are_microseconds() {
    let mut pressure = Pressure::default();
    let text = b"some avg10=0.10 avg60=0.00 avg300=0.00 total=1500000\n";
    pressure.parse(text).unwrap();
    assert_eq!(pressure.some.unwrap().total_us, 1_500_000, "1.5 s");
}

/// "A long key overflows the stack": here, a long name in a file of the kernel's.
#[test]
fn a_name_of_any_length_is_an_error_at_most() {
    let mut vmstat = Vmstat::default();
    for length in [100, 1000, 100_000, 1_000_000] {
        let text = format!("nr_free_pages 5\n{} 1\n", "k".repeat(length));
        let taken = vmstat.parse(text.as_bytes());
        assert_eq!(taken.is_ok(), length == 100);
    }
}

/// Its leak check reads every page frame's flags: 12,800 reads a sample.
#[test]
fn no_page_frame_is_looked_at() {
    let mut sampler = Sampler::new(
        Root::default(),
        Options {
            sources: Sources::ALL | Sources::GENERATIONS,
            ..Options::default()
        },
    );
    let mut sample = Sample::default();
    sampler.sample(&mut sample);
    let held = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let names: Vec<_> = held
        .filter_map(|fd| std::fs::read_link(fd.path()).ok())
        .collect();
    assert!(
        names.iter().any(|name| name.ends_with("vmstat")),
        "held open"
    );
    assert!(!names
        .iter()
        .any(|name| name.to_string_lossy().contains("kpage")));
}
