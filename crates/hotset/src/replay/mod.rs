//! `hotset replay`: the daemon's forecast and policy over recorded samples.
mod action;
mod input;
mod score;
mod text;

pub use action::describe;

use crate::shell::{self, outln, schema, usage};
use action::named;
use anyhow::{anyhow, bail, Result};
use clap::Args;
use hotsetd::config::file;
use hotsetd::config::settings::{Config, Pressure};
use input::Samples;
use kernfs::samples::Record;
use kernfs::Sample;
use names::shown;
use policy::{Decision, Machine, NodeObservation, Policy, Tunable};
use score::Courses;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use text::Text;

/// Shows the daemon's actions on recorded samples, with their times and reasons.
///
/// The recording does not react to the actions; after the first one, the real machine would differ. The policy repeats
/// a value that was not set once a minute. Repeats of an action are counted and shown as one line.
#[derive(Args)]
#[command(after_help = "\
A recording that was cut off is replayed as far as it goes: a note on standard error names its last sample, and \
the exit status is 0. Damage before the end is an error.\n\n\
Examples:\n  \
    hotset record --for 3600 evening.jsonl.zst\n  \
    hotset replay evening.jsonl.zst\n  \
    hotset replay --config mine.conf evening.jsonl.zst\n  \
    hotset replay -a 3 --all --json evening.jsonl.zst\n  \
    sudo hotset replay /var/lib/hotset/flight")]
pub struct ReplayArgs {
    /// Samples that `hotset record` wrote (plain, .zst or .gz, by their first bytes; - is standard input), or
    /// hotsetd's flight recorder
    #[arg(value_name = "FILE")]
    trace: PathBuf,
    /// The daemon's configuration, with FILE.d/*.conf after it; [protect] does not act in a replay [defaults of
    /// hotsetd.conf(5)]
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// 1 (careful), 2 or 3 [2, or the configuration's]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    aggressiveness: Option<u8>,
    /// Decide on every sample, not only on those that the daemon would have taken
    #[arg(long)]
    all: bool,
    /// Show the forecast of every sample, not only samples with an action
    #[arg(long)]
    forecast: bool,
    /// Show how many exhaustions were foretold, in place of the actions
    #[arg(long, conflicts_with_all = ["all", "forecast"])]
    score: bool,
    #[arg(long, help = shell::JSON_LINES)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// The file or the configuration cannot be read; the error names file and line.
pub fn run(args: &ReplayArgs) -> Result<ExitCode> {
    let config = config(args)?;
    let mut text = Text::new(&config.policy.tunables);
    let mut policy: Option<Policy> = None;
    let mut decision = Decision::default();
    let (mut start_s, mut wake_s, mut stalled_us) = (0.0, f64::NEG_INFINITY, 0);
    let (mut records, mut decisions, mut actions) = (0u64, 0u64, 0u64);
    let mut sample = Sample::default();
    let (mut courses, mut last_s) = (Courses::default(), 0.0);
    let mut samples = Samples::open(&args.trace)?;
    while let Some(record) = samples.next(&mut sample)? {
        records += 1;
        let policy = policy.get_or_insert_with(|| {
            start_s = record.t;
            Policy::new(config.policy.clone(), machine(&record))
        });
        let some_us = observe::pressure(&sample).map_or(0, |pressure| pressure.some_total_us);
        let triggered = triggers(config.pressure, some_us, stalled_us);
        let skipped = !args.all && record.t < wake_s && !triggered;
        if !skipped {
            decide(policy, &sample, &mut decision);
        }
        if args.score {
            last_s = record.t - start_s;
            courses.take(last_s, &sample, &decision);
        }
        if skipped {
            continue;
        }
        stalled_us = some_us;
        wake_s = record.t + decision.next_sample_s;
        decisions += 1;
        actions += decision.actions().count() as u64;
        match args.json {
            _ if args.score => {}
            true => outln!(
                "{}",
                serde_json::to_string(&line(record.t, &decision, &config.policy.tunables))?
            )?,
            false => text.show(record.t - start_s, &decision, args.forecast)?,
        }
    }
    text.end()?;
    courses.show(last_s, args.json)?;
    let name = &samples.name;
    match (samples.cut_off(), records) {
        (true, 0) => bail!("{name}: truncated before the end of its first sample; record again"),
        (false, 0) => bail!("{name}: no samples in the file; record some with `hotset record`"),
        (true, _) => shell::note(format!(
            "{name}: truncated after sample {records}; replayed the samples up to it"
        )),
        (false, _) => {}
    }
    if !args.json && !args.score && !progress::is_quiet() {
        let [samples, decisions, actions] = [
            (records, "sample"),
            (decisions, "decision"),
            (actions, "action"),
        ]
        .map(|(count, of)| units::counted(count, of));
        outln!("{samples}, {decisions}, {actions}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The configuration as the daemon reads it, with the options laid over it.
fn config(args: &ReplayArgs) -> Result<Config> {
    let mut config = match &args.config {
        Some(path) => file::load(&file::Place::named(path)).map_err(|mut problems| {
            let last = problems.pop();
            for problem in &problems {
                shell::error(problem.to_string());
            }
            match last {
                Some(problem) if !problem.unreadable => usage!("{problem}"),
                Some(problem) => anyhow!("{problem}"),
                None => anyhow!("{}: cannot be read", shown(path)),
            }
        })?,
        None => Config::default(),
    };
    if let (Some(path), true) = (&args.config, config.protect.policy.enabled) {
        shell::note(format!(
            "{}: [protect] does not act in a replay: its figures are not in a recording",
            shown(path)
        ));
    }
    if let Some(level) = args.aggressiveness {
        config.policy.aggressiveness = level;
    }
    Ok(config)
}

/// Whether the stalls since the last sample would have woken the daemon by its PSI trigger. Microseconds.
fn triggers(pressure: Pressure, now_us: u64, before_us: u64) -> bool {
    let threshold_us = u64::from(pressure.stall_ms) * 1000;
    pressure.enabled && before_us > 0 && now_us >= before_us + threshold_us
}

/// The abilities of the recorded machine, by its first sample.
pub fn machine(record: &Record) -> Machine {
    let found = record.machine.as_ref();
    let default = Machine::default();
    let most = |lens: &mut dyn Iterator<Item = usize>| lens.max().unwrap_or(0);
    Machine {
        page_size: found.map_or(default.page_size, |found| found.page_size.max(1)),
        max_nodes: record.nodes.len().max(default.max_nodes),
        max_orders: most(&mut record.nodes.iter().map(|node| node.blocks.len())),
        // Linux 5.19 has both: reclaim on request, and a bound of 3000. The next release is 6.0.
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

/// Decides on one sample.
pub fn decide(policy: &mut Policy, sample: &Sample, decision: &mut Decision) {
    let nodes: Vec<NodeObservation> = sample.nodes.iter().map(observe::node).collect();
    policy.observe(&observe::observation(sample, &nodes), decision);
}

/// A line of `--json`.
#[derive(Serialize)]
struct Line<'a> {
    schema: String,
    t: f64,
    actions: Vec<Act<'a>>,
    nodes: Vec<Node>,
    next_sample_s: f64,
    drawdown_pages: f64,
    wsf_wanted: u32,
    wsf_floor: u32,
    wsf_cap: u32,
}

#[derive(Serialize)]
struct Act<'a> {
    action: String,
    reason: &'a str,
}

#[derive(Serialize)]
struct Node {
    id: u32,
    free: u64,
    low: u64,
    demand: f64,
    demand_error: f64,
    time_to_low_s: Option<f64>,
    earliest_low_s: Option<f64>,
    predicted: bool,
    order: usize,
    order_available: u64,
    time_to_exhaustion_s: Option<f64>,
    order_predicted: bool,
}

fn line<'a>(t: f64, decision: &'a Decision, tunables: &[Tunable]) -> Line<'a> {
    let nodes = decision.summary.nodes.iter().map(|node| Node {
        id: node.id,
        free: node.free,
        low: node.watermarks.low,
        demand: node.demand,
        demand_error: node.demand_error,
        time_to_low_s: node.time_to_low_s,
        earliest_low_s: node.earliest_low_s,
        predicted: node.predicted,
        order: node.order.order,
        order_available: node.order.available,
        time_to_exhaustion_s: node.order.time_to_exhaustion_s,
        order_predicted: node.order.predicted,
    });
    let actions = decision.actions().map(|(action, reason)| Act {
        action: named(action, tunables),
        reason,
    });
    let free = &decision.summary.free_pages;
    Line {
        schema: schema("replay", 1),
        t,
        actions: actions.collect(),
        nodes: nodes.collect(),
        next_sample_s: decision.next_sample_s,
        drawdown_pages: free.drawdown_pages,
        wsf_wanted: free.wanted,
        wsf_floor: free.floor,
        wsf_cap: free.cap,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::Action;

    #[test]
    fn a_recorded_burst_raises_the_factor_and_reclaims() {
        let mut policy = None;
        let mut decision = Decision::default();
        let mut sample = Sample::default();
        let mut asked = Vec::new();
        for (second, free) in [5100, 5100, 2500, 2400, 6000].into_iter().enumerate() {
            let line = format!(
                r#"{{"t":{second},"machine":{{"release":"6.18.1","page_size":4096,"cpus":2}},
                "nodes":[{{"id":0,"managed":1000000,"free":{free},"min":4000,"low":5000,
                "high":6000,"active_file":200000,"inactive_file":200000,"blocks":[{free}]}}],
                "knobs":{{"vm.watermark_scale_factor":10}}}}"#
            );
            let record = kernfs::samples::Reader::new(line.replace('\n', " ").as_bytes()).next();
            let record = record.expect("a record").expect("one that can be read");
            let policy = policy
                .get_or_insert_with(|| Policy::new(policy::Config::default(), machine(&record)));
            assert!(policy.machine().node_reclaim);
            record.restore(&mut sample).unwrap();
            decide(policy, &sample, &mut decision);
            asked.extend(decision.actions().map(|(action, _)| action));
        }
        let raised = |action: &Action| matches!(action, Action::SetWatermarkScaleFactor(_));
        assert!(asked.iter().any(raised), "{asked:?}");
        let reclaimed = |action: &Action| matches!(action, Action::ReclaimNode { node: 0, .. });
        assert!(asked.iter().any(reclaimed), "{asked:?}");
    }
}
