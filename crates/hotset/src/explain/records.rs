//! The story of records.
use super::asked::{Asked, NOTHING};
use super::input::Input;
use super::verify::{self, Verified};
use super::{ahead, helped, page, text};
use crate::shell::{document, note, out, outln};
use anyhow::Result;
use explain::episode::{self, Episode};
use explain::remedies::remedy::Remedy;
use explain::words::Advice;
use explain::{points, remedies, words, Story};
use flight::Deed;
use names::quoted;
use serde::Serialize;
use std::process::ExitCode;

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
    /// What cannot be known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<String>,
    /// What hotsetd did from the calm before to the end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    did: Vec<&'a Deed>,
    /// What would have helped, best first.
    #[serde(skip_serializing_if = "<[Remedy]>::is_empty")]
    remedies: &'a [Remedy],
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    story: Option<&'a Story>,
    /// What came in guests with each change.
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<&'a Verified>,
}

/// Tells what was asked for.
///
/// # Errors
/// Standard output or the page cannot be written.
pub fn tell(input: &Input, asked: Asked) -> Result<ExitCode> {
    let points = points::of(&input.records, input.page_size);
    let episodes = episode::find(&points);
    let chosen = match asked.list {
        true => None,
        false => episode::choose(&episodes, asked.at_s),
    };
    let story = chosen.map(|chosen| explain::tell(&input.records, input.page_size, chosen));
    let remedies = story
        .as_ref()
        .map(|story| remedies::find(story, ahead::find(input, story).as_ref()))
        .unwrap_or_default();
    let verified = match (&asked.verify, &story) {
        (Some(folder), Some(story)) => {
            let [file, place] =
                [&input.file, folder].map(|path| quoted(&path.display().to_string()));
            let command = format!("hotset explain {file} --verify {place}");
            let page_size = input.page_size;
            Some(verify::run(story, &remedies, page_size, folder, command)?)
        }
        (Some(_), None) => {
            note("no guest is booted: there is nothing to explain");
            None
        }
        (None, _) => None,
    };
    let (first, last) = (&input.records[0], &input.records[input.records.len() - 1]);
    if asked.json {
        outln!(
            "{}",
            document(
                "explain",
                1,
                &Document {
                    verified: verified.as_ref(),
                    ..whole(input, &episodes, story.as_ref(), &remedies)
                }
            )?
        )?;
    } else {
        match (&story, asked.list) {
            (_, true) => out!("{}", text::list(&episodes, first.unix_s, last.unix_s))?,
            (Some(story), _) => out!(
                "{}{}{}",
                text::story(story, input),
                helped::text(story, &remedies),
                verified.as_ref().map(verify::text).unwrap_or_default()
            )?,
            (None, _) => outln!("{}", text::nothing(&points))?,
        }
    }
    match (asked.page, &story) {
        (Some(file), Some(story)) => file.whole(&page::page(story, input, &remedies))?,
        (Some(_), None) => note("no page was written: there is nothing to explain"),
        (None, _) => {}
    }
    match episodes.is_empty() {
        true => Ok(ExitCode::from(NOTHING)),
        false => Ok(ExitCode::SUCCESS),
    }
}

fn whole<'a>(
    input: &'a Input,
    episodes: &'a [Episode],
    story: Option<&'a Story>,
    remedies: &'a [Remedy],
) -> Document<'a> {
    let cannot = |story| words::unknown(story, input.names_programs, input.torn);
    Document {
        file: input.file.display().to_string(),
        from_s: input.records[0].unix_s,
        to_s: input.records[input.records.len() - 1].unix_s,
        records: input.records.len(),
        torn: input.torn,
        episodes,
        headline: story.map(words::headline),
        advice: story.map(words::advice).unwrap_or_default(),
        unknown: story.map(cannot).unwrap_or_default(),
        did: story
            .map(|story| text::deeds(story, input))
            .unwrap_or_default(),
        remedies,
        story,
        verified: None,
    }
}
