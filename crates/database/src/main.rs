//! `hotset-database`: makes a real database and looks records up in it, inside a guest.
//!
//! `hotset-database WORKER SEED FOLDER WORK [CGROUP]`: WORK is the worker's orders as JSON, as an
//! experiment has them in `does`; CGROUP the folder of the cgroup whose counters are its own. It says
//! what it measures on standard output, in the lines of the guest's channel ([`raw::wire`]). The
//! guest's worker becomes this program (exec), so that it is ended as any worker is.
mod content;
mod counters;
mod look_up;
mod make;
mod pages;
mod redb;
mod sqlite;

use anyhow::{bail, Context, Result};
use raw::database::Engine;
use raw::spec::Work;
use raw::wire::Line;
use std::io::Write;
use std::path::{Path, PathBuf};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let worker = args.first().cloned().unwrap_or_default();
    if let Err(error) = run(&args) {
        eprintln!("hotset-database: {worker}: {error:#}");
        say(&Line::Event {
            t_ms: counters::now_ms(),
            name: "worker-error".into(),
            detail: format!("{worker}: {error:#}"),
        });
        std::process::exit(1);
    }
}

fn run(args: &[String]) -> Result<()> {
    let (worker, seed, folder, work, cgroup) = match args {
        [worker, seed, folder, work] => (worker, seed, folder, work, None),
        [worker, seed, folder, work, cgroup] => (worker, seed, folder, work, Some(cgroup)),
        _ => bail!("expected WORKER SEED FOLDER WORK [CGROUP]"),
    };
    let seed = seed.parse().context("the seed")?;
    let work: Work = serde_json::from_str(work).context("the worker's orders")?;
    let cgroup = cgroup.map(PathBuf::from);
    let begin = counters::now_ms();
    let values = match &work {
        Work::MakeDatabase(orders) => make::run(orders, &place(folder, orders.engine))?,
        Work::LookUp(orders) => {
            let folder = place(folder, orders.engine);
            look_up::run(orders, &folder, seed, cgroup.as_deref())?
        }
        _ => bail!("these are no orders for a database"),
    };
    for (name, value) in values {
        say(&Line::Observe {
            t_ms: begin,
            name: format!("{worker}.{name}"),
            value,
        });
    }
    Ok(())
}

/// Where an engine's files are.
fn place(folder: &str, engine: Engine) -> PathBuf {
    Path::new(folder).join(engine.name())
}

/// What is observed: a name and a number.
type Values = Vec<(&'static str, f64)>;

/// Writes one line in one write(2), which the channel keeps together.
fn say(line: &Line) {
    let mut text = serde_json::to_vec(line).unwrap_or_default();
    text.push(b'\n');
    let mut out = std::io::stdout().lock();
    // What cannot be said is lost: there is nobody else to tell.
    let _ = out.write_all(&text).and_then(|()| out.flush());
}
