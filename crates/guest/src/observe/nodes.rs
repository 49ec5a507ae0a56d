//! The contents of each memory node.
use protocol::wire::Counters;

const NODES: &str = "/sys/devices/system/node";

/// `nodeN.clean`, `nodeN.anon` and `nodeN.free` as shares of the memory that the node can give away, like the series'
/// floors: free pages, LRU lists, reclaimable slab and compressed swap. Clean pages are the file lists without dirty
/// pages. A machine with one node has `node0` alone, from /proc/vmstat: a kernel without NUMA has no other file.
pub fn gauges() -> Counters {
    let there = |node: &u32| std::path::Path::new(&format!("{NODES}/node{node}")).is_dir();
    let nodes: Vec<u32> = (0..).take_while(there).collect();
    let mut out = Counters::new();
    if nodes.len() < 2 {
        if let Ok(vmstat) = crate::kernel_files::read("/proc/vmstat") {
            let shares = shares(&vmstat).map(|(name, value)| (format!("node0.{name}"), value));
            out.extend(shares);
        }
        return out;
    }
    // Each CPU holds back up to 125 pages of each counter for a second or more: together a hundredth
    // of a small node. Writing stat_refresh adds them up.
    let _ = std::fs::write("/proc/sys/vm/stat_refresh", "1");
    for node in nodes {
        let path = format!("{NODES}/node{node}/vmstat");
        let Ok(vmstat) = crate::kernel_files::read(&path) else {
            continue;
        };
        for (name, value) in shares(&vmstat) {
            out.insert(format!("node{node}.{name}"), value);
        }
    }
    out
}

fn shares(vmstat: &str) -> [(&'static str, f64); 3] {
    let get = |name: &str| {
        let value = crate::kernel_files::vmstat_field(vmstat, name);
        value.unwrap_or(0) as f64
    };
    let file = get("nr_inactive_file") + get("nr_active_file");
    let anon = get("nr_inactive_anon") + get("nr_active_anon");
    let free = get("nr_free_pages");
    // A node without memory has shares of nothing.
    let all = (free + file + anon + get("nr_slab_reclaimable") + get("nr_zspages")).max(1.0);
    [
        ("clean", (file - get("nr_dirty")).max(0.0) / all),
        ("anon", anon / all),
        ("free", free / all),
    ]
}

/// The CPUs of a list such as `0-2,5`.
pub fn cpus(list: &str) -> Vec<usize> {
    let range = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
        Some(from..=to)
    };
    list.trim().split(',').filter_map(range).flatten().collect()
}

/// Binds this process to a node's memory and, where the node has any, to its CPUs.
///
/// # Errors
/// When the node does not exist.
pub fn bind(node: u32) -> anyhow::Result<()> {
    use anyhow::{ensure, Context};
    const MPOL_BIND: libc::c_long = 2;
    ensure!(node < 64, "node {node}: nodes are numbered 0 to 63 here");
    let path = format!("{NODES}/node{node}/cpulist");
    let list = std::fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
    let mask: libc::c_ulong = 1 << node;
    // SAFETY: the mask has the 64 bits of maxnode and lives through the call.
    let result =
        unsafe { libc::syscall(libc::SYS_set_mempolicy, MPOL_BIND, &mask as *const _, 65) };
    if result != 0 {
        return Err(std::io::Error::last_os_error())
            .with_context(|| format!("set_mempolicy to node {node}"));
    }
    let cpus = cpus(&list);
    if cpus.is_empty() {
        return Ok(());
    }
    // SAFETY: an all-zero cpu_set_t is the empty set; CPU_SET writes within it.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for cpu in cpus.into_iter().filter(|&cpu| cpu < 1024) {
            libc::CPU_SET(cpu, &mut set);
        }
        set
    };
    // SAFETY: sched_setaffinity(2) reads the set, which lives through the call.
    if unsafe { libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set) } != 0 {
        return Err(std::io::Error::last_os_error())
            .with_context(|| format!("sched_setaffinity to the CPUs of node {node}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_cpus_has_numbers_and_ranges() {
        assert_eq!(cpus("0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(cpus("3"), [3]);
        assert_eq!(cpus("\n"), [] as [usize; 0]);
    }

    #[test]
    fn shares_are_of_what_the_node_can_give_away() {
        let vmstat = "nr_free_pages 500\nnr_inactive_anon 100\nnr_active_anon 20\nnr_slab_reclaimable 30\n\
                      nr_inactive_file 200\nnr_active_file 100\nnr_dirty 50\nnr_writeback 20\nnr_zspages 50\n";
        let found = shares(vmstat);
        assert_eq!(found, [("clean", 0.25), ("anon", 0.12), ("free", 0.5)]);
    }
}
