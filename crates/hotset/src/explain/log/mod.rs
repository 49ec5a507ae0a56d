//! The story of a kernel's log.
mod events;
mod page;
pub mod source;
mod text;
mod time;

use super::asked::{Asked, NOTHING};
use crate::shell::{document, note, out, outln, usage};
use anyhow::Result;
use explain::klog::incident::{self, Incident};
use explain::klog::judge::{judge, Finding};
use explain::klog::stamp::At;
use explain::klog::words;
use explain::words::Advice;
use serde::Serialize;
use source::Log;
use std::process::ExitCode;

#[derive(Serialize)]
struct Document<'a> {
    /// The file, or the command.
    source: &'a str,
    lines: u64,
    lost: u64,
    from: Option<At>,
    to: Option<At>,
    incidents: Vec<Short>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    story: Option<Story<'a>>,
}

/// An incident of the list.
#[derive(Serialize)]
struct Short {
    begin: At,
    end: At,
    kills: u64,
    headline: String,
}

#[derive(Serialize)]
struct Story<'a> {
    headline: String,
    advice: Vec<Advice>,
    unknown: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<Finding>,
    incident: &'a Incident,
}

/// Tells what was asked for.
///
/// # Errors
/// A time is asked for, and the log has none; standard output or the page cannot be written.
pub fn tell(log: &Log, asked: Asked) -> Result<ExitCode> {
    let incidents = incident::of(&log.found);
    let chosen = match asked.list {
        true => None,
        false => incident::choose(&incidents, asked.at_s),
    };
    if asked.at_s.is_some() && chosen.is_none() && !incidents.is_empty() {
        return Err(usage!(
            "{}: the log has no times of day; without a time, its last event is explained",
            log.source
        ));
    }
    if asked.json {
        outln!(
            "{}",
            document("explain.log", 1, &whole(log, &incidents, chosen))?
        )?;
    } else {
        match (chosen, asked.list) {
            (_, true) => out!("{}", text::list(log, &incidents))?,
            (Some(chosen), _) => out!("{}", text::story(log, chosen))?,
            (None, _) => out!("{}", text::nothing(log))?,
        }
    }
    match (asked.page, chosen) {
        (Some(file), Some(chosen)) => file.whole(&page::page(log, chosen))?,
        (Some(_), None) => note("no page was written: there is nothing to explain"),
        (None, _) => {}
    }
    match incidents.is_empty() {
        true => Ok(ExitCode::from(NOTHING)),
        false => Ok(ExitCode::SUCCESS),
    }
}

fn whole<'a>(
    log: &'a Log,
    incidents: &'a [Incident],
    chosen: Option<&'a Incident>,
) -> Document<'a> {
    let short = |one: &Incident| Short {
        begin: one.begin,
        end: one.end,
        kills: one.kills,
        headline: words::headline(one),
    };
    Document {
        source: &log.source,
        lines: log.found.lines,
        lost: log.found.lost,
        from: log.found.from,
        to: log.found.to,
        incidents: incidents.iter().map(short).collect(),
        story: chosen.map(|chosen| Story {
            headline: words::headline(chosen),
            advice: words::advice(chosen),
            unknown: words::unknown(chosen, log.found.lost),
            finding: chosen.fullest().map(judge),
            incident: chosen,
        }),
    }
}
