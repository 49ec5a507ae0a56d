//! The state as JSON (`hotset status`) and as OpenMetrics. Only made when somebody asks.
use crate::harden;
use crate::journal::Journal;
use crate::state::State;
use serde_json::{json, Value};
use std::fmt::Write;

/// The status document. Numbers are in the units that their names say; pages are of the machine's
/// page size.
pub fn status(state: &State, policy: &policy::Policy, journal: &Journal, dry: bool) -> Value {
    let config = policy.config();
    let now_s = harden::now_s();
    let summary = &state.summary;
    let nodes: Vec<Value> = summary
        .nodes
        .iter()
        .map(|node| {
            json!({
                "id": node.id, "free_pages": node.free,
                "min": node.min, "low": node.low, "high": node.high,
                "demand_pages_per_s": node.demand, "demand_error": node.demand_error,
                "time_to_low_s": node.time_to_low_s, "earliest_low_s": node.earliest_low_s,
                "exhaustion_predicted": node.predicted,
                "order": {
                    "order": node.order.order, "available_pages": node.order.available,
                    "slope_pages_per_s": node.order.slope,
                    "time_to_exhaustion_s": node.order.time_to_exhaustion_s,
                    "exhaustion_predicted": node.order.predicted,
                },
            })
        })
        .collect();
    let knobs: Vec<Value> = state
        .knobs
        .iter()
        .filter(|knob| knob.value.is_some())
        .map(|knob| {
            let entry = journal.entry(knob.name);
            json!({
                "name": knob.name, "value": knob.value,
                "original": entry.map(|entry| entry.original.as_str()),
                "set_by_hotsetd": entry.is_some(),
            })
        })
        .collect();
    // Those that the administrator's tunables set.
    let more = journal.entries().iter().filter(|entry| {
        let name = entry.knob.as_str();
        !state.knobs.iter().any(|knob| knob.name == name)
    });
    let more = more.map(|entry| {
        json!({
            "name": entry.knob.as_str(),
            "value": entry.ours.iter().flatten().last().map(|ours| ours.as_str()),
            "original": entry.original.as_str(), "set_by_hotsetd": true,
        })
    });
    let knobs: Vec<Value> = knobs.into_iter().chain(more).collect();
    let actions: Vec<Value> = state
        .deeds()
        .map(|deed| {
            json!({
                "at_unix_s": deed.at_unix_s, "action": deed.what.as_str(),
                "reason": deed.reason.as_str(), "outcome": deed.outcome.as_str(),
            })
        })
        .collect();
    let (free, rates, counts) = (&summary.free_pages, &summary.rates, &state.counts);
    let modules = &config.modules;
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "page_size": policy.machine().page_size,
        "dry_run": dry,
        "aggressiveness": config.aggressiveness,
        "uptime_s": now_s - state.started_s,
        "cpu_s": harden::cpu_s(),
        "sample_age_s": now_s - state.sampled_s,
        "next_sample_s": state.next_sample_s,
        "modules": {
            "free_pages": modules.free_pages, "fragmentation": modules.fragmentation,
            "negative_dentries": modules.negative_dentries,
            "object_caching": modules.object_caching,
            "leak_check": modules.leak_check, "tunables": modules.tunables,
        },
        "nodes": nodes,
        "watermarks": {
            "drawdown_pages": free.drawdown_pages, "wanted": free.wanted, "floor": free.floor,
            "cap": free.cap, "correction": free.correction,
        },
        "rates": {
            "demand_pages_per_s": rates.demand, "kswapd_pages_per_s": rates.kswapd,
            "direct_pages_per_s": rates.direct, "proactive_pages_per_s": rates.proactive,
            "kswapd_capacity_pages_per_s": rates.kswapd_capacity,
            "refaults_per_s": rates.refaults, "allocstalls_per_s": rates.allocstall,
            "compacted_pages_per_s": rates.compacted,
        },
        "knobs": knobs,
        "counts": {
            "samples": counts.samples, "wakes_timer": counts.wakes_timer,
            "wakes_pressure": counts.wakes_pressure,
            "watermark_writes": counts.watermark_writes, "reclaims": counts.reclaims,
            "reclaimed_bytes": counts.reclaimed_bytes, "compactions": counts.compactions,
            "other_writes": counts.other_writes, "warnings": counts.warnings,
            "yields": counts.yields, "failures": counts.failures,
            "unreadable_files": counts.unreadable,
        },
        "actions": actions,
    })
}

/// The metrics, in the OpenMetrics text format 1.0.
pub fn metrics(state: &State, dry: bool) -> String {
    let mut page = Page(String::with_capacity(4096));
    let counts = &state.counts;
    page.counter("hotset_samples", "Samples taken", counts.samples as f64);
    page.head(
        "hotset_wakes",
        "counter",
        "Times that the daemon woke to sample, by cause",
    );
    page.value(
        "hotset_wakes_total{cause=\"timer\"}",
        counts.wakes_timer as f64,
    );
    page.value(
        "hotset_wakes_total{cause=\"pressure\"}",
        counts.wakes_pressure as f64,
    );
    page.head("hotset_actions", "counter", "Actions carried out");
    for (action, count) in [
        ("watermark_scale_factor", counts.watermark_writes),
        ("reclaim", counts.reclaims),
        ("compact", counts.compactions),
        ("other_knob", counts.other_writes),
        ("warning", counts.warnings),
    ] {
        page.value(
            &format!("hotset_actions_total{{action=\"{action}\"}}"),
            count as f64,
        );
    }
    let reclaimed = counts.reclaimed_bytes as f64;
    page.counter(
        "hotset_reclaimed_bytes",
        "Bytes reclaimed ahead of a crossing",
        reclaimed,
    );
    page.counter(
        "hotset_yields",
        "Knobs left to the administrator",
        counts.yields as f64,
    );
    page.counter(
        "hotset_failures",
        "Actions that failed",
        counts.failures as f64,
    );
    let unreadable = counts.unreadable as f64;
    page.counter(
        "hotset_unreadable_files",
        "Kernel files that gave nothing",
        unreadable,
    );
    page.counter(
        "hotset_cpu_seconds",
        "CPU time of the daemon",
        harden::cpu_s(),
    );
    page.gauge(
        "hotset_dry_run",
        "1: nothing is written",
        f64::from(u8::from(dry)),
    );
    page.gauge(
        "hotset_next_sample_seconds",
        "Sleep after the last sample",
        state.next_sample_s,
    );

    let nodes = &state.summary.nodes;
    page.head("hotset_free_pages", "gauge", "Free pages of a node");
    for node in nodes {
        page.value(
            &format!("hotset_free_pages{{node=\"{}\"}}", node.id),
            node.free as f64,
        );
    }
    page.head(
        "hotset_watermark_pages",
        "gauge",
        "Watermarks of a node, its zones summed",
    );
    for node in nodes {
        for (mark, pages) in [("min", node.min), ("low", node.low), ("high", node.high)] {
            let name = format!(
                "hotset_watermark_pages{{node=\"{}\",mark=\"{mark}\"}}",
                node.id
            );
            page.value(&name, pages as f64);
        }
    }
    let what = "Gross demand, pages a second";
    page.head("hotset_demand_pages_per_second", "gauge", what);
    for node in nodes {
        let name = format!("hotset_demand_pages_per_second{{node=\"{}\"}}", node.id);
        page.value(&name, node.demand);
    }
    let what = "Expected time until free pages are at the low watermark; infinite: not falling";
    page.head("hotset_time_to_low_seconds", "gauge", what);
    for node in nodes {
        let name = format!("hotset_time_to_low_seconds{{node=\"{}\"}}", node.id);
        page.value(&name, node.time_to_low_s.unwrap_or(f64::INFINITY));
    }
    let what = "Expected time until no block of the huge order is left; infinite: not falling";
    page.head("hotset_time_to_fragmentation_seconds", "gauge", what);
    for node in nodes {
        let name = format!(
            "hotset_time_to_fragmentation_seconds{{node=\"{}\"}}",
            node.id
        );
        page.value(
            &name,
            node.order.time_to_exhaustion_s.unwrap_or(f64::INFINITY),
        );
    }
    let wanted = f64::from(state.summary.free_pages.wanted);
    let what = "vm.watermark_scale_factor as the forecast would have it";
    page.gauge("hotset_watermark_scale_factor_wanted", what, wanted);
    page.head("hotset_knob", "gauge", "Knobs as they stand");
    for knob in state.knobs.iter() {
        if let Some(value) = knob.value {
            page.value(
                &format!("hotset_knob{{name=\"{}\"}}", knob.name),
                f64::from(value),
            );
        }
    }
    page.0.push_str("# EOF\n");
    page.0
}

struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, what: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "# TYPE {name} {kind}\n# HELP {name} {what}.");
    }

    fn value(&mut self, name: &str, value: f64) {
        let _ = match value {
            value if value == f64::INFINITY => writeln!(self.0, "{name} +Inf"),
            value if value.is_finite() => writeln!(self.0, "{name} {value}"),
            _ => writeln!(self.0, "{name} NaN"),
        };
    }

    fn counter(&mut self, name: &str, what: &str, value: f64) {
        self.head(name, "counter", what);
        self.value(&format!("{name}_total"), value);
    }

    fn gauge(&mut self, name: &str, what: &str, value: f64) {
        self.head(name, "gauge", what);
        self.value(name, value);
    }
}
