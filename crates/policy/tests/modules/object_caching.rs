//! vm.vfs_cache_pressure.
use super::machine::TestMachine;
use policy::{Config, Dentries, Inodes, Machine};

#[test]
fn cache_pressure_goes_down_and_back_to_the_administrators_value() {
    let config = Config {
        prefer_object_caching: true,
        ..Config::default()
    };
    for start in [5u32, 9, 100] {
        let mut machine = TestMachine::new(config.clone(), Machine::default());
        machine.knobs.vfs_cache_pressure = Some(start);
        let mut count = 1_000_000;
        let mut lowest = start;
        let mut step = |machine: &mut TestMachine, count: u64| {
            machine.seen.dentries = Some(Dentries {
                count,
                ..Dentries::default()
            });
            machine.seen.inodes = Some(Inodes::default());
            machine.vmstat.pgsteal_kswapd += 100;
            machine.after(30.0);
            lowest = lowest.min(machine.knobs.vfs_cache_pressure.unwrap());
        };
        for _ in 0..20 {
            step(&mut machine, count);
            count = count * 9 / 10;
        }
        for _ in 0..400 {
            step(&mut machine, count);
        }
        assert_eq!(machine.knobs.vfs_cache_pressure, Some(start));
        assert!(lowest >= start.min(20), "{lowest}");
        assert!(
            start < 20 || lowest < start,
            "the pressure was never lowered"
        );
    }
}
