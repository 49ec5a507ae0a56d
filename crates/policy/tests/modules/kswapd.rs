//! Actions for kswapd.
use super::machine::{TestMachine, TestNode};
use policy::{Action, Config, Machine};

/// After 16 runs in vain kswapd sleeps until its node is balanced, and allocations reclaim for themselves.
/// Their reclaim stops at min.
#[test]
fn a_kswapd_that_has_given_up_is_brought_back() {
    let with_file = Machine {
        node_reclaim: true,
        ..Machine::default()
    };
    // Pages that are asked for on a node down at min, in multiples of the distance to high.
    let asked = |by_kswapd: u64, file: u64| {
        let mut machine = TestMachine::new(Config::default(), with_file);
        machine.nodes[0].file = file;
        machine.nodes[0].free = machine.nodes[0].watermarks.min;
        machine.decide();
        machine.vmstat.pgsteal_direct += 4_000;
        machine.vmstat.pgsteal_kswapd += by_kswapd;
        let missing = (machine.nodes[0].watermarks.high - machine.nodes[0].free) as f64;
        let actions = machine.after(0.25);
        actions.iter().find_map(|(action, _)| match action {
            Action::ReclaimNode { node: 0, bytes } => {
                Some((bytes / with_file.page_size) as f64 / missing)
            }
            _ => None,
        })
    };
    // Twice the distance, because the node is used meanwhile.
    assert_eq!(asked(0, 400_000), Some(2.0));
    // A kswapd that works frees the pages above low itself.
    assert!(asked(2_000, 400_000).is_some_and(|distances| distances < 1.0));
    // No more is asked for than half of the reclaimable pages, which is too little here.
    assert_eq!(asked(0, 400), None);
}

#[test]
fn the_nice_value_is_asked_for_once_a_node() {
    let renices = |machine: &mut TestMachine| -> Vec<Action> {
        let actions = machine.after(1.0).into_iter().map(|(action, _)| action);
        actions
            .filter(|action| matches!(action, Action::SetKswapdNice { .. }))
            .collect()
    };
    let mut machine = TestMachine::new(Config::default(), Machine::default());
    let (node, nice) = (0, -5);
    assert_eq!(
        renices(&mut machine),
        [Action::SetKswapdNice { node, nice }]
    );
    assert_eq!(renices(&mut machine), []);
    assert_eq!(renices(&mut super::machine::machine()), []);
    // A node that is plugged in, out, and in again has a new kswapd each time.
    for _ in 0..2 {
        machine.nodes.push(TestNode::new(1));
        assert_eq!(
            renices(&mut machine),
            [Action::SetKswapdNice { node: 1, nice }]
        );
        assert_eq!(renices(&mut machine), []);
        machine.nodes.pop();
        assert_eq!(renices(&mut machine), []);
    }
}
