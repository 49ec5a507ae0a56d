//! Checks metrics: a worker must observe them, or every guest record them.
use super::rule::{invalid, Checked};
use crate::experiment::definition::Experiment;
use crate::experiment::text::source::{there_are, Error, Step};
use protocol::metric::{of_guest, of_trace, Recorded};
use protocol::plan::{parts, Statistic};
use protocol::spec::Trace;
use protocol::work::observed::DEATHS;
use std::collections::BTreeSet;

/// /proc/vmstat of kernels of both architectures, with and without a series.
const VMSTAT: [&str; 4] = [
    include_str!("../../../../../fixtures/kernfs/7.3-two-nodes/proc/vmstat"),
    include_str!("../../../../../fixtures/kernfs/6.12-debian/proc/vmstat"),
    include_str!("../../../../../fixtures/kernfs/6.1-debian-two-nodes/proc/vmstat"),
    include_str!("../../../../../fixtures/kernfs/6.12-two-nodes/proc/vmstat"),
];

/// The counters of the protection series.
const OF_SERIES: [&str; 6] = [
    "wsprot_held_anon",
    "wsprot_held_clean",
    "wsprot_kept",
    "wsprot_exhausted",
    "wsprot_refault_anon",
    "wsprot_refault_clean",
];

/// Checks a metric and its statistic: `probe.resident`, `vmstat.pgscan_direct`, a sum of counters, or a
/// ratio of two sums. A chart has no statistic, and shows no counter.
pub fn metric(
    experiment: &Experiment,
    at: Vec<Step>,
    metric: &str,
    statistic: Option<Statistic>,
) -> Checked {
    let Some((above, below)) = parts(metric) else {
        return invalid(
            at,
            "expected a measure such as \"probe.read_ms\", a sum, \"vmstat.a+vmstat.b\", or a ratio \
             of two, \"vmstat.a/(vmstat.a+vmstat.b)\"",
        );
    };
    let names: Vec<&str> = above.into_iter().chain(below.unwrap_or_default()).collect();
    for name in &names {
        let how = match recorded(experiment, name) {
            Ok(how) => how,
            Err(message) => return invalid(at, message),
        };
        let growth = matches!(statistic, Some(Statistic::Delta | Statistic::Rate));
        match how {
            Recorded::Values if names.len() > 1 => {
                let message = format!("{name} is no counter: only counters are added and divided");
                return invalid(at, message);
            }
            Recorded::Values if growth => {
                let message = format!("{name} is no counter and has no delta or rate");
                return invalid(at, message);
            }
            Recorded::Counter if !growth => {
                let message = match statistic {
                    Some(_) => {
                        format!("{name} is a counter: set statistic to \"delta\" or \"rate\"")
                    }
                    None => format!("{name} is a counter, and a chart shows values over time"),
                };
                return invalid(at, message);
            }
            _ => {}
        }
    }
    Ok(())
}

/// The way in which a name is recorded, or the reason why it is not.
fn recorded(experiment: &Experiment, name: &str) -> Result<Recorded, String> {
    if name
        .strip_prefix("vmstat.")
        .is_some_and(|field| !field.is_empty())
    {
        return Ok(Recorded::Counter);
    }
    let of_guest = of_guest(experiment.machine.numa.len().max(1));
    if let Some((_, how)) = of_guest.iter().find(|(known, _)| known == name) {
        return Ok(*how);
    }
    // A worker's name may have dots, so the longest that fits is meant.
    let workers = experiment.workers.iter().filter_map(|(worker, it)| {
        let rest = name.strip_prefix(worker.as_str())?.strip_prefix('.')?;
        Some((worker, it, rest))
    });
    if let Some((worker, it, rest)) = workers.max_by_key(|(worker, ..)| worker.len()) {
        let mut observed = it.does.observes().to_vec();
        observed.extend(it.does.measures());
        if rest == DEATHS || observed.contains(&rest) {
            return match it.does.lacks_for(rest) {
                None => Ok(Recorded::Values),
                Some(order) => Err(format!(
                    "worker {worker:?} observes {rest} with {order} alone"
                )),
            };
        }
        let known: Vec<&str> = observed.iter().copied().chain([DEATHS]).collect();
        let kind = it.does.name();
        let there = there_are(rest, &known);
        return Err(format!(
            "worker {worker:?}, a {kind}, does not observe {rest:?}; {there}"
        ));
    }
    for (trace, _) in TRACES {
        let (of, names) = of_trace(trace);
        if let Some(rest) = name
            .strip_prefix(of)
            .and_then(|rest| rest.strip_prefix('.'))
        {
            return match names.contains(&rest) {
                true => Ok(Recorded::Values),
                false => Err(format!("{of} has no {rest:?}; {}", there_are(rest, names))),
            };
        }
    }
    Err(unknown(experiment, name, of_guest))
}

/// The tracepoints, by their names in files.
const TRACES: [(Trace, &str); 2] = [
    (Trace::DirectReclaim, "direct-reclaim"),
    (Trace::PageCache, "page-cache"),
];

/// Checks that the machine traces what a promise is about. A figure may go without: presets switch tracing off.
pub fn traced(experiment: &Experiment, at: Vec<Step>, metric: &str) -> Checked {
    let off = TRACES.iter().find(|(trace, _)| {
        let (of, _) = of_trace(*trace);
        let name = metric
            .strip_prefix(of)
            .and_then(|rest| rest.strip_prefix('.'));
        name.is_some() && !experiment.machine.trace.contains(trace)
    });
    match off {
        Some((_, word)) => {
            let message = format!("{metric} is traced: set machine.trace = [\"{word}\"]");
            invalid(at, message)
        }
        None => Ok(()),
    }
}

/// The message for a name that nothing records.
fn unknown(experiment: &Experiment, name: &str, of_guest: Vec<(String, Recorded)>) -> String {
    if vmstat().contains(name) {
        return format!("nothing records {name}; did you mean vmstat.{name}?");
    }
    let mut known: Vec<String> = of_guest.into_iter().map(|(name, _)| name).collect();
    for (worker, it) in &experiment.workers {
        let observed = it.does.observes().iter().copied().chain([DEATHS]);
        let observed = observed.chain(it.does.measures());
        known.extend(observed.map(|rest| format!("{worker}.{rest}")));
    }
    let meant = names::suggestion(name, known.iter().map(String::as_str));
    let workers: Vec<&str> = experiment.workers.keys().map(String::as_str).collect();
    let workers = workers.join(", ");
    format!("nothing records {name}: expected vmstat.FIELD, or WORKER.FIELD of {workers}{meant}")
}

fn vmstat() -> BTreeSet<&'static str> {
    let lines = VMSTAT.iter().flat_map(|text| text.lines());
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.chain(OF_SERIES).collect()
}

/// Notes about fields of /proc/vmstat that no known kernel has. Another kernel may have them.
pub fn doubtful(at: Vec<Step>, metric: &str) -> Option<Error> {
    let (above, below) = parts(metric)?;
    let known = vmstat();
    let mut names = above.into_iter().chain(below.unwrap_or_default());
    let wrong = names.find_map(|name| {
        let field = name.strip_prefix("vmstat.")?;
        (!known.contains(field)).then_some(field)
    })?;
    let meant = names::suggestion(wrong, known.iter().copied());
    let message = format!("/proc/vmstat of the kernels that hotset knows has no {wrong}{meant}");
    Some(Error { at, message })
}
