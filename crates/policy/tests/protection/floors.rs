//! The sizes of floors.
use policy::floors::{Floors, Pages, Size};

const PAGE: u64 = 4096;

#[test]
fn a_node_gets_its_share_of_floors_in_percent_and_bytes() {
    let floors = Floors {
        anon_min: Size::Percent(10.0),
        clean_min: Size::Bytes(1000 * PAGE),
        clean_low: Some(Size::Percent(8.0)),
    };
    // The node has a quarter of the machine.
    let found = floors.pages(5_000, 20_000, 0, PAGE);
    let wanted = Pages {
        anon_min: 500,
        clean_min: 250,
        clean_low: 400,
    };
    assert_eq!(found, wanted);
    // Floors above all memory leave a tenth to reclaim.
    let all = Floors {
        anon_min: Size::Bytes(u64::MAX),
        clean_min: Size::Bytes(u64::MAX),
        ..floors
    };
    let found = all.pages(5_000, 20_000, 0, PAGE);
    assert!(found.anon_min + found.clean_min <= 4_500, "{found:?}");
    // A soft floor that is learned is shared out like any other.
    let learned = Floors::default().pages(5_000, 20_000, 2_000, PAGE);
    assert_eq!((learned.clean_low, learned.clean_min), (500, 0));
}
