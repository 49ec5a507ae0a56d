//! Reads the kernel's counters and gauges.
use anyhow::Result;
use protocol::metric::MEMINFO;
use protocol::wire::Counters;

use crate::kernel_files::read;

/// Every field of /proc/vmstat as `vmstat.NAME`; `stall.alloc`, the allocation stalls of all zones;
/// the totals of /proc/pressure in microseconds; the CPU time of kswapd as `kswapd.cpu_ticks`, in
/// clock ticks of 10 ms, and as `kswapd.run_ns`; the pages that zram refused as `zram.failed_writes`.
///
/// # Errors
/// When /proc/vmstat cannot be read.
pub fn counters() -> Result<Counters> {
    let mut out = Counters::new();
    let vmstat = read("/proc/vmstat")?;
    for (name, value) in vmstat.lines().filter_map(|line| line.split_once(' ')) {
        if let Ok(value) = value.trim().parse() {
            out.insert(format!("vmstat.{name}"), value);
        }
    }
    let stalls = out
        .iter()
        .filter(|(name, _)| name.starts_with("vmstat.allocstall"));
    let stalls = stalls.map(|(_, count)| count).sum();
    out.insert("stall.alloc".into(), stalls);
    for resource in ["memory", "io", "cpu"] {
        // A kernel without PSI has no such file. An absent counter is left out, not 0.
        if let Ok(text) = std::fs::read_to_string(format!("/proc/pressure/{resource}")) {
            for line in text.lines() {
                let mut fields = line.split_whitespace();
                let kind = fields.next().unwrap_or_default();
                let total = fields.find_map(|field| field.strip_prefix("total=")?.parse().ok());
                if let Some(total) = total {
                    out.insert(format!("psi.{resource}.{kind}_us"), total);
                }
            }
        }
    }
    if let Some((ticks, ns)) = kswapd() {
        out.insert("kswapd.cpu_ticks".into(), ticks);
        if let Some(ns) = ns {
            out.insert("kswapd.run_ns".into(), ns);
        }
    }
    if let Some(failed) = failed_writes() {
        out.insert("zram.failed_writes".into(), failed);
    }
    Ok(out)
}

/// Writes that zram failed for want of memory: the second field of its io_stat, see
/// Documentation/admin-guide/blockdev/zram.rst.
fn failed_writes() -> Option<f64> {
    let stat = std::fs::read_to_string("/sys/block/zram0/io_stat").ok()?;
    stat.split_whitespace().nth(1)?.parse().ok()
}

/// User and system time of all kswapd threads, in clock ticks of 10 ms. Where the kernel counts it
/// (CONFIG_SCHEDSTATS), also their run time in nanoseconds.
fn kswapd() -> Option<(f64, Option<f64>)> {
    let mut sum: Option<(f64, Option<f64>)> = None;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let path = entry.path();
        let comm = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
        if comm.starts_with("kswapd") {
            let stat = std::fs::read_to_string(path.join("stat")).ok()?;
            // The fields after the name's closing bracket: the state is the first, utime the 12th.
            let after = stat.rsplit_once(')')?.1;
            let field = |n: usize| after.split_whitespace().nth(n)?.parse::<f64>().ok();
            let ran = std::fs::read_to_string(path.join("schedstat")).ok();
            let ran = ran.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
            let (ticks, ns) = sum.unwrap_or((0.0, Some(0.0)));
            let all = ns.zip(ran).map(|(ns, ran)| ns + ran);
            sum = Some((ticks + field(11)? + field(12)?, all));
        }
    }
    sum
}

/// The contents of memory, in KiB. `meminfo.file`, which the floor is compared with, is the file
/// lists without dirty pages and pages under writeback.
///
/// # Errors
/// When /proc/meminfo cannot be read.
pub fn gauges() -> Result<Counters> {
    let meminfo = read("/proc/meminfo")?;
    let fields = meminfo.lines().filter_map(|line| {
        let (name, rest) = line.split_once(':')?;
        let value = rest.split_whitespace().next()?.parse().ok()?;
        let known = MEMINFO.contains(&name);
        known.then(|| (format!("meminfo.{name}"), value))
    });
    let mut out: Counters = fields.collect();
    let get = |name: &str| out.get(&format!("meminfo.{name}")).copied().unwrap_or(0.0);
    // Pages under writeback to swap are no file pages.
    let writeback = (get("Writeback") - get("SwapCached")).max(0.0);
    let file = get("Active(file)") + get("Inactive(file)") - get("Dirty") - writeback;
    out.insert("meminfo.file".into(), file);
    let total = meminfo.lines().find_map(|line| {
        let rest = line.strip_prefix("MemTotal:")?;
        rest.split_whitespace().next()?.parse::<f64>().ok()
    });
    if let Some(total) = total {
        let free = out.get("meminfo.MemFree").copied().unwrap_or(0.0);
        out.insert("meminfo.free_share".into(), free / total);
    }
    Ok(out)
}
