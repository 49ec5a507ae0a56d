//! The state as OpenMetrics text, version 1.0. Made only when a client asks.
use crate::telemetry::state::State;
use std::fmt::Write;

/// A page of metrics.
pub struct Page(String);

impl Page {
    /// An empty page.
    pub fn new() -> Page {
        Page(String::with_capacity(8192))
    }

    /// Begins a metric that has several values.
    pub fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "# TYPE {name} {kind}\n# HELP {name} {help}.");
    }

    /// One value. `name` has the labels, and of a counter the suffix `_total`.
    pub fn value(&mut self, name: &str, value: f64) {
        let _ = match value {
            value if value == f64::INFINITY => writeln!(self.0, "{name} +Inf"),
            value if value.is_finite() => writeln!(self.0, "{name} {value}"),
            _ => writeln!(self.0, "{name} NaN"),
        };
    }

    /// A counter without labels.
    pub fn counter(&mut self, name: &str, help: &str, value: f64) {
        self.head(name, "counter", help);
        self.value(&format!("{name}_total"), value);
    }

    /// A gauge without labels.
    pub fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.head(name, "gauge", help);
        self.value(name, value);
    }

    /// The text with its end.
    pub fn finish(mut self) -> String {
        self.0.push_str("# EOF\n");
        self.0
    }
}

impl Default for Page {
    fn default() -> Self {
        Page::new()
    }
}

/// Writes the daemon's own metrics. `cpu_s`: CPU seconds of the process.
pub fn write(page: &mut Page, state: &State, dry_run: bool, cpu_s: f64) {
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
    free_pages(page, state);
    forecasts(page, state);
    knobs(page, state);
}

fn counts(page: &mut Page, state: &State) {
    let counts = &state.counts;
    page.counter("hotset_samples", "Samples taken", counts.samples as f64);
    page.head(
        "hotset_wakes",
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
    page.head("hotset_actions", "counter", "Actions carried out");
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

fn free_pages(page: &mut Page, state: &State) {
    let nodes = &state.summary.nodes;
    page.head("hotset_free_pages", "gauge", "Free pages of a node");
    for node in nodes {
        let name = format!("hotset_free_pages{{node=\"{}\"}}", node.id);
        page.value(&name, node.free as f64);
    }
    page.head(
        "hotset_watermark_pages",
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
                "hotset_watermark_pages{{node=\"{}\",mark=\"{mark}\"}}",
                node.id
            );
            page.value(&name, pages as f64);
        }
    }
}

fn forecasts(page: &mut Page, state: &State) {
    let nodes = &state.summary.nodes;
    let help = "Gross demand, pages a second";
    page.head("hotset_demand_pages_per_second", "gauge", help);
    for node in nodes {
        let name = format!("hotset_demand_pages_per_second{{node=\"{}\"}}", node.id);
        page.value(&name, node.demand);
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
