//! The status as text for a person.
use super::format::{span, time_of_day};
use super::protection;
use crate::shell::write_wrapped;
use status::{Action, Counts, FreePages, Knob, Node, Rates, Status};
use std::fmt::{Result, Write};
use units::format_bytes;

/// Bytes of a page when the daemon does not report them.
const USUAL_PAGE: u64 = 4096;
/// Actions shown.
const ACTIONS: usize = 10;

/// The whole text.
pub fn text(status: &Status) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut text, status);
    text
}

fn write(to: &mut String, status: &Status) -> Result {
    let page_size = status.page_size.unwrap_or(USUAL_PAGE) as f64;
    let pages = |pages: f64| format_bytes(pages * page_size);
    write_head(to, status)?;
    for node in &status.nodes {
        write_node(to, node, &pages)?;
    }
    write_rates(to, &status.watermarks, &status.rates, &pages)?;
    if let Some(protect) = &status.protect {
        protection::write(to, protect)?;
    }
    write_knobs(to, &status.knobs)?;
    write_counts(to, &status.counts)?;
    let first = status.actions.len().saturating_sub(ACTIONS);
    for action in &status.actions[first..] {
        write_action(to, action)?;
    }
    Ok(())
}

fn write_head(to: &mut String, status: &Status) -> Result {
    let pid = status.pid.map_or("?".into(), |pid| pid.to_string());
    write!(
        to,
        "hotsetd {}, pid {pid}, aggressiveness {}",
        status.version, status.aggressiveness,
    )?;
    if status.dry_run {
        write!(to, ", DRY RUN: nothing is written")?;
    }
    writeln!(
        to,
        "\nup {}, {} samples, {:.2} s of CPU; next sample in {:.1} s",
        span(status.uptime_s),
        status.counts.samples,
        status.cpu_s,
        status.next_sample_s,
    )
}

fn write_node(to: &mut String, node: &Node, pages: &dyn Fn(f64) -> String) -> Result {
    writeln!(
        to,
        "\nNode {}: {} free",
        node.id,
        pages(node.free_pages as f64)
    )?;
    writeln!(
        to,
        "  watermarks {} min, {} low, {} high",
        pages(node.min as f64),
        pages(node.low as f64),
        pages(node.high as f64),
    )?;
    writeln!(
        to,
        "  demand {}/s (standard error {}/s)",
        pages(node.demand_pages_per_s),
        pages(node.demand_error),
    )?;
    match node.time_to_low_s {
        Some(_) => writeln!(
            to,
            "  at low in {}, in {} at the earliest",
            span(node.time_to_low_s),
            span(node.earliest_low_s),
        )?,
        None => writeln!(to, "  not falling towards low")?,
    }
    let order = &node.order;
    if order.order == 0 {
        return Ok(());
    }
    write!(
        to,
        "  {} free in blocks of order {} and above; ",
        pages(order.available_pages as f64),
        order.order,
    )?;
    match order.time_to_exhaustion_s {
        Some(_) => writeln!(to, "none in {}", span(order.time_to_exhaustion_s)),
        None => writeln!(to, "not falling"),
    }
}

fn write_rates(
    to: &mut String,
    gap: &FreePages,
    rates: &Rates,
    pages: &dyn Fn(f64) -> String,
) -> Result {
    writeln!(to, "\nGap between min and low")?;
    writeln!(
        to,
        "  {} are taken while kswapd reacts",
        pages(gap.drawdown_pages)
    )?;
    writeln!(
        to,
        "  vm.watermark_scale_factor: wanted {}, bounds {} to {}",
        gap.wanted, gap.floor, gap.cap,
    )?;
    writeln!(to, "\nEach second")?;
    writeln!(
        to,
        "  demand {}, refaults {}, {:.1} allocation stalls",
        pages(rates.demand_pages_per_s),
        pages(rates.refaults_per_s),
        rates.allocstalls_per_s,
    )?;
    writeln!(
        to,
        "  reclaim by kswapd {} (it can {}), direct {}",
        pages(rates.kswapd_pages_per_s),
        pages(rates.kswapd_capacity_pages_per_s),
        pages(rates.direct_pages_per_s),
    )
}

fn write_knobs(to: &mut String, knobs: &[Knob]) -> Result {
    writeln!(to, "\nKnobs")?;
    for knob in knobs {
        let value = knob.value.as_ref();
        let value = value.map_or("?".into(), ToString::to_string);
        write!(to, "  {:<32} {value}", knob.name)?;
        match &knob.original {
            Some(original) => writeln!(to, " (by hotsetd; {original} before)")?,
            None => writeln!(to)?,
        }
    }
    Ok(())
}

fn write_counts(to: &mut String, counts: &Counts) -> Result {
    writeln!(to, "\nDone")?;
    let done = format!(
        "{} watermark writes, {} reclaims ({}), {} compactions, {} other writes, {} warnings, \
         {} yields, {} failures",
        counts.watermark_writes,
        counts.reclaims,
        format_bytes(counts.reclaimed_bytes as f64),
        counts.compactions,
        counts.other_writes,
        counts.warnings,
        counts.yields,
        counts.failures,
    );
    write_wrapped(to, "  ", &done)
}

fn write_action(to: &mut String, past: &Action) -> Result {
    let time = time_of_day(past.at_unix_s);
    writeln!(to, "  {time}  {} [{}]", past.action, past.outcome)?;
    write_wrapped(to, "      ", &past.reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(document: &str) -> String {
        text(&serde_json::from_str(document).unwrap())
    }

    #[test]
    fn a_document_of_another_version_is_shown_as_far_as_it_goes() {
        let text = shown(r#"{"version": "9", "nodes": [{"id": 3}], "knobs": 7}"#);
        assert!(text.starts_with("hotsetd 9, pid ?"), "{text}");
        assert!(text.contains("Node 3: 0 B free"), "{text}");
    }

    #[test]
    fn every_line_fits_a_terminal_of_80_columns() {
        let text = shown(
            r#"{"version": "1.2.3", "pid": 4194304, "nodes": [{"id": 12, "free_pages": 260000000,
                "min": 260000, "low": 260000, "high": 260000, "demand_pages_per_s": -260000,
                "demand_error": 260000, "time_to_low_s": 86399, "earliest_low_s": 86399,
                "order": {"order": 10, "available_pages": 260000000, "time_to_exhaustion_s": 86399}}],
            "watermarks": {"drawdown_pages": 260000, "wanted": 3000, "floor": 1000, "cap": 3000},
            "rates": {"demand_pages_per_s": -260000, "kswapd_pages_per_s": 260000,
                "kswapd_capacity_pages_per_s": 260000, "direct_pages_per_s": 260000,
                "refaults_per_s": 260000, "allocstalls_per_s": 99999},
            "counts": {"watermark_writes": 9999, "reclaims": 9999, "reclaimed_bytes": 1000000000000,
                "compactions": 9999, "other_writes": 9999, "warnings": 9999, "yields": 9999},
            "protect": {"enforcer": "hotsetd", "clean_bytes": 1073741824000, "clean_min_bytes": 1000000000000,
                "clean_low_bytes": 1000000000000, "anon_bytes": 1073741824000, "anon_min_bytes": 1000000000000,
                "steering": "admin", "kills": "dry run", "other_killers": ["systemd-oomd"]},
            "actions": [{"at_unix_s": 0.0, "action": "vm.watermark_scale_factor = 120",
                "reason": "a reason that is longer than a line of a terminal is wrapped between two of its words",
                "outcome": "written, was 10"}]}"#,
        );
        let long: Vec<&str> = text
            .lines()
            .filter(|line| line.chars().count() > 80)
            .collect();
        assert!(long.is_empty(), "{long:#?}");
        assert!(text.contains("order 10"), "{text}");
    }

    #[test]
    fn an_action_is_shown_with_its_outcome_and_reason() {
        let text = shown(
            r#"{"version": "1", "knobs": [
                {"name": "vm.watermark_scale_factor", "value": 120, "original": "10"}],
            "actions": [{"at_unix_s": 0.0, "action": "vm.watermark_scale_factor = 120",
                "reason": "because", "outcome": "written, was 10"}]}"#,
        );
        assert!(text.contains("120 (by hotsetd; 10 before)"), "{text}");
        assert!(text.contains("watermark_scale_factor = 120 [written, was 10]\n      because\n"));
    }
}
