//! `hotset explain`: why did the machine freeze?
mod ahead;
mod helped;
mod input;
mod text;
mod when;

use crate::shell::{self, document, out, outln, usage};
use anyhow::Result;
use clap::Args;
use explain::episode::{self, Episode};
use explain::remedies::remedy::Remedy;
use explain::words::Advice;
use explain::{points, remedies, words, Story};
use flight::Deed;
use names::shown;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Exit status: nothing has happened.
const NOTHING: u8 = 1;

#[derive(Args)]
#[command(after_help = "\
hotsetd records what it sees, also through a freeze and a reset (/var/lib/hotset/flight, which root may read). \
Without WHEN the last freeze or kill is explained. \
The exit status is 1 where the record has none.\n\n\
Examples:\n  \
    sudo hotset explain\n  \
    sudo hotset explain 14:03\n  \
    sudo hotset explain --list\n  \
    hotset explain evening.jsonl.zst")]
pub struct ExplainArgs {
    /// The time, as 14:03 or \"2026-11-27 14:03\", or a file: a copy of hotsetd's record, or one of `hotset record`
    #[arg(value_name = "WHEN|FILE")]
    place: Option<String>,
    /// The file of hotsetd's record
    #[arg(long, value_name = "FILE", default_value = "/var/lib/hotset/flight")]
    file: PathBuf,
    /// List everything that happened, a line each
    #[arg(long, conflicts_with = "place")]
    list: bool,
    #[arg(long, help = shell::JSON)]
    json: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    file: String,
    /// Seconds since 1970 of the first and the last record.
    from_s: f64,
    to_s: f64,
    records: usize,
    torn: u64,
    episodes: &'a [Episode],
    #[serde(skip_serializing_if = "Option::is_none")]
    headline: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    advice: Vec<Advice>,
    /// What hotsetd did from the calm before to the end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    did: Vec<&'a Deed>,
    /// What would have helped, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remedies: Vec<Remedy>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    story: Option<&'a Story>,
}

/// Explains a freeze.
///
/// # Errors
/// The record cannot be read, or is empty.
pub fn run(args: &ExplainArgs) -> Result<ExitCode> {
    let (file, at_s) = place(args)?;
    let input = input::read(&file)?;
    let points = points::of(&input.records, input.page_size);
    let episodes = episode::find(&points);
    let chosen = match args.list {
        true => None,
        false => episode::choose(&episodes, at_s),
    };
    let story = chosen.map(|chosen| explain::tell(&input.records, input.page_size, chosen));
    let remedies = story
        .as_ref()
        .map(|story| remedies::find(story, ahead::find(&input, story).as_ref()))
        .unwrap_or_default();
    let (first, last) = (&input.records[0], &input.records[input.records.len() - 1]);
    if args.json {
        let found = Document {
            file: file.display().to_string(),
            from_s: first.unix_s,
            to_s: last.unix_s,
            records: input.records.len(),
            torn: input.torn,
            episodes: &episodes,
            headline: story.as_ref().map(words::headline),
            advice: story.as_ref().map(words::advice).unwrap_or_default(),
            did: story
                .as_ref()
                .map(|story| text::deeds(story, &input))
                .unwrap_or_default(),
            remedies,
            story: story.as_ref(),
        };
        outln!("{}", document("explain", 1, &found)?)?;
    } else {
        match (&story, args.list) {
            (_, true) => out!("{}", text::list(&episodes, first.unix_s, last.unix_s))?,
            (Some(story), _) => out!(
                "{}{}",
                text::story(story, &input),
                helped::text(story, &remedies)
            )?,
            (None, _) => outln!("{}", text::nothing(&points))?,
        }
    }
    match episodes.is_empty() {
        true => Ok(ExitCode::from(NOTHING)),
        false => Ok(ExitCode::SUCCESS),
    }
}

/// The file, and the time that is asked for.
fn place(args: &ExplainArgs) -> Result<(PathBuf, Option<f64>)> {
    let Some(place) = &args.place else {
        return Ok((args.file.clone(), None));
    };
    let path = PathBuf::from(place);
    if path.exists() {
        return Ok((path, None));
    }
    match when::parse(place) {
        Some(at_s) => Ok((args.file.clone(), Some(at_s))),
        None => Err(usage!(
            "{}: no such file, and no time; a time is 14:03, 14:03:20 or \"2026-11-27 14:03\"",
            shown(&path)
        )),
    }
}
