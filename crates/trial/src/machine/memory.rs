//! The bound that ends a trial before memory is exhausted.
//!
//! MemAvailable subtracts the watermarks, which settings raise: under `watermark:3000` it would be small on an idle
//! machine. So the bound is of what can be had without a kill: free pages, the page cache, and free swap.
use kernfs::meminfo::Meminfo;

const MIB: u64 = 1 << 10;

/// KiB that can be had: free memory, file pages, free swap.
pub fn obtainable(now: &Meminfo) -> u64 {
    let file = now.active_file().unwrap_or(0) + now.inactive_file().unwrap_or(0);
    now.mem_free().unwrap_or(0) + file + now.swap_free().unwrap_or(0)
}

/// KiB below which the trial ends: 4% of memory, at least 64 MiB and at most 2 GiB. A program that takes 4 GiB a
/// second needs a tenth of a second for 400 MiB, which is two looks.
pub fn bound(now: &Meminfo) -> u64 {
    let share = now.mem_total().unwrap_or(0) / 25;
    share.clamp(64 * MIB, 2048 * MIB)
}

/// Sysctls that take memory away from programs by themselves, with the KiB of one unit.
const TAKERS: [(&str, u64); 3] = [
    ("vm.min_free_kbytes", 1),
    ("vm.admin_reserve_kbytes", 1),
    ("vm.user_reserve_kbytes", 1),
];

/// Why a sysctl's value may exhaust memory. None: it does not by itself.
pub fn exhausts(now: &Meminfo, knob: &str, value: &str) -> Option<String> {
    let number: u64 = value.trim().parse().ok()?;
    let page = now.hugepagesize().unwrap_or(2048);
    let huge = [("vm.nr_hugepages", page)];
    let found = TAKERS.iter().chain(&huge).find(|(name, _)| *name == knob);
    let taken = number.saturating_mul(found?.1);
    let most = now.mem_total()? / 10;
    (taken > most).then(|| {
        format!(
            "{knob} = {value} takes {} away from programs, more than 10% of memory",
            units::format_bytes(taken as f64 * 1024.0)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meminfo(text: &str) -> Meminfo {
        let mut found = Meminfo::default();
        let needed = "MemFree: 1000000 kB\nSUnreclaim: 5 kB\n";
        found.parse(format!("{text}{needed}").as_bytes()).unwrap();
        found
    }

    #[test]
    fn what_can_be_had_does_not_depend_on_watermarks() {
        let text = "MemTotal: 24000000 kB\nMemAvailable: 7 kB\nActive(file): 300 kB\n\
                    Inactive(file): 20 kB\nSwapFree: 1 kB\n";
        let now = meminfo(text);
        assert_eq!(obtainable(&now), 1_000_321);
        assert_eq!(bound(&now), 960_000);
        assert_eq!(bound(&meminfo("MemTotal: 300000 kB\n")), 64 * MIB);
        assert_eq!(bound(&meminfo("MemTotal: 900000000 kB\n")), 2048 * MIB);
    }

    #[test]
    fn a_sysctl_that_takes_a_tenth_of_memory_is_found() {
        let now = meminfo("MemTotal: 4000000 kB\nHugepagesize: 2048 kB\n");
        assert!(exhausts(&now, "vm.min_free_kbytes", "400001").is_some());
        assert!(exhausts(&now, "vm.min_free_kbytes", "400000").is_none());
        assert!(exhausts(&now, "vm.nr_hugepages", "200").is_some());
        assert!(exhausts(&now, "vm.swappiness", "999999999").is_none());
    }
}
