//! The abilities of this machine and its kernel, found once at the start.
use kernfs::Sample;
use policy::Machine;
use std::path::Path;

/// Finds the machine's abilities below `root`. `sample` is the first sample, `release` the kernel's release.
pub fn find(root: &Path, release: &str, page_size: u64, sample: &Sample) -> Machine {
    let orders = sample.nodes.iter().map(|node| node.blocks.len()).max();
    let usual = Machine::default();
    let page_size = if page_size.is_power_of_two() {
        page_size
    } else {
        usual.page_size
    };
    Machine {
        page_size,
        // Room for nodes that are plugged in later.
        max_nodes: usual.max_nodes.max(sample.nodes.len() * 2),
        max_orders: usual.max_orders.max(orders.unwrap_or(0)),
        huge_order: huge_order(root, page_size),
        watermark_scale_factor_max: watermark_scale_factor_max(release),
        node_reclaim: crate::actuate::reclaim_worker::can_reclaim(root),
        node_compact: crate::actuate::reclaim_worker::can_compact(root),
    }
}

/// The order of a transparent huge page, from its size. Where the kernel has none: of as many pages as a page has
/// entries of a page table, eight bytes each (9 with pages of 4 KiB, 13 with 64 KiB).
fn huge_order(root: &Path, page_size: u64) -> usize {
    let file = root.join("sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    let told = std::fs::read_to_string(file).ok();
    let bytes = told.and_then(|text| text.trim().parse::<u64>().ok());
    let pages = bytes.map(|bytes| bytes / page_size);
    let pages = pages.filter(|pages| pages.is_power_of_two());
    pages.unwrap_or(page_size / 8).trailing_zeros() as usize
}

/// The ceiling of vm.watermark_scale_factor: 3000 from 5.18 on and in 5.15 from 5.15.58 on, 1000 before
/// (kernel/sysctl.c). A kernel that refuses a value is assumed to have the lower ceiling from then on.
fn watermark_scale_factor_max(release: &str) -> u32 {
    let mut numbers = release
        .split(|letter: char| !letter.is_ascii_digit())
        .map(|number| number.parse::<u32>().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    match (next(), next(), next()) {
        (5, 15, patch) if patch >= 58 => 3000,
        (5, minor, _) if minor >= 18 => 3000,
        (6.., _, _) => 3000,
        _ => 1000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_page_is_as_large_as_the_kernel_says_or_as_a_page_table_has_room_for() {
        let root = tempfile::tempdir().unwrap();
        for (page_kib, order) in [(4, 9), (16, 11), (64, 13)] {
            assert_eq!(huge_order(root.path(), page_kib << 10), order);
        }
        let folder = root.path().join("sys/kernel/mm/transparent_hugepage");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("hpage_pmd_size"), "2097152\n").unwrap();
        assert_eq!(huge_order(root.path(), 64 << 10), 5);
    }

    #[test]
    fn the_ceiling_follows_the_kernels_release() {
        for (release, ceiling) in [
            ("4.18.0-553.el8", 1000),
            ("5.15.57", 1000),
            ("5.15.58-generic", 3000),
            ("5.17.1", 1000),
            ("5.18.0", 3000),
            ("6.12.1", 3000),
            ("7.3.0-rc1", 3000),
            ("", 1000),
        ] {
            assert_eq!(watermark_scale_factor_max(release), ceiling, "{release}");
        }
    }
}
