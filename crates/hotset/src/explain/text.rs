//! The story on a terminal.
use super::input::Input;
use super::when::{clock, date};
use crate::shell::write_wrapped;
use anstyle::Style;
use explain::episode::Episode;
use explain::points::{is_kill, Point};
use explain::words::{advice, headline, name_of, seconds};
use explain::Story;
use flight::Deed;
use names::escaped;
use std::fmt::{Result, Write};
use units::format_bytes;

/// Takers that are listed.
const TAKERS: usize = 6;
/// Lines of what happened, at most.
const LINES: usize = 16;

pub fn story(story: &Story, input: &Input) -> String {
    let bold = Style::new().bold();
    let (mut head, mut rest) = (String::new(), String::new());
    // Writing to a String cannot fail. It begins with a name, which stays as it is.
    let _ = write_wrapped(&mut head, "", &format!("{}.", headline(story)));
    let _ = write(&mut rest, story, input);
    // Programs name themselves: their names must not control the terminal.
    format!("{bold}{}{bold:#}{}", escaped(&head), escaped(&rest))
}

fn write(to: &mut String, story: &Story, input: &Input) -> Result {
    for advice in advice(story) {
        write_wrapped(to, "", &format!("{}.", advice.text))?;
        if !advice.command.is_empty() {
            // Never wrapped, so that it can be copied.
            writeln!(to, "    {}", advice.command)?;
        }
    }
    writeln!(to)?;
    facts(to, story)?;
    takers(to, story)?;
    course(to, story)?;
    done(to, story, input)?;
    if !input.names_programs {
        writeln!(to)?;
        write_wrapped(
            to,
            "",
            "This recording names no programs and no cgroups: hotsetd's own record does.",
        )?;
    }
    if input.torn > 0 {
        writeln!(
            to,
            "\n{} could not be read.",
            units::counted(input.torn, "record")
        )?;
    }
    Ok(())
}

fn facts(to: &mut String, story: &Story) -> Result {
    let episode = &story.episode;
    let text = format!(
        "{} to {}: everything stood still for {}, something for {}.",
        date(episode.begin_s),
        clock(episode.end_s),
        seconds(episode.lost_s),
        seconds(episode.some_s)
    );
    write_wrapped(to, "", &text)?;
    if let Some(waited) = story
        .verdict
        .waited
        .as_ref()
        .filter(|one| one.seconds >= 0.5)
    {
        let text = format!("{} waited most: {}.", waited.name, seconds(waited.seconds));
        write_wrapped(to, "", &text)?;
    }
    if story.verdict.swap_full {
        writeln!(to, "Swap was full.")?;
    }
    match &story.foresight {
        Some(foresight) => {
            let text = format!(
                "It could be foreseen {} before, at {}: {} were left, and went at {}/s.",
                seconds(foresight.before_s),
                clock(foresight.at_s),
                format_bytes(foresight.left as f64),
                format_bytes(foresight.falls)
            );
            write_wrapped(to, "", &text)
        }
        None => writeln!(to, "It could not be foreseen from what was left."),
    }
}

fn takers(to: &mut String, story: &Story) -> Result {
    let growth = &story.growth;
    writeln!(
        to,
        "\nWho took memory from {} to {} ({} in all):",
        clock(growth.calm_s),
        clock(growth.worst_s),
        format_bytes(growth.taken() as f64)
    )?;
    let grew: Vec<_> = growth
        .takers
        .iter()
        .filter(|taker| taker.grew() >= 1 << 20)
        .collect();
    if grew.is_empty() {
        return writeln!(to, "  nobody that the record names");
    }
    writeln!(
        to,
        "{:>10}  {:<29} {:>10} {:>10}  since",
        "grew", "who", "had", "has"
    )?;
    for taker in grew.into_iter().take(TAKERS) {
        writeln!(
            to,
            "{:>10}  {:<29} {:>10} {:>10}  {}",
            format!("+{}", format_bytes(taker.grew() as f64)),
            name_of(&taker.who),
            format_bytes(taker.had as f64),
            format_bytes(taker.has as f64),
            clock(taker.since_s)
        )?;
    }
    Ok(())
}

/// A line for each part of the time, from the calm to the end.
fn course(to: &mut String, story: &Story) -> Result {
    let (from_s, to_s) = (
        story.growth.calm_s.max(story.episode.begin_s - 120.0),
        story.episode.end_s + 10.0,
    );
    let points: Vec<&Point> = story
        .points
        .iter()
        .filter(|point| (from_s..=to_s).contains(&point.unix_s) && point.dt_s > 0.0)
        .collect();
    writeln!(
        to,
        "\n{:<9} {:>10} {:>10} {:>10} {:>10} {:>6} {:>7}",
        "time", "free", "programs", "files", "swap free", "stood", "reread"
    )?;
    let step_s = ((to_s - from_s) / LINES as f64).max(1.0);
    let mut next_s = from_s;
    let (mut lost_s, mut time_s, mut reread) = (0.0, 0.0, 0.0);
    for point in &points {
        lost_s += point.full * point.dt_s;
        reread += point.rates.refault_file * point.dt_s;
        time_s += point.dt_s;
        if point.unix_s < next_s {
            continue;
        }
        let memory = &point.memory;
        writeln!(
            to,
            "{:<9} {:>10} {:>10} {:>10} {:>10} {:>5.0}% {:>7.0}",
            clock(point.unix_s),
            format_bytes(memory.free as f64),
            format_bytes((memory.anon + memory.shmem) as f64),
            format_bytes(memory.file as f64),
            format_bytes(memory.swap_free as f64),
            100.0 * lost_s / time_s,
            reread / time_s
        )?;
        (lost_s, time_s, reread) = (0.0, 0.0, 0.0);
        while next_s <= point.unix_s {
            next_s += step_s;
        }
    }
    Ok(())
}

/// What hotsetd did from the calm before to the end, by time.
pub fn deeds<'a>(story: &Story, input: &'a Input) -> Vec<&'a Deed> {
    let (from_s, to_s) = (story.growth.calm_s, story.episode.end_s + 10.0);
    let deeds = input.records.iter().flat_map(|record| &record.did);
    deeds
        .filter(|deed| (from_s..=to_s).contains(&deed.unix_s))
        .collect()
}

fn done(to: &mut String, story: &Story, input: &Input) -> Result {
    let mut deeds = deeds(story, input);
    if deeds.is_empty() {
        return Ok(());
    }
    let count = deeds.len();
    // Kills first, then what came first.
    deeds.sort_by_key(|deed| !is_kill(&deed.did));
    deeds.truncate(TAKERS);
    deeds.sort_by(|a, b| a.unix_s.total_cmp(&b.unix_s));
    writeln!(to, "\nWhat hotsetd did:")?;
    for deed in &deeds {
        let text = format!("{} {}: {}", clock(deed.unix_s), deed.did, deed.why);
        write_wrapped(to, "  ", &text)?;
    }
    match count - deeds.len() {
        0 => Ok(()),
        more => writeln!(
            to,
            "  and {} more; --json has all",
            units::counted(more as u64, "action")
        ),
    }
}

pub fn list(episodes: &[Episode], from_s: f64, to_s: f64) -> String {
    let mut text = String::new();
    for episode in episodes {
        let kills = match episode.kills {
            0 => String::new(),
            kills => format!(", {} killed", kills),
        };
        let _ = writeln!(
            text,
            "{}  {:>12}  stood still {}{kills}",
            date(episode.begin_s),
            seconds(episode.seconds()),
            seconds(episode.lost_s)
        );
    }
    let _ = writeln!(
        text,
        "{} in the record, which goes from {} to {}.",
        units::counted(episodes.len() as u64, "event"),
        date(from_s),
        date(to_s)
    );
    text
}

/// Nothing happened: the worst moment.
pub fn nothing(points: &[Point]) -> String {
    let worst = points.iter().max_by(|a, b| (a.some).total_cmp(&b.some));
    let least = points.iter().min_by_key(|point| point.memory.left());
    match (worst, least) {
        (Some(worst), Some(least)) => format!(
            "Nothing froze and nobody was killed from {} to {}.\nTasks waited most at {} ({:.0}% of the time). Least was \
             left at {}: {}.",
            date(points[0].unix_s),
            date(points[points.len() - 1].unix_s),
            clock(worst.unix_s),
            100.0 * worst.some,
            clock(least.unix_s),
            format_bytes(least.memory.left() as f64)
        ),
        _ => "Nothing was recorded.".into(),
    }
}
