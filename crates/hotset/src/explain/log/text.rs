//! The story of a log on a terminal.
use super::events::events;
use super::source::Log;
use super::time::shown;
use crate::shell::{write_wrapped, COLUMNS};
use anstyle::Style;
use explain::klog::incident::Incident;
use explain::klog::judge::judge;
use explain::klog::words::{advice, facts, headline, places, unknown};
use explain::words::name_of;
use names::escaped;
use std::fmt::{Result, Write};
use units::{counted, format_bytes};

/// Holders that are listed, and other events.
const ROWS: usize = 8;

pub fn story(log: &Log, incident: &Incident) -> String {
    let bold = Style::new().bold();
    let (mut head, mut rest) = (String::new(), String::new());
    // Writing to a String cannot fail.
    let _ = write_wrapped(&mut head, "", &format!("{}.", headline(incident)));
    let _ = write(&mut rest, log, incident);
    // Programs name themselves: their names must not control the terminal.
    format!("{bold}{}{bold:#}{}", escaped(&head), escaped(&rest))
}

fn write(to: &mut String, log: &Log, incident: &Incident) -> Result {
    for advice in advice(incident) {
        write_wrapped(to, "", &format!("{}.", advice.text))?;
        if !advice.command.is_empty() {
            // Never wrapped, so that it can be copied.
            writeln!(to, "    {}", advice.command)?;
        }
    }
    writeln!(to)?;
    let from = format!(
        "{}, from the kernel's log ({}).",
        shown(&incident.at()),
        log.source
    );
    write_wrapped(to, "", &from)?;
    if let Some(report) = incident.fullest() {
        for fact in facts(report) {
            write_wrapped(to, "", &fact)?;
        }
        holders(to, incident)?;
        let places = places(report);
        if !places.is_empty() {
            writeln!(to, "\nWhere the machine's memory was:")?;
        }
        for (name, bytes) in places {
            writeln!(to, "{:>10}  {name}", format_bytes(bytes as f64))?;
        }
    }
    others(to, incident)?;
    writeln!(to, "\nWhat the log cannot tell:")?;
    for sentence in unknown(incident, log.found.lost) {
        write_wrapped(to, "  ", &sentence)?;
    }
    write_wrapped(
        to,
        "",
        "hotsetd records the first three: sudo systemctl enable --now hotsetd",
    )
}

fn holders(to: &mut String, incident: &Incident) -> Result {
    let Some(report) = incident.fullest() else {
        return Ok(());
    };
    let holders = judge(report).holders;
    if holders.is_empty() {
        return Ok(());
    }
    writeln!(
        to,
        "\nWho had memory at the kill:\n{:>10} {:>10}  who",
        "had", "in swap"
    )?;
    for holder in holders.iter().take(ROWS) {
        let swapped = match holder.swapped {
            0 => String::new(),
            bytes => format_bytes(bytes as f64),
        };
        let had = format_bytes(holder.bytes as f64);
        writeln!(to, "{had:>10} {swapped:>10}  {}", name_of(&holder.who))?;
    }
    Ok(())
}

/// Further kills, those by programs, and tasks that hung.
fn others(to: &mut String, incident: &Incident) -> Result {
    let all = events(incident);
    if all.len() < 2 && incident.fullest().is_some() {
        return Ok(());
    }
    writeln!(to, "\nBy time:")?;
    for (at, text) in all.iter().take(2 * ROWS) {
        write_wrapped(to, "  ", &format!("{} {text}", shown(at)))?;
    }
    match all.len().saturating_sub(2 * ROWS) {
        0 => Ok(()),
        more => writeln!(
            to,
            "  and {} more; --json has all",
            counted(more as u64, "event")
        ),
    }
}

pub fn list(log: &Log, incidents: &[Incident]) -> String {
    let mut text = String::new();
    for incident in incidents {
        let line = format!("{}  {}", shown(&incident.at()), headline(incident));
        let mut line = escaped(&line);
        if line.chars().count() > COLUMNS {
            line = line.chars().take(COLUMNS - 3).collect::<String>() + "...";
        }
        let _ = writeln!(text, "{line}");
    }
    let count = counted(incidents.len() as u64, "event");
    let _ = write_wrapped(
        &mut text,
        "",
        &format!("{count} in the kernel's log{}.", span(log)),
    );
    text
}

fn span(log: &Log) -> String {
    match (&log.found.from, &log.found.to) {
        (Some(from), Some(to)) => format!(", which goes from {} to {}", shown(from), shown(to)),
        _ => String::new(),
    }
}

/// Nothing happened.
pub fn nothing(log: &Log) -> String {
    let mut text = String::new();
    let lines = counted(log.found.lines, "line");
    let said = format!(
        "Nobody was killed for want of memory in {lines} of the kernel's log{}.",
        span(log)
    );
    let _ = write_wrapped(&mut text, "", &said);
    let _ = write_wrapped(
        &mut text,
        "",
        "A freeze without a kill leaves no trace in it: hotsetd's record has it.",
    );
    if log.found.lost > 0 {
        let lost = counted(log.found.lost, "message");
        let _ = writeln!(text, "The log says that {lost} were lost.");
    }
    text
}
