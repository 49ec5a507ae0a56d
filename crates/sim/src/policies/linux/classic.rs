//! Rules of the two lists (Linux 6.12), without any state: each mirrors a kernel function.
use super::page;
use super::reclaim::{MAX_SWAPPINESS, SWAP_CLUSTER_MAX};

/// Pages of a gibibyte.
const GIB_PAGES: u64 = 1 << 18;

/// inactive_is_low(): the inactive list is to be filled up.
pub fn inactive_is_low(inactive: u64, active: u64) -> bool {
    let gb = (inactive + active) / GIB_PAGES;
    let ratio = if gb > 0 { (10 * gb).isqrt() } else { 1 };
    inactive * ratio < active
}

/// The fate of a page at the inactive tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum References {
    Reclaim,
    Keep,
    Activate,
}

/// folio_check_references(), for the classic lists and for 6.12's generations. Clears the accessed bit
/// and PG_referenced, and sets the latter where the page is spared.
pub fn check_references(bits: &mut u8) -> References {
    let referenced = *bits & page::REFERENCED != 0;
    let young = *bits & page::YOUNG != 0;
    *bits &= !(page::REFERENCED | page::YOUNG);
    if !young {
        return References::Reclaim;
    }
    *bits |= page::REFERENCED;
    let exec = page::EXEC | page::FILE;
    if referenced || *bits & exec == exec {
        References::Activate
    } else {
        References::Keep
    }
}

/// Sizes of the lists, in pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    pub inactive_anon: u64,
    pub active_anon: u64,
    pub inactive_file: u64,
    pub active_file: u64,
}

/// workingset_test_recent(): would the page still be there, had the active pages made room for it?
pub fn refault_is_recent(distance: u64, file: bool, swap: bool, sizes: &Sizes) -> bool {
    let mut workingset = sizes.active_file;
    if !file {
        workingset += sizes.inactive_file;
    }
    if swap {
        workingset += sizes.active_anon;
        if file {
            workingset += sizes.inactive_anon;
        }
    }
    distance <= workingset
}

/// lru_note_cost(): adds `io` page-outs or refaults and `rotated` rotations to the cost of `[anon, file]`.
pub fn note_cost(cost: &mut [u64; 2], file: bool, io: u64, rotated: u64, lru_size: u64) {
    cost[usize::from(file)] += io * u64::from(SWAP_CLUSTER_MAX) + rotated;
    if cost[0] + cost[1] > lru_size / 4 {
        cost[0] /= 2;
        cost[1] /= 2;
    }
}

/// The result of get_scan_count().
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balance {
    /// SCAN_EQUAL
    Equal,
    /// SCAN_ANON
    Anon,
    /// SCAN_FILE
    File,
    /// SCAN_FRACT: shares of anon and of file.
    Fractions(u64, u64),
}

/// The input of get_scan_count().
#[derive(Clone, Copy, Debug)]
pub struct Pressure {
    pub swap: bool,
    pub cgroup: bool,
    pub swappiness: u64,
    pub priority: u32,
    pub file_is_tiny: bool,
    pub cache_trim_mode: bool,
    pub cost: [u64; 2],
}

/// get_scan_count(), first half.
pub fn scan_balance(seen: &Pressure) -> Balance {
    if !seen.swap || (seen.cgroup && seen.swappiness == 0) {
        return Balance::File;
    }
    if seen.priority == 0 && seen.swappiness > 0 {
        return Balance::Equal;
    }
    if seen.file_is_tiny {
        return Balance::Anon;
    }
    if seen.cache_trim_mode {
        return Balance::File;
    }
    let total = seen.cost[0] + seen.cost[1];
    let (anon, file) = (total + seen.cost[0], total + seen.cost[1]);
    let total = anon + file;
    Balance::Fractions(
        seen.swappiness * (total + 1) / (anon + 1),
        (MAX_SWAPPINESS - seen.swappiness) * (total + 1) / (file + 1),
    )
}

/// get_scan_count(), second half: pages to scan of a list.
pub fn scan_count(size: u64, file: bool, priority: u32, balance: Balance) -> u64 {
    let scan = size >> priority;
    match balance {
        Balance::Equal => scan,
        Balance::Anon => scan * u64::from(!file),
        Balance::File => scan * u64::from(file),
        Balance::Fractions(anon, all_file) => {
            let fraction = if file { all_file } else { anon };
            scan * fraction / (anon + all_file).max(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inactive_is_low_by_the_root_of_ten_times_gigabytes() {
        assert!(!inactive_is_low(100, 100));
        assert!(inactive_is_low(99, 100));
        // 1 GiB: sqrt(10) = 3.
        let all = GIB_PAGES;
        assert!(!inactive_is_low(all / 4, all - all / 4));
        assert!(inactive_is_low(all / 4 - 1, all - all / 4 + 1));
        // 10 GiB: sqrt(100) = 10.
        assert!(!inactive_is_low(all, 9 * all));
        assert!(inactive_is_low(all - all / 10, 9 * all + all / 5));
    }

    #[test]
    fn folio_check_references_spares_young_pages() {
        let check = |mut bits: u8| (check_references(&mut bits), bits);
        use page::*;
        assert_eq!(check(PRESENT | FILE), (References::Reclaim, PRESENT | FILE));
        // Read once or twice through a descriptor, but not young: the page is reclaimed.
        assert_eq!(
            check(PRESENT | FILE | REFERENCED),
            (References::Reclaim, PRESENT | FILE)
        );
        assert_eq!(
            check(PRESENT | FILE | YOUNG),
            (References::Keep, PRESENT | FILE | REFERENCED)
        );
        assert_eq!(check(PRESENT | YOUNG | REFERENCED).0, References::Activate);
        assert_eq!(check(PRESENT | FILE | EXEC | YOUNG).0, References::Activate);
        // Executable anonymous memory is not spared.
        assert_eq!(check(PRESENT | EXEC | YOUNG).0, References::Keep);
    }

    #[test]
    fn workingset_test_recent_compares_with_the_pages_that_could_make_room() {
        let sizes = Sizes {
            inactive_anon: 1,
            active_anon: 10,
            inactive_file: 100,
            active_file: 1000,
        };
        let limit = |file, swap| {
            (0..2000)
                .rev()
                .find(|&distance| refault_is_recent(distance, file, swap, &sizes))
        };
        assert_eq!(limit(true, false), Some(1000));
        assert_eq!(limit(true, true), Some(1011));
        assert_eq!(limit(false, true), Some(1110));
        assert_eq!(limit(false, false), Some(1100));
    }

    #[test]
    fn lru_note_cost_halves_both_above_a_quarter_of_the_lists() {
        let mut cost = [10, 20];
        note_cost(&mut cost, false, 1, 3, 10_000);
        assert_eq!(cost, [45, 20]);
        note_cost(&mut cost, true, 0, 35, 400);
        assert_eq!(cost, [45, 55], "100 is not above a quarter of 400");
        note_cost(&mut cost, true, 0, 1, 400);
        assert_eq!(cost, [22, 28]);
    }

    #[test]
    fn get_scan_count_checks_its_conditions_in_order() {
        let fractions = Pressure {
            swap: true,
            cgroup: true,
            swappiness: 60,
            priority: 12,
            file_is_tiny: false,
            cache_trim_mode: false,
            cost: [0, 0],
        };
        let of = scan_balance;
        assert_eq!(of(&fractions), Balance::Fractions(60, 140));
        let trim = Pressure {
            cache_trim_mode: true,
            ..fractions
        };
        assert_eq!(of(&trim), Balance::File);
        let tiny = Pressure {
            file_is_tiny: true,
            ..trim
        };
        assert_eq!(of(&tiny), Balance::Anon);
        let last = Pressure {
            priority: 0,
            ..tiny
        };
        assert_eq!(of(&last), Balance::Equal);
        let unwilling = Pressure {
            swappiness: 0,
            ..last
        };
        assert_eq!(of(&unwilling), Balance::File);
        let global = Pressure {
            cgroup: false,
            ..unwilling
        };
        assert_eq!(of(&global), Balance::Anon);
        let no_swap = Pressure {
            swap: false,
            ..last
        };
        assert_eq!(of(&no_swap), Balance::File);
        // Costs 100 and 300: a' = 500, f' = 700, T = 1200.
        let costly = Pressure {
            cost: [100, 300],
            ..fractions
        };
        let (anon, file) = (60 * 1201 / 501, 140 * 1201 / 701);
        assert_eq!(of(&costly), Balance::Fractions(anon, file));
        assert_eq!(
            scan_count(1 << 20, true, 12, of(&costly)),
            256 * file / (anon + file)
        );
        assert_eq!(scan_count(1 << 20, false, 12, Balance::File), 0);
        assert_eq!(scan_count(1 << 20, false, 12, Balance::Equal), 256);
    }
}
