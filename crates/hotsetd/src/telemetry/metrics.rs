//! The state in Prometheus' text format, version 0.0.4, which every collector reads. Made only when a client asks.
//!
//! Names follow Prometheus: bytes and seconds, `_total` for what only grows.
use crate::telemetry::state::State;
use std::fmt::Write;

/// A page of metrics.
pub struct Page(String);

impl Page {
    /// An empty page.
    pub fn new() -> Page {
        Page(String::with_capacity(8192))
    }

    /// Begins a metric that has several values. The name of a counter ends with `_total`.
    pub fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}.\n# TYPE {name} {kind}");
    }

    /// One value. `name` has the labels.
    pub fn value(&mut self, name: &str, value: f64) {
        let _ = match value {
            value if value == f64::INFINITY => writeln!(self.0, "{name} +Inf"),
            value if value.is_finite() => writeln!(self.0, "{name} {value}"),
            _ => writeln!(self.0, "{name} NaN"),
        };
    }

    /// A counter without labels. `name` lacks the suffix `_total`.
    pub fn counter(&mut self, name: &str, help: &str, value: f64) {
        let name = format!("{name}_total");
        self.head(&name, "counter", help);
        self.value(&name, value);
    }

    /// A gauge without labels.
    pub fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.head(name, "gauge", help);
        self.value(name, value);
    }

    /// The text.
    pub fn finish(self) -> String {
        self.0
    }
}

impl Default for Page {
    fn default() -> Self {
        Page::new()
    }
}

/// Writes the daemon's own metrics. `cpu_s`: CPU seconds of the process; `page_size`: bytes.
pub fn write(page: &mut Page, state: &State, dry_run: bool, cpu_s: f64, page_size: u64) {
    page.head("hotset_build_info", "gauge", "1, with the daemon's version");
    let version = env!("CARGO_PKG_VERSION");
    page.value(&format!("hotset_build_info{{version=\"{version}\"}}"), 1.0);
    counts(page, state);
    page.counter("hotset_cpu_seconds", "CPU time of the daemon", cpu_s);
    page.gauge(
        "hotset_dry_run",
        "1: the daemon writes nothing (dry run)",
        f64::from(u8::from(dry_run)),
    );
    page.gauge(
        "hotset_next_sample_seconds",
        "Sleep after the last sample, in seconds",
        state.next_sample_s,
    );
    let page_size = page_size as f64;
    free_pages(page, state, page_size);
    forecasts(page, state, page_size);
    knobs(page, state);
}

fn counts(page: &mut Page, state: &State) {
    let counts = &state.counts;
    page.counter("hotset_samples", "Samples taken", counts.samples as f64);
    page.head(
        "hotset_wakes_total",
        "counter",
        "Times that the daemon woke to sample, by cause",
    );
    for (cause, count) in [
        ("timer", counts.wakes_timer),
        ("pressure", counts.wakes_pressure),
    ] {
        let name = format!("hotset_wakes_total{{cause=\"{cause}\"}}");
        page.value(&name, count as f64);
    }
    page.head("hotset_actions_total", "counter", "Actions carried out");
    for (action, count) in [
        ("watermark_scale_factor", counts.watermark_writes),
        ("reclaim", counts.reclaims),
        ("compact", counts.compactions),
        ("other_knob", counts.other_writes),
        ("warning", counts.warnings),
    ] {
        let name = format!("hotset_actions_total{{action=\"{action}\"}}");
        page.value(&name, count as f64);
    }
    for (name, help, count) in [
        (
            "hotset_reclaimed_bytes",
            "Bytes reclaimed ahead of a crossing",
            counts.reclaimed_bytes,
        ),
        (
            "hotset_yields",
            "Knobs left to the administrator",
            counts.yields,
        ),
        ("hotset_failures", "Actions that failed", counts.failures),
        (
            "hotset_unreadable_files",
            "Kernel files that could not be read",
            counts.unreadable_files,
        ),
    ] {
        page.counter(name, help, count as f64);
    }
}

fn free_pages(page: &mut Page, state: &State, page_size: f64) {
    let nodes = &state.summary.nodes;
    page.head("hotset_free_bytes", "gauge", "Free memory of a node");
    for node in nodes {
        let name = format!("hotset_free_bytes{{node=\"{}\"}}", node.id);
        page.value(&name, node.free as f64 * page_size);
    }
    page.head(
        "hotset_watermark_bytes",
        "gauge",
        "Watermarks of a node, its zones summed",
    );
    for node in nodes {
        for (mark, pages) in [
            ("min", node.watermarks.min),
            ("low", node.watermarks.low),
            ("high", node.watermarks.high),
        ] {
            let name = format!(
                "hotset_watermark_bytes{{node=\"{}\",mark=\"{mark}\"}}",
                node.id
            );
            page.value(&name, pages as f64 * page_size);
        }
    }
}

fn forecasts(page: &mut Page, state: &State, page_size: f64) {
    let nodes = &state.summary.nodes;
    let help = "Memory that allocations take a second, before reclaim gives any back";
    page.head("hotset_demand_bytes_per_second", "gauge", help);
    for node in nodes {
        let name = format!("hotset_demand_bytes_per_second{{node=\"{}\"}}", node.id);
        page.value(&name, node.demand * page_size);
    }
    let help = "Expected time until free pages are at the low watermark; infinite: not falling";
    page.head("hotset_time_to_low_seconds", "gauge", help);
    for node in nodes {
        let name = format!("hotset_time_to_low_seconds{{node=\"{}\"}}", node.id);
        page.value(&name, node.time_to_low_s.unwrap_or(f64::INFINITY));
    }
    let help = "Expected time until no block of the huge order is left; infinite: not falling";
    page.head("hotset_time_to_fragmentation_seconds", "gauge", help);
    for node in nodes {
        let name = format!(
            "hotset_time_to_fragmentation_seconds{{node=\"{}\"}}",
            node.id
        );
        let seconds = node.order.time_to_exhaustion_s;
        page.value(&name, seconds.unwrap_or(f64::INFINITY));
    }
}

fn knobs(page: &mut Page, state: &State) {
    let wanted = f64::from(state.summary.free_pages.wanted);
    let help = "vm.watermark_scale_factor that the forecast asks for";
    page.gauge("hotset_watermark_scale_factor_wanted", help, wanted);
    page.head(
        "hotset_knob",
        "gauge",
        "Values of the knobs at the last sample",
    );
    for knob in state.knobs.iter() {
        if let Some(value) = knob.value {
            let name = format!("hotset_knob{{name=\"{}\"}}", knob.name);
            page.value(&name, f64::from(value));
        }
    }
}
