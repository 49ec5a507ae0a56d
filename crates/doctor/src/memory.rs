//! Swap, and settings that change how memory runs out.
use crate::finding::Finding;
use crate::read::{exists, meminfo, swap_to_zram, sysctl, text};
use kernfs::Root;
use units::format_bytes;

pub fn findings(root: &Root) -> Vec<Finding> {
    let all = [
        Some(swap(root)),
        zswap(root),
        swappiness(root),
        panic_on_oom(root),
        overcommit(root),
        reserve(root),
        huge_pages(root),
        zone_reclaim(root),
    ];
    all.into_iter().flatten().collect()
}

/// The names of the swap areas: of /proc/swaps, without the head.
fn areas(root: &Root) -> Vec<String> {
    let text = text(root, "/proc/swaps").unwrap_or_default();
    let lines = text.lines().skip(1);
    lines
        .filter_map(|line| Some(line.split_whitespace().next()?.to_owned()))
        .collect()
}

fn is_zram(area: &str) -> bool {
    area.starts_with("/dev/zram")
}

fn swap(root: &Root) -> Finding {
    const SUBJECT: &str = "swap";
    let areas = areas(root);
    if areas.is_empty() {
        let advice =
            "memory that programs no longer use cannot leave, so files that are in use leave \
                      instead. Swap to compressed memory needs no disk";
        return Finding::better(SUBJECT, "none", advice).by(swap_to_zram(root));
    }
    let bytes = meminfo(root).swap_total().unwrap_or(0) * 1024;
    let seen = format!("{} on {}", format_bytes(bytes as f64), areas.join(", "));
    Finding::good(SUBJECT, seen)
}

/// zswap in front of zram: `None` where not both are in use.
fn zswap(root: &Root) -> Option<Finding> {
    let on = text(root, "/sys/module/zswap/parameters/enabled")? == "Y";
    if !on || !areas(root).iter().any(|area| is_zram(area)) {
        return None;
    }
    let advice = "a page is compressed twice, and takes memory in both. Switch zswap off";
    let finding = Finding::better("zswap", "on, in front of swap on zram", advice);
    Some(finding.by(["echo N | sudo tee /sys/module/zswap/parameters/enabled"]))
}

fn swappiness(root: &Root) -> Option<Finding> {
    const SUBJECT: &str = "vm.swappiness";
    let value = sysctl(root, SUBJECT)?;
    let seen = format!("{value}");
    if value >= 10 || areas(root).is_empty() {
        return Some(Finding::good(SUBJECT, seen));
    }
    let advice = "reclaim takes nearly all files before it swaps. hotsetd raises it while files are under their \
                  floor. The kernel's own value is 60";
    Some(Finding::better(SUBJECT, seen, advice).by(["sudo sysctl vm.swappiness=60"]))
}

fn panic_on_oom(root: &Root) -> Option<Finding> {
    const SUBJECT: &str = "vm.panic_on_oom";
    let value = sysctl(root, SUBJECT)?;
    if value == 0 {
        return None;
    }
    let advice = "the kernel stops the machine where it would otherwise kill one process";
    Some(Finding::wrong(SUBJECT, format!("{value}"), advice).by(["sudo sysctl vm.panic_on_oom=0"]))
}

fn overcommit(root: &Root) -> Option<Finding> {
    const SUBJECT: &str = "vm.overcommit_memory";
    let seen = "2: programs are refused memory beyond the limit, instead of being killed";
    (sysctl(root, SUBJECT)? == 2).then(|| Finding::good(SUBJECT, seen))
}

/// The kernel's own reserve is at most 256 MiB (`init_per_zone_wmark_min` in mm/page_alloc.c).
fn reserve(root: &Root) -> Option<Finding> {
    const SUBJECT: &str = "vm.min_free_kbytes";
    let kib = u64::try_from(sysctl(root, SUBJECT)?).ok()?;
    let total = meminfo(root).mem_total()?;
    // The square root of 16 times memory, as the kernel computes it, is 5% of a machine of 6 MiB and less of all others.
    if kib <= total / 20 {
        return None;
    }
    let seen = format!("{} of {}", bytes(kib), bytes(total));
    let advice = "the kernel keeps so much memory free for itself that programs get it neither before a kill nor after";
    Some(Finding::better(SUBJECT, seen, advice))
}

fn bytes(kib: u64) -> String {
    format_bytes(kib as f64 * 1024.0)
}

fn huge_pages(root: &Root) -> Option<Finding> {
    let meminfo = meminfo(root);
    let (total, free) = (meminfo.huge_pages_total()?, meminfo.huge_pages_free()?);
    let unused = free * meminfo.hugepagesize()?;
    if total == 0 || unused <= meminfo.mem_total()? / 10 {
        return None;
    }
    let seen = format!("{} are reserved and unused", bytes(unused));
    let advice =
        "no other program can have this memory. vm.nr_hugepages sets how many are reserved";
    Some(Finding::better("huge pages", seen, advice))
}

fn zone_reclaim(root: &Root) -> Option<Finding> {
    const SUBJECT: &str = "vm.zone_reclaim_mode";
    let value = sysctl(root, SUBJECT)?;
    if value == 0 || !exists(root, "/sys/devices/system/node/node1") {
        return None;
    }
    let advice = "a node's pages are reclaimed while another node has free memory";
    Some(
        Finding::better(SUBJECT, format!("{value}"), advice)
            .by(["sudo sysctl vm.zone_reclaim_mode=0"]),
    )
}
