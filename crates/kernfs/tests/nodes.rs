//! Nodes, put together from the zones of fixtures.
mod common;

use kernfs::{Options, Root, Sample, Sampler};

fn sampled(name: &str) -> Sample {
    let mut sampler = Sampler::new(Root::new(common::fixture(name)), Options::default());
    let mut sample = Sample::default();
    sampler.sample(&mut sample);
    sample
}

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
    assert_ne!(first.watermarks.low, second.watermarks.low);
    // A node's watermark is the sum over its zones.
    let zones = sample.zoneinfo.zones.iter();
    let low: u64 = zones
        .filter(|zone| zone.node == 0 && zone.present > 0)
        .map(|zone| zone.watermarks.low)
        .sum();
    assert_eq!(first.watermarks.low, low);
    // 7.3 counts reclaim by node.
    let new = sampled("7.3-eight-nodes");
    let stolen: Vec<u64> = new.nodes.iter().filter_map(|node| node.stolen).collect();
    assert_eq!(stolen.len(), 8);
    assert!(stolen.windows(2).any(|pair| pair[0] != pair[1]));
}
