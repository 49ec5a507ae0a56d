//! Reads the kernel's counters and gauges.
use anyhow::{Context, Result};
use raw::wire::Counters;

/// Fields of /proc/meminfo that go into every sample, in KiB.
const GAUGES: [&str; 13] = [
    "MemFree",
    "MemAvailable",
    "Active(anon)",
    "Inactive(anon)",
    "Active(file)",
    "Inactive(file)",
    "SwapFree",
    "SwapCached",
    "Dirty",
    "Writeback",
    "Mapped",
    "Slab",
    "Unevictable",
];

/// Every field of /proc/vmstat as `vmstat.NAME`, `stall.alloc` (allocstall of all zones), the totals of /proc/pressure in microseconds, and
/// the CPU time of kswapd in clock ticks as `kswapd.cpu_ticks` and in nanoseconds as `kswapd.run_ns`.
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
        // A kernel without PSI has no such file; what is absent is left out, not zero.
        if let Ok(text) = std::fs::read_to_string(format!("/proc/pressure/{resource}")) {
            for line in text.lines() {
                let mut words = line.split_whitespace();
                let kind = words.next().unwrap_or_default();
                let total = words.find_map(|word| word.strip_prefix("total=")?.parse().ok());
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
    Ok(out)
}

/// user + system time of all kswapd threads, in clock ticks of 10 ms, and where the kernel keeps it
/// (CONFIG_SCHEDSTATS) the time that they ran in nanoseconds.
fn kswapd() -> Option<(f64, Option<f64>)> {
    let mut sum: Option<(f64, Option<f64>)> = None;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let path = entry.path();
        let comm = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
        if comm.starts_with("kswapd") {
            let stat = std::fs::read_to_string(path.join("stat")).ok()?;
            // Fields after the name's closing bracket: state is the first, utime the 12th.
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

/// What is in memory now, in KiB. `meminfo.file` is what the floor is held against, all on the file
/// lists but what is dirty or under writeback.
pub fn gauges() -> Result<Counters> {
    let meminfo = read("/proc/meminfo")?;
    let fields = meminfo.lines().filter_map(|line| {
        let (name, rest) = line.split_once(':')?;
        let value = rest.split_whitespace().next()?.parse().ok()?;
        let known = GAUGES.contains(&name);
        known.then(|| (format!("meminfo.{name}"), value))
    });
    let mut out: Counters = fields.collect();
    let get = |name: &str| out.get(&format!("meminfo.{name}")).copied().unwrap_or(0.0);
    // What is under writeback to swap is no page of a file.
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

/// Number of pages given by one field of /proc/vmstat.
pub fn vmstat_field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        line.strip_prefix(name)?
            .strip_prefix(' ')?
            .trim()
            .parse()
            .ok()
    })
}

pub fn read(path: &str) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("reading {path}"))
}
