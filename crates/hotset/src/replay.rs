//! `hotset replay`: the daemon's forecast and policy over recorded samples.
use crate::zst;
use anyhow::{Context, Result};
use clap::Args;
use kernfs::samples::{Reader, Record};
use policy::{
    Action, Config, Decision, Dentries, Inodes, Knobs, Machine, Meminfo, NodeObservation,
    Observation, Policy, Pressure, Vmstat,
};
use serde_json::json;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Says what the daemon would have done, when and why. Nothing of it was done while the samples were
/// recorded: it is a dry run, and a value that was asked for in vain is asked for once a minute.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    hotset record --for 3600 evening.jsonl.zst\n  \
    hotset replay evening.jsonl.zst\n  \
    hotset replay --aggressiveness 3 --all --json evening.jsonl.zst")]
pub struct ReplayArgs {
    /// Samples that `hotset record` wrote, plain or .zst; - is standard input
    trace: PathBuf,
    /// 1 (careful), 2 or 3
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=3))]
    aggressiveness: u8,
    /// Look at every sample, not only when the daemon would have
    #[arg(long)]
    all: bool,
    /// Show the forecast of every look, not only looks with an action
    #[arg(long)]
    forecast: bool,
    /// Write JSON to standard output, one object for each look
    #[arg(long)]
    json: bool,
}

/// A stall of so many microseconds since the last look wakes the daemon: its PSI trigger's.
const TRIGGER_US: u64 = 50_000;

/// # Errors
/// The trace cannot be read, with its line.
pub fn run(args: &ReplayArgs) -> Result<ExitCode> {
    let name = args.trace.display();
    let mut policy: Option<Policy> = None;
    let mut decision = Decision::default();
    let mut out = io::stdout().lock();
    let (mut start_s, mut wake_s, mut stalled_us) = (0.0, f64::NEG_INFINITY, 0);
    let (mut records, mut looks, mut actions) = (0u64, 0u64, 0u64);
    for record in Reader::new(zst::open(&args.trace)?) {
        let record = record.with_context(|| format!("reading {name}"))?;
        records += 1;
        let policy = policy.get_or_insert_with(|| {
            start_s = record.t;
            Policy::new(config(args), machine(&record))
        });
        let pressure = pressure(&record);
        let some_us = pressure.map_or(0, |pressure| pressure.some_total_us);
        let triggered = some_us >= stalled_us + TRIGGER_US && stalled_us > 0;
        if !args.all && record.t < wake_s && !triggered {
            continue;
        }
        observe(policy, &record, pressure, &mut decision);
        stalled_us = some_us;
        wake_s = record.t + decision.next_sample_s;
        looks += 1;
        actions += decision.actions().count() as u64;
        match args.json {
            true => writeln!(out, "{}", as_json(record.t, &decision))?,
            false => show(&mut out, record.t - start_s, &decision, args.forecast)?,
        }
    }
    anyhow::ensure!(records > 0, "{name}: no samples in it");
    if !args.json {
        writeln!(out, "{records} samples, {looks} looks, {actions} actions")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn config(args: &ReplayArgs) -> Config {
    Config {
        aggressiveness: args.aggressiveness,
        ..Config::default()
    }
}

/// What the recorded machine had, as far as its samples say.
fn machine(record: &Record) -> Machine {
    let found = record.machine.as_ref();
    let default = Machine::default();
    let most = |lens: &mut dyn Iterator<Item = usize>| lens.max().unwrap_or(0);
    Machine {
        page_size: found.map_or(default.page_size, |found| found.page_size.max(1)),
        max_nodes: record.nodes.len().max(default.max_nodes),
        max_orders: most(&mut record.nodes.iter().map(|node| node.blocks.len())),
        // Of the upstream releases, 5.19 made both: reclaim on request, and a ceiling of 3000.
        node_reclaim: found
            .and_then(kernfs::samples::Machine::major)
            .is_some_and(|major| major >= 6),
        watermark_scale_factor_max: match found.and_then(kernfs::samples::Machine::major) {
            Some(major) if major >= 6 => 3000,
            _ => 1000,
        },
        ..default
    }
}

fn pressure(record: &Record) -> Option<Pressure> {
    let memory = record.psi.get("memory")?;
    let some = memory.some?;
    let full = memory.full.unwrap_or_default();
    Some(Pressure {
        some_total_us: some.total,
        full_total_us: full.total,
        some_avg10: some.avg10,
        full_avg10: full.avg10,
    })
}

fn observe(policy: &mut Policy, record: &Record, psi: Option<Pressure>, decision: &mut Decision) {
    let nodes: Vec<NodeObservation> = record
        .nodes
        .iter()
        .map(|node| NodeObservation {
            id: node.id,
            managed: node.managed,
            free: node.free,
            min: node.min,
            low: node.low,
            high: node.high,
            file: node.active_file + node.inactive_file,
            anon: node.active_anon + node.inactive_anon,
            huge: node.huge,
            stolen: node.stolen,
            free_blocks: &node.blocks,
        })
        .collect();
    let knob = |name: &str| {
        record
            .knobs
            .get(name)
            .and_then(|value| u32::try_from(*value).ok())
    };
    let object = |name: &str| record.meminfo.get(name).copied();
    let seen = Observation {
        now_s: record.t,
        nodes: &nodes,
        vmstat: vmstat(record),
        psi_memory: psi,
        meminfo: meminfo(record),
        dentries: object("dentry.nr").map(|count| Dentries {
            count,
            unused: object("dentry.unused").unwrap_or(0),
            negative: object("dentry.negative"),
        }),
        inodes: object("inode.nr").map(|count| Inodes {
            count,
            free: object("inode.free").unwrap_or(0),
        }),
        knobs: Knobs {
            watermark_scale_factor: knob("vm.watermark_scale_factor"),
            compaction_proactiveness: knob("vm.compaction_proactiveness"),
            vfs_cache_pressure: knob("vm.vfs_cache_pressure"),
            negative_dentry_limit: knob("fs.negative-dentry-limit"),
        },
    };
    policy.observe(&seen, decision);
}

fn vmstat(record: &Record) -> Vmstat {
    let get = |name: &str| record.vmstat.get(name).copied().unwrap_or(0);
    let all = |prefix: &str| -> u64 {
        let fields = record
            .vmstat
            .iter()
            .filter(|(name, _)| name.starts_with(prefix));
        fields.map(|(_, value)| *value).sum()
    };
    Vmstat {
        pgsteal_kswapd: get("pgsteal_kswapd"),
        pgsteal_direct: get("pgsteal_direct"),
        pgsteal_proactive: get("pgsteal_proactive"),
        allocstall: all("allocstall"),
        compact_stall: get("compact_stall"),
        compact_fail: get("compact_fail"),
        compact_success: get("compact_success"),
        workingset_refault: all("workingset_refault"),
        oom_kill: get("oom_kill"),
    }
}

fn meminfo(record: &Record) -> Meminfo {
    let get = |name: &str| record.meminfo.get(name).copied().unwrap_or(0);
    let slab = get("SReclaimable") + get("SUnreclaim");
    Meminfo {
        total: get("MemTotal"),
        free: get("MemFree"),
        lru: get("Active") + get("Inactive") + get("Unevictable"),
        slab: if slab > 0 { slab } else { get("Slab") },
        kernel_stack: get("KernelStack"),
        page_tables: get("PageTables"),
        sec_page_tables: get("SecPageTables"),
        percpu: get("Percpu"),
        vmalloc_used: get("VmallocUsed"),
        hugetlb: get("Hugetlb"),
        zswap: get("Zswap"),
        other: get("Bounce")
            + get("WritebackTmp")
            + get("HardwareCorrupted")
            + get("GPUActive")
            + get("GPUReclaim")
            + get("KReclaimable").saturating_sub(get("SReclaimable")),
        swap_total: get("SwapTotal"),
        swap_free: get("SwapFree"),
    }
}

/// An action as a person would write it.
fn words(action: Action) -> String {
    match action {
        Action::SetWatermarkScaleFactor(value) => format!("vm.watermark_scale_factor = {value}"),
        Action::ReclaimNode { node, bytes } => {
            format!("reclaim {} MiB of node {node}", bytes >> 20)
        }
        Action::SetKswapdNice { node, nice } => format!("kswapd{node}: nice {nice}"),
        Action::CompactNode { node } => format!("compact node {node}"),
        Action::SetCompactionProactiveness(value) => {
            format!("vm.compaction_proactiveness = {value}")
        }
        Action::SetVfsCachePressure(value) => format!("vm.vfs_cache_pressure = {value}"),
        Action::SetNegativeDentryLimit(value) => format!("fs.negative-dentry-limit = {value}"),
        Action::SetTunable(index) => format!("tunable {index}"),
        Action::Warn(warning) => format!("warning: {warning:?}"),
    }
}

fn show(out: &mut impl Write, at_s: f64, decision: &Decision, forecast: bool) -> io::Result<()> {
    if forecast {
        for node in &decision.summary.nodes {
            let low = match node.time_to_low_s {
                Some(seconds) => format!("at low in {seconds:.0} s"),
                None => "not falling".to_owned(),
            };
            writeln!(
                out,
                "{at_s:10.2}  node {}: {} pages free, demand {:.0} +- {:.0} pages/s, {low}{}",
                node.id,
                node.free,
                node.demand,
                node.demand_error,
                if node.predicted {
                    ": exhaustion predicted"
                } else {
                    ""
                }
            )?;
        }
    }
    for (action, reason) in decision.actions() {
        writeln!(out, "{at_s:10.2}  {}: {reason}", words(action))?;
    }
    Ok(())
}

fn as_json(t: f64, decision: &Decision) -> serde_json::Value {
    let actions: Vec<_> = decision
        .actions()
        .map(|(action, reason)| json!({"action": words(action), "reason": reason}))
        .collect();
    let nodes: Vec<_> = decision
        .summary
        .nodes
        .iter()
        .map(|node| {
            json!({
                "id": node.id, "free": node.free, "low": node.low, "demand": node.demand,
                "demand_error": node.demand_error, "time_to_low_s": node.time_to_low_s,
                "earliest_low_s": node.earliest_low_s, "predicted": node.predicted,
                "order": node.order.order, "order_available": node.order.available,
                "time_to_exhaustion_s": node.order.time_to_exhaustion_s,
                "order_predicted": node.order.predicted,
            })
        })
        .collect();
    let free = decision.summary.free_pages;
    json!({
        "t": t, "actions": actions, "nodes": nodes, "next_sample_s": decision.next_sample_s,
        "drawdown_pages": free.drawdown_pages, "wsf_wanted": free.wanted, "wsf_floor": free.floor,
        "wsf_cap": free.cap,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A burst in recorded samples: what would have been done has its reason.
    #[test]
    fn a_recorded_burst_is_answered() {
        let mut policy = None;
        let mut decision = Decision::default();
        let mut said = String::new();
        for (second, free) in [5100, 5100, 2500, 2400, 6000].into_iter().enumerate() {
            let line = format!(
                r#"{{"t":{second},"machine":{{"release":"6.18.1","page_size":4096,"cpus":2}},
                "nodes":[{{"id":0,"managed":1000000,"free":{free},"min":4000,"low":5000,
                "high":6000,"active_file":200000,"inactive_file":200000,"blocks":[{free}]}}],
                "knobs":{{"vm.watermark_scale_factor":10}}}}"#
            );
            let record = Reader::new(line.replace('\n', " ").as_bytes()).next();
            let record = record.expect("a record").expect("one that can be read");
            let policy =
                policy.get_or_insert_with(|| Policy::new(Config::default(), machine(&record)));
            assert!(policy.machine().node_reclaim);
            observe(policy, &record, pressure(&record), &mut decision);
            for (action, reason) in decision.actions() {
                said += &format!("{}: {reason}\n", words(action));
            }
        }
        assert!(said.contains("vm.watermark_scale_factor = "), "{said}");
        assert!(said.contains("of node 0"), "{said}");
    }
}
