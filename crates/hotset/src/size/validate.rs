//! `hotset size --validate`: what a guest's page cache foretells of a larger guest, beside that guest.
use crate::shell::{document, outln};
use anyhow::{bail, Context, Result};
use names::shown;
use protocol::record::{Outcome, Trial};
use report::study::stats;
use serde::Serialize;
use size::{curve, Distances, Event, Sample};
use std::io::BufRead;
use std::path::Path;

/// One guest's forecast of another.
#[derive(Serialize)]
struct Row {
    arm: String,
    larger: String,
    repetition: u32,
    /// Pages more.
    more: u64,
    /// Pages read again in the second half of the last scene, as a share of those of the smaller guest.
    measured: f64,
    share: f64,
    low: f64,
    high: f64,
}

impl Row {
    fn is_inside(&self) -> bool {
        (self.low..=self.high).contains(&self.measured)
    }

    /// Whether enough is read again for a relative error to mean something.
    fn is_informative(&self) -> bool {
        self.measured >= LEAST
    }

    fn error(&self) -> f64 {
        (self.share - self.measured).abs() / self.measured
    }
}

#[derive(Serialize)]
struct Document<'a> {
    rows: &'a [Row],
    informative: usize,
    inside: usize,
    /// Of the informative rows: the median error, relative, and the median of high / low.
    median_error: Option<f64>,
    median_width: Option<f64>,
}

/// Below this share next to nothing is read again.
const LEAST: f64 = 0.05;
/// Bits of an object's number that hold the page; those above hold the file. As in crates/lab, results/page_cache.rs.
const PAGE_BITS: u32 = 32;

/// A guest that ended well.
struct Guest<'a> {
    trial: &'a Trial,
    /// The arm's name without its size.
    sweep: &'a str,
    distances: Distances,
    /// Seconds of the last scene.
    seconds: f64,
    again: usize,
}

/// Reads the run in `folder`, whose arms are `NAME-SIZE` of one sweep of `machine.memory_mb`.
///
/// # Errors
/// It is no run, or one without traces of the page cache.
pub fn run(folder: &Path, json: bool) -> Result<()> {
    let results = report::load(folder)?;
    let ended = results.trials.iter();
    let ended = ended.filter(|trial| trial.outcome == Outcome::Ok);
    let mut guests = Vec::new();
    for trial in ended {
        guests.extend(guest(folder, trial)?);
    }
    let rows = rows(&guests);
    let comparable = |small: &Guest| larger(&guests, small).next().is_some();
    if rows.is_empty() && guests.iter().any(comparable) {
        bail!(
            "{}: in no guest did enough pages come back after they had left: its files fit in memory, or its work is \
             too short",
            shown(folder)
        );
    }
    if rows.is_empty() {
        bail!(
            "{}: no two guests of one sweep have a trace of their page cache: give the experiment \
             trace = [\"page-cache\"] and a sweep of machine.memory_mb",
            shown(folder)
        );
    }
    let informative: Vec<&Row> = rows.iter().filter(|row| row.is_informative()).collect();
    let median = |of: &dyn Fn(&Row) -> f64| {
        let values: Vec<f64> = informative.iter().map(|row| of(row)).collect();
        stats::median(&values)
    };
    let found = Document {
        informative: informative.len(),
        inside: informative.iter().filter(|row| row.is_inside()).count(),
        median_error: median(&Row::error),
        median_width: median(&|row| row.high / row.low),
        rows: &rows,
    };
    match json {
        true => outln!("{}", document("size.validate", 1, &found)?),
        false => text(&found),
    }
}

/// The larger guests of the same sweep and repetition.
fn larger<'a>(guests: &'a [Guest], small: &'a Guest) -> impl Iterator<Item = &'a Guest<'a>> {
    guests.iter().filter(|other| {
        other.sweep == small.sweep
            && other.trial.repetition == small.trial.repetition
            && other.trial.mem_total_kb > small.trial.mem_total_kb
    })
}

fn rows(guests: &[Guest]) -> Vec<Row> {
    let mut rows = Vec::new();
    for small in guests {
        for large in larger(guests, small) {
            let more = (large.trial.mem_total_kb - small.trial.mem_total_kb) / 4;
            let curve = curve::of(&small.distances, small.seconds, &[more]);
            let Some(one) = curve.estimates.first() else {
                continue;
            };
            rows.push(Row {
                arm: small.trial.arm.clone(),
                larger: large.trial.arm.clone(),
                repetition: small.trial.repetition,
                more,
                // What is above 1 is the difference of two runs: more memory does not read more again.
                measured: (large.again as f64 / small.again as f64).min(1.0),
                share: one.share,
                low: one.low,
                high: one.high,
            });
        }
    }
    rows
}

/// `None`: the guest has no trace, or no size in its name.
fn guest<'a>(folder: &Path, trial: &'a Trial) -> Result<Option<Guest<'a>>> {
    let Some((sweep, _)) = trial.arm.rsplit_once('-') else {
        return Ok(None);
    };
    let Some(scene) = trial.scenes.last() else {
        return Ok(None);
    };
    let trace = |events: &str| {
        let name = format!("{}-{}.{events}.csv.zst", trial.arm, trial.repetition);
        folder.join("traces").join(name)
    };
    let (came, left) = (trace("inserted"), trace("evicted"));
    if !came.is_file() {
        return Ok(None);
    }
    let mut events = events(&came, false)?;
    if left.is_file() {
        events.extend(self::events(&left, true)?);
    }
    // A page that leaves for another leaves first.
    events.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.gone.cmp(&a.1.gone)));
    let (begin_s, end_s) = (scene.begin_ms / 1e3, scene.end_ms / 1e3);
    // What is foretold, is so from as many pages as the machine's own run would follow; what came, from all.
    let mut distances = Distances::new(super::watch::sample(trial.mem_total_kb / 4));
    let mut all = Distances::new(Sample::new(1));
    for (at_s, event) in &events {
        distances.event(at_s - begin_s, event);
        all.event(at_s - begin_s, event);
    }
    let seconds = end_s - begin_s;
    let late = { all.misses().iter() }.filter(|miss| miss.at_s >= seconds / 2.0);
    let again = late.count();
    Ok(Some(Guest {
        trial,
        sweep,
        distances,
        seconds,
        again,
    }))
}

/// Lines of `SECONDS,OBJECT`.
fn events(path: &Path, gone: bool) -> Result<Vec<(f64, Event)>> {
    let reader = trace::open_unpacked(path).with_context(|| shown(path).to_string())?;
    let mut events = Vec::new();
    for (number, line) in reader.lines().enumerate() {
        let line = line.with_context(|| shown(path).to_string())?;
        let fields = line.split_once(',');
        let parsed = fields.and_then(|(at_s, rest)| {
            let object = rest.split(',').next()?;
            Some((at_s.parse::<f64>().ok()?, object.parse::<u64>().ok()?))
        });
        match parsed {
            Some((at_s, object)) => events.push((
                at_s,
                Event {
                    gone,
                    device: (0, 0),
                    inode: object >> PAGE_BITS,
                    first: object & ((1 << PAGE_BITS) - 1),
                    pages: 1,
                },
            )),
            // The first line names the columns.
            None if number == 0 => {}
            None => bail!("{}: line {}: no event", shown(path), number + 1),
        }
    }
    Ok(events)
}

fn text(found: &Document) -> Result<()> {
    outln!(
        "{:<22} {:<22} {:>8} {:>8} {:>13}",
        "guest",
        "larger guest",
        "measured",
        "foretold",
        "90% interval"
    )?;
    for row in found.rows {
        outln!(
            "{:<22} {:<22} {:>7.1}% {:>7.1}% {:>13} {}",
            row.arm,
            row.larger,
            100.0 * row.measured,
            100.0 * row.share,
            format!("{:.1}-{:.1}%", 100.0 * row.low, 100.0 * row.high),
            if row.is_inside() { "" } else { "out" }
        )?;
    }
    let (Some(error), Some(width)) = (found.median_error, found.median_width) else {
        return outln!("In no larger guest is as much as 5% read again.");
    };
    outln!(
        "\nWhere at least 5% is read again: {} of {} inside; median error {:.1}%; the interval's\nends are a factor of {width:.2} apart in the median.",
        found.inside,
        found.informative,
        100.0 * error
    )
}
