//! Parsers on texts of a few lines.
use kernfs::buddyinfo::Buddyinfo;
use kernfs::psi::Pressure;
use kernfs::vmstat::Vmstat;

#[test]
fn buddyinfo_of_any_number_of_orders_is_read() {
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

#[test]
fn psi_totals_are_microseconds() {
    let mut pressure = Pressure::default();
    let text = b"some avg10=0.10 avg60=0.00 avg300=0.00 total=1500000\n";
    pressure.parse(text).unwrap();
    assert_eq!(pressure.some.unwrap().total_us, 1_500_000, "1.5 s");
}

#[test]
fn a_name_longer_than_the_kernel_has_any_is_an_error() {
    let mut vmstat = Vmstat::default();
    for length in [100, 1000, 100_000, 1_000_000] {
        let text = format!("nr_free_pages 5\n{} 1\n", "k".repeat(length));
        let taken = vmstat.parse(text.as_bytes());
        assert_eq!(taken.is_ok(), length == 100);
    }
}
