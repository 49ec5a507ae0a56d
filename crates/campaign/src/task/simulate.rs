//! The rows of a task.
use crate::file::{Origin, Trace};
use crate::plan::Plan;
use crate::table::Row;
use anyhow::{bail, Context, Result};
use names::shown;
use sim::sweep::results::TraceId;
use sim::Input;
use std::collections::HashMap;

/// Simulates the pairs of a task, in their order.
///
/// # Errors
/// The trace cannot be read, or is not the one that was planned.
pub(super) fn rows(plan: &Plan, number: usize) -> Result<Vec<Row>> {
    let task = &plan.tasks[number];
    let planned = &plan.traces[task.trace];
    let trace = load(plan, planned)?;
    let input = Input::of(&trace).with_context(|| planned.name.clone())?;
    let id = TraceId::of(&planned.name, &input).without(&trace.skipped);
    let (choices, sizes) = (plan.choices()?, plan.asked()?);
    // Sizes of a small trace are often of equally many objects.
    let mut known: HashMap<(usize, u64), u64> = HashMap::new();
    let mut rows = Vec::new();
    for pair in plan.pairs_of(task) {
        let (policy, size) = (pair / sizes.len(), pair % sizes.len());
        let objects = sizes[size].objects(id.objects, plan.object_bytes);
        let misses = match known.get(&(policy, objects)) {
            Some(&misses) => misses,
            None => {
                let running = choices[policy].build(&input, objects);
                let mut running = running.with_context(|| plan.policies[policy].clone())?;
                let misses = sim::run(running.as_mut(), &input, &mut |_| {}).misses;
                known.insert((policy, objects), misses);
                misses
            }
        };
        rows.push(Row {
            trace: planned.name.clone(),
            policy: plan.policies[policy].clone(),
            size: plan.sizes[size].clone(),
            size_objects: objects,
            requests: id.requests,
            objects: id.objects,
            misses,
            digest: id.digest.clone(),
            malformed_left_out: id.malformed_left_out,
            writes_left_out: id.writes_left_out,
        });
    }
    Ok(rows)
}

fn load(plan: &Plan, planned: &Trace) -> Result<trace::Trace> {
    match &planned.origin {
        Origin::Generated { count, seed, .. } => {
            let spec = planned.spec().context("no rule")?;
            let made = spec.and_then(|spec| spec.trace(&planned.name, *count, *seed));
            made.map_err(|wrong| anyhow::anyhow!("{}: {wrong}", planned.name))
        }
        Origin::File { bytes, reading } => {
            let path = plan.base.join(&planned.name);
            let now = std::fs::metadata(&path).map(|about| about.len());
            if now.as_ref().is_ok_and(|now| now != bytes) {
                let now = now.unwrap_or_default();
                bail!(
                    "{}: has {now} bytes, and {bytes} when the campaign was planned; put the file back, or begin again in another folder",
                    shown(&path)
                );
            }
            let options = reading.options(planned.limit).map_err(anyhow::Error::msg)?;
            Ok(trace::open(&path, &options)?)
        }
    }
}
