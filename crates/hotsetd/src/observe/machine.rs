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
        huge_order: huge_order(root, page_size).unwrap_or(usual.huge_order),
        watermark_scale_factor_max: watermark_scale_factor_max(release),
        node_reclaim: crate::actuate::reclaim_worker::can_reclaim(root),
        node_compact: crate::actuate::reclaim_worker::can_compact(root),
    }
}

/// The order of a transparent huge page, from its size.
fn huge_order(root: &Path, page_size: u64) -> Option<usize> {
    let file = root.join("sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    let bytes: u64 = std::fs::read_to_string(file).ok()?.trim().parse().ok()?;
    let pages = bytes / page_size;
    pages
        .is_power_of_two()
        .then(|| pages.trailing_zeros() as usize)
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
