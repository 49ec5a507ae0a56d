//! `hotset status`: what the daemon measures, forecasts, has done, and why.
use anyhow::{bail, Context, Result};
use clap::Args;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{IsTerminal, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Args)]
#[command(
    after_help = "Exit status: 0; 1 when no daemon answers.\n\nExamples:\n  \
    hotset status\n  \
    hotset status --watch\n  \
    hotset status --json | jq '.nodes[].time_to_low_s'"
)]
pub struct StatusArgs {
    /// As JSON, one document a line
    #[arg(long)]
    json: bool,
    /// Again and again, every so many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2")]
    watch: Option<f64>,
    /// The daemon's status socket
    #[arg(long, value_name = "PATH", default_value = "/run/hotset/status.sock")]
    socket: PathBuf,
}

/// Asks the daemon and shows what it says.
///
/// # Errors
/// When what answers is not hotsetd, or the output cannot be written.
pub fn run(args: &StatusArgs) -> Result<ExitCode> {
    let mut out = std::io::stdout().lock();
    let interval = match args.watch {
        None => None,
        Some(seconds) if (0.1..=86_400.0).contains(&seconds) => {
            Some(Duration::from_secs_f64(seconds))
        }
        Some(seconds) => bail!("--watch {seconds}: 0.1 to 86400 seconds"),
    };
    let clear = interval.is_some() && !args.json && out.is_terminal();
    loop {
        let document = match ask(&args.socket) {
            Ok(document) => document,
            Err(error) => {
                let place = args.socket.display();
                eprintln!(
                    "hotset: no daemon answers at {place} ({error}); systemctl start hotsetd"
                );
                return Ok(ExitCode::FAILURE);
            }
        };
        let status: Value = serde_json::from_str(&document)
            .with_context(|| format!("what answers at {} is no hotsetd", args.socket.display()))?;
        if clear {
            write!(out, "\x1b[H\x1b[2J")?;
        }
        match args.json {
            true => writeln!(out, "{}", document.trim_end())?,
            false => write!(out, "{}", in_words(&status))?,
        }
        out.flush()?;
        let Some(interval) = interval else {
            return Ok(ExitCode::SUCCESS);
        };
        if !clear && !args.json {
            writeln!(out)?;
        }
        std::thread::sleep(interval);
    }
}

fn ask(socket: &Path) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    // The daemon answers at once or not at all.
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut document = String::new();
    stream.read_to_string(&mut document)?;
    Ok(document)
}

/// The document for a person. Whatever is missing is left out: the daemon may be of another version.
fn in_words(status: &Value) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_words(&mut text, status);
    text
}

fn write_words(to: &mut String, status: &Value) -> std::fmt::Result {
    let page = status["page_size"].as_f64().unwrap_or(4096.0);
    let size = |pages: &Value| bytes(pages.as_f64().unwrap_or(0.0) * page);
    write!(
        to,
        "hotsetd {}, pid {}, aggressiveness {}",
        status["version"].as_str().unwrap_or("?"),
        status["pid"],
        status["aggressiveness"],
    )?;
    if status["dry_run"] == true {
        write!(to, ", DRY RUN: nothing is written")?;
    }
    let counts = &status["counts"];
    writeln!(
        to,
        "\nup {}, {} samples, {:.2} s of CPU; next look in {:.1} s",
        span(&status["uptime_s"]),
        counts["samples"],
        status["cpu_s"].as_f64().unwrap_or(0.0),
        status["next_sample_s"].as_f64().unwrap_or(0.0),
    )?;
    for node in list(&status["nodes"]) {
        writeln!(
            to,
            "\nNode {}: {} free; watermarks {} min, {} low, {} high",
            node["id"],
            size(&node["free_pages"]),
            size(&node["min"]),
            size(&node["low"]),
            size(&node["high"]),
        )?;
        write!(
            to,
            "  demand {}/s (standard error {}/s); ",
            size(&node["demand_pages_per_s"]),
            size(&node["demand_error"]),
        )?;
        match node["time_to_low_s"].as_f64() {
            Some(_) => writeln!(
                to,
                "at low in {}, in {} at the earliest",
                span(&node["time_to_low_s"]),
                span(&node["earliest_low_s"]),
            )?,
            None => writeln!(to, "not falling towards low")?,
        }
        let order = &node["order"];
        if order["order"].as_u64().is_some_and(|order| order > 0) {
            write!(
                to,
                "  {} free in blocks of order {} and above; ",
                size(&order["available_pages"]),
                order["order"],
            )?;
            match order["time_to_exhaustion_s"].as_f64() {
                Some(_) => writeln!(to, "none in {}", span(&order["time_to_exhaustion_s"]))?,
                None => writeln!(to, "not falling")?,
            }
        }
    }
    let (marks, rates) = (&status["watermarks"], &status["rates"]);
    writeln!(
        to,
        "\nGap: {} taken while kswapd reacts; vm.watermark_scale_factor wanted {}, bounds {} to {}, \
         correction {:.2}",
        size(&marks["drawdown_pages"]),
        marks["wanted"],
        marks["floor"],
        marks["cap"],
        marks["correction"].as_f64().unwrap_or(1.0),
    )?;
    writeln!(
        to,
        "Rates: demand {}/s; reclaim by kswapd {}/s (it can {}/s), direct {}/s; refaults {}/s; \
         {:.1} stalls/s",
        size(&rates["demand_pages_per_s"]),
        size(&rates["kswapd_pages_per_s"]),
        size(&rates["kswapd_capacity_pages_per_s"]),
        size(&rates["direct_pages_per_s"]),
        size(&rates["refaults_per_s"]),
        rates["allocstalls_per_s"].as_f64().unwrap_or(0.0),
    )?;
    crate::status_protect::write_words(to, &status["protect"])?;
    writeln!(to, "\nKnobs")?;
    for knob in list(&status["knobs"]) {
        let name = knob["name"].as_str().unwrap_or("?");
        let value = knob["value"].to_string();
        write!(to, "  {name:<32} {}", value.trim_matches('"'))?;
        match knob["original"].as_str() {
            Some(original) => writeln!(to, " (by hotsetd; {original} before)")?,
            None => writeln!(to)?,
        }
    }
    writeln!(
        to,
        "\nDone: {} watermark writes, {} reclaims ({}), {} compactions, {} other writes, \
         {} warnings, {} yields, {} failures",
        counts["watermark_writes"],
        counts["reclaims"],
        bytes(counts["reclaimed_bytes"].as_f64().unwrap_or(0.0)),
        counts["compactions"],
        counts["other_writes"],
        counts["warnings"],
        counts["yields"],
        counts["failures"],
    )?;
    for action in list(&status["actions"]).iter().rev().take(10).rev() {
        let field = |name: &str| action[name].as_str().unwrap_or("");
        writeln!(
            to,
            "  {}  {} [{}]",
            clock(action["at_unix_s"].as_f64().unwrap_or(0.0)),
            field("action"),
            field("outcome"),
        )?;
        if !field("reason").is_empty() {
            writeln!(to, "      {}", field("reason"))?;
        }
    }
    Ok(())
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A size with its binary unit.
pub(crate) fn bytes(bytes: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes;
    let mut unit = 0;
    while value.abs() >= 1024.0 && unit < units.len() - 1 {
        value /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{value:.0} B"),
        _ => format!("{value:.1} {}", units[unit]),
    }
}

/// A span of time in its two largest units.
fn span(seconds: &Value) -> String {
    let Some(seconds) = seconds.as_f64() else {
        return "?".into();
    };
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        3600..86_400 => format!("{} h {} min", whole / 3600, whole / 60 % 60),
        _ => format!("{} d {} h", whole / 86_400, whole / 3600 % 24),
    }
}

/// Local time of day.
pub(crate) fn clock(unix_s: f64) -> String {
    let seconds = unix_s as libc::time_t;
    // SAFETY: an all-zero tm is a value; localtime_r fills it and keeps no pointer.
    let time = unsafe {
        let mut time: libc::tm = std::mem::zeroed();
        libc::localtime_r(&seconds, &mut time);
        time
    };
    format!("{:02}:{:02}:{:02}", time.tm_hour, time.tm_min, time.tm_sec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sizes_and_spans() {
        assert_eq!(bytes(0.0), "0 B");
        assert_eq!(bytes(4096.0 * 1024.0), "4.0 MiB");
        assert_eq!(bytes(-2048.0), "-2.0 KiB");
        assert_eq!(span(&json!(12.34)), "12.3 s");
        assert_eq!(span(&json!(3725)), "1 h 2 min");
        assert_eq!(span(&json!(null)), "?");
    }

    #[test]
    fn a_document_of_another_version_is_shown_as_far_as_it_goes() {
        let text = in_words(&json!({"version": "9", "nodes": [{"id": 3}], "knobs": 7}));
        assert!(text.starts_with("hotsetd 9, pid null"), "{text}");
        assert!(text.contains("Node 3: 0 B free"), "{text}");
    }

    #[test]
    fn what_was_done_is_told_with_its_reason() {
        let text = in_words(&json!({
            "version": "1", "knobs": [
                {"name": "vm.watermark_scale_factor", "value": 120, "original": "10"},
            ],
            "actions": [{"at_unix_s": 0.0, "action": "vm.watermark_scale_factor = 120",
                         "reason": "because", "outcome": "written, was 10"}],
        }));
        assert!(text.contains("120 (by hotsetd; 10 before)"), "{text}");
        assert!(text.contains("watermark_scale_factor = 120 [written, was 10]\n      because\n"));
    }
}
