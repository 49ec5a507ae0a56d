//! A node that is nearly short, and a look at it.
use policy::sight::{NodeSight, Sight};

pub fn node() -> NodeSight {
    NodeSight {
        id: 0,
        managed: 1_000_000,
        free: 6_000,
        min: 4_000,
        low: 5_000,
        high: 6_000,
        file: 400_000,
        unclean: 0,
        anon: 500_000,
    }
}

/// Swap full.
pub fn sight(nodes: &[NodeSight]) -> Sight<'_> {
    Sight {
        nodes,
        swap_total: 100_000,
        ..Sight::default()
    }
}
