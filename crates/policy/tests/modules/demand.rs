//! The forecast of demand and of the time until free pages are down at low.
use super::machine::{fall, machine, TestNode};

#[test]
fn samples_a_quarter_of_a_second_apart_give_the_demand_a_second() {
    let mut machine = machine();
    machine.nodes[0].free = 205_000;
    machine.decide();
    fall(&mut machine, 0, 0.25, 250, 12);
    let node = machine.decision.summary.nodes[0];
    // Demand is 1000 pages a second, free pages are 197,000 above low.
    assert!((node.demand - 1000.0).abs() < 1.0, "{node:?}");
    assert!(
        (node.time_to_low_s.unwrap() - 197.0).abs() < 0.5,
        "{node:?}"
    );
}

#[test]
fn exhaustion_is_predicted_only_where_it_is_near() {
    let (mut near, mut far) = (machine(), machine());
    near.nodes[0].free = 30_000;
    far.nodes[0].free = 900_000;
    near.decide();
    far.decide();
    fall(&mut near, 0, 1.0, 1000, 10);
    fall(&mut far, 0, 1.0, 1000, 10);
    assert!(near.decision.summary.nodes[0].predicted);
    assert!(!far.decision.summary.nodes[0].predicted);
}

#[test]
fn a_short_node_is_predicted_beside_a_node_with_many_free_pages() {
    let mut machine = machine();
    machine.nodes.push(TestNode {
        free: 900_000,
        ..TestNode::new(3)
    });
    machine.nodes[0].free = 30_000;
    machine.decide();
    fall(&mut machine, 0, 1.0, 1000, 10);
    let nodes = &machine.decision.summary.nodes;
    assert!(nodes[0].predicted && !nodes[1].predicted, "{nodes:?}");
}

#[test]
fn pages_stolen_on_one_node_are_no_demand_of_another() {
    let mut machine = machine();
    machine.nodes.push(TestNode::new(1));
    for node in &mut machine.nodes {
        node.stolen = Some(0);
    }
    machine.decide();
    for _ in 0..10 {
        machine.nodes[0].stolen = machine.nodes[0].stolen.map(|stolen| stolen + 5000);
        machine.vmstat.pgsteal_kswapd += 5000;
        machine.after(1.0);
    }
    let nodes = &machine.decision.summary.nodes;
    assert!(
        (nodes[0].demand - 5000.0).abs() < 1.0 && nodes[1].demand.abs() < 1.0,
        "{nodes:?}"
    );
}
