//! What would have helped, booted: guests with the record's pressure, as it was and with each change.
use super::helped::range;
use crate::shell::{self, usage, write_wrapped};
use anyhow::{bail, Context, Result};
use explain::compose::{self, Composed, AS_IT_WAS};
use explain::episode::LEAST_LOST_S;
use explain::remedies::course::Course;
use explain::remedies::remedy::{Answer, Change, Remedy, SHORTER};
use explain::words::seconds;
use explain::Story;
use lab::experiment::{Changes, Experiment};
use lab::host;
use lab::run::{self as runner, estimate, Options};
use names::shown;
use protocol::record::{Outcome, Trial};
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// Letters of a change's name in the table.
const NAME: usize = 32;

/// What came.
#[derive(Serialize)]
pub struct Verified {
    /// The folder of the run.
    folder: String,
    /// What the record does not tell, and was taken for granted.
    assumed: Vec<String>,
    /// Seconds in the guest without a change.
    without_s: f64,
    /// In which everything stood still; otherwise something waited. As the record's own.
    of_all: bool,
    changes: Vec<Came>,
}

/// One change.
#[derive(Serialize)]
struct Came {
    change: Change,
    #[serde(skip)]
    name: String,
    said: Answer,
    #[serde(skip)]
    bounds: String,
    with_s: f64,
    /// Whether the sign was right; null where nothing was said, or the guest without a change lost nothing.
    right: Option<bool>,
}

/// Boots them.
///
/// # Errors
/// The shortage cannot be composed, the folder is taken, or a guest cannot be booted.
pub fn run(
    story: &Story,
    remedies: &[Remedy],
    page_size: u64,
    folder: &Path,
    command: String,
) -> Result<Verified> {
    let composed = compose::compose(story, remedies, page_size);
    let composed = composed.map_err(|why| usage!("--verify: {why}"))?;
    let path = Path::new("composed");
    let experiment = Experiment::parse(path, &composed.toml, &Changes::default())
        .map_err(|error| anyhow::anyhow!("{error}"))
        .context("the record's figures make no experiment (--report shows them)")?;
    let options = Options {
        jobs: host::jobs(),
        out: folder.into(),
        tree: None,
        only: None,
        resume: false,
        force: false,
        keep_going: true,
        quiet: false,
        command,
    };
    let (usual, _) = estimate(&experiment, options.jobs);
    shell::note(format!(
        "booting {} guests, about {:.0} min; results in {}",
        experiment.arms.len(),
        (usual / 60.0).ceil(),
        shown(folder)
    ));
    let summary = runner::run(&experiment, &options).map_err(crate::lab::typed)?;
    if summary.interrupted.is_some() {
        bail!("interrupted; {} is the part that was made", shown(folder));
    }
    report::write(&summary.dir)?;
    let results = report::load(&summary.dir)?;
    // What the bounds are about.
    let of_all = !Course::new(story).of_some;
    compare(&results.trials, &composed, remedies, of_all, folder)
}

fn compare(
    trials: &[Trial],
    composed: &Composed,
    remedies: &[Remedy],
    of_all: bool,
    folder: &Path,
) -> Result<Verified> {
    let lost = |arm: &str| {
        let trial = trials.iter().find(|trial| trial.arm == arm)?;
        (trial.outcome == Outcome::Ok).then(|| lost_s(trial, of_all))
    };
    let Some(without_s) = lost(AS_IT_WAS) else {
        bail!(
            "{}: the guest without a change failed; console/{AS_IT_WAS}-0.log says why",
            shown(folder)
        );
    };
    let mut changes = Vec::new();
    for (change, arm) in &composed.arms {
        let remedy = remedies.iter().find(|remedy| remedy.change == *change);
        let (Some(remedy), Some(with_s)) = (remedy, lost(arm)) else {
            continue;
        };
        let shorter = with_s <= SHORTER * without_s;
        let right = match remedy.answer {
            _ if without_s < LEAST_LOST_S => None,
            Answer::CannotTell => None,
            answer => Some(shorter == (answer == Answer::Helps)),
        };
        changes.push(Came {
            change: *change,
            name: remedy.name.clone(),
            said: remedy.answer,
            bounds: range(remedy),
            with_s,
            right,
        });
    }
    Ok(Verified {
        folder: folder.display().to_string(),
        assumed: composed.assumed.clone(),
        without_s,
        of_all,
        changes,
    })
}

/// A name that fits its column.
fn cut(name: &str) -> String {
    match name.chars().count() > NAME {
        true => name.chars().take(NAME - 1).chain(['…']).collect(),
        false => name.into(),
    }
}

/// Seconds after the calm in which everything stood still, or something did.
fn lost_s(trial: &Trial, of_all: bool) -> f64 {
    let name = match of_all {
        true => "psi.memory.full_us",
        false => "psi.memory.some_us",
    };
    let scenes = trial.scenes.iter().filter(|scene| scene.name != "calm");
    let counts = scenes.filter_map(|scene| scene.counters.get(name));
    counts.map(|count| count / 1e6).sum()
}

/// The table, under its heading.
pub fn text(verified: &Verified) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut text, verified);
    names::escaped(&text)
}

fn write(to: &mut String, verified: &Verified) -> std::fmt::Result {
    let measure = match verified.of_all {
        true => "all stood still",
        false => "something waited",
    };
    writeln!(
        to,
        "\nBooted on a guest: (without a change {measure} for {})",
        seconds(verified.without_s)
    )?;
    writeln!(
        to,
        "  {:<NAME$}  {:<13}  {:>11}  {:>8}",
        "", "said", "", "came"
    )?;
    for came in &verified.changes {
        let row = format!(
            "  {:<NAME$}  {:<13}  {:>11}  {:>8}  {}",
            cut(&came.name),
            came.said.name(),
            came.bounds,
            seconds(came.with_s),
            match came.right {
                Some(true) => "right",
                Some(false) => "wrong",
                None => "",
            }
        );
        writeln!(to, "{}", row.trim_end())?;
    }
    let assumed = format!("Taken for granted: {}.", verified.assumed.join("; "));
    write_wrapped(to, "  ", &assumed)?;
    if verified.without_s < LEAST_LOST_S {
        write_wrapped(
            to,
            "  ",
            "The guest lost next to nothing: the record's pressure is not in it.",
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use explain::{episode, points, remedies};
    use flight::{Process, Record};
    use serde_json::json;

    /// A leak of 200 MiB a second on 8 GiB, a stall, and a kill.
    fn story() -> Story {
        let record = |at: u64| {
            let leak = at.saturating_sub(60).min(36) * 200 * 1024;
            let waited = at.saturating_sub(90).min(10) * 900_000;
            let total = 8 << 20;
            let left = total - leak.min(total - 1024);
            let mut record: Record = serde_json::from_value(json!({
                "t": at as f64, "unix_s": 1.8e9 + at as f64, "number": at, "boot": "0a1b2c3d", "whole": true,
                "vmstat": {"oom_kill": u64::from(at >= 100)},
                "meminfo": {"MemTotal": total, "MemFree": left, "MemAvailable": left, "AnonPages": leak},
                "psi": {"memory": {"some": {"total": waited}, "full": {"total": waited}}},
            }))
            .unwrap();
            record.processes.push(Process {
                pid: 700,
                name: "leaky".into(),
                kib: leak,
                start_s: 60.0,
                unit: "/user.slice/leaky.scope".into(),
                ..Process::default()
            });
            record
        };
        let records: Vec<Record> = (0..120).map(record).collect();
        let episodes = episode::find(&points::of(&records, 4096));
        explain::tell(&records, 4096, &episodes[0])
    }

    #[test]
    fn what_is_composed_is_an_experiment() {
        let story = story();
        let remedies = remedies::find(&story, None);
        let composed = compose::compose(&story, &remedies, 4096).unwrap();
        let path = Path::new("composed");
        let experiment = Experiment::parse(path, &composed.toml, &Changes::default());
        let experiment = experiment.unwrap_or_else(|error| panic!("{error}\n{}", composed.toml));
        assert_eq!(experiment.arms.len(), composed.arms.len() + 1);
        assert!(experiment.arms.len() >= 5);
    }

    #[test]
    fn the_table_fits_a_terminal() {
        let came = Came {
            change: Change::Floor,
            name: "a floor of 10% (1.5 GiB) for file pages".into(),
            said: Answer::DoesNotHelp,
            bounds: "10.0-99.4 s".into(),
            with_s: 1.25,
            right: Some(false),
        };
        let verified = Verified {
            folder: "x".into(),
            assumed: vec!["one CPU".into(), "swap is on a disk".into()],
            without_s: 12.0,
            of_all: true,
            changes: vec![came],
        };
        let text = text(&verified);
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        assert!(text.contains("12 s") && text.contains("wrong"), "{text}");
    }
}
