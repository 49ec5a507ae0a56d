//! A node that is nearly short of memory, and a snapshot of it.
use policy::floors::{Floors, Pages, Size};
use policy::protect::Config;
use policy::snapshot::{NodeSnapshot, Snapshot};
use policy::Watermarks;

/// 4 GB, free pages at high, plenty of clean and anonymous pages.
pub fn node() -> NodeSnapshot {
    NodeSnapshot {
        id: 0,
        managed: 1_000_000,
        free: 6_000,
        watermarks: Watermarks {
            min: 4_000,
            low: 5_000,
            high: 6_000,
        },
        file: 400_000,
        unclean: 0,
        anon: 500_000,
    }
}

/// A snapshot of a machine whose swap is full.
pub fn snapshot(nodes: &[NodeSnapshot]) -> Snapshot<'_> {
    Snapshot {
        nodes,
        swap_total: 100_000,
        ..Snapshot::default()
    }
}

/// Hard floors of 15%, and no soft one.
pub fn hard() -> Floors {
    Floors {
        anon_min: Size::Percent(15.0),
        clean_min: Size::Percent(15.0),
        clean_low: Some(Size::Percent(0.0)),
    }
}

/// Protection with these floors.
pub fn config() -> Config {
    Config {
        floors: hard(),
        ..Config::default()
    }
}

/// These floors of that node, pages.
pub fn pages() -> Pages {
    hard().pages(1_000_000, 1_000_000, 0, 4096)
}
