//! `hotset-database`: makes a real database and looks records up in it, inside a guest.
//!
//! `hotset-database WORKER SEED FOLDER WORK [CGROUP]`: WORK has the worker's orders as JSON, as in
//! an experiment's `does`; CGROUP is the folder of the cgroup whose counters are read. Measurements
//! go to standard output, in the lines of the guest's channel ([`protocol::wire`]). The guest's
//! worker becomes this program by exec(2), and is ended as any worker is.
mod content;
mod counters;
mod engine;
mod look_up;
mod make;
mod pages;
mod redb;
mod sqlite;

use anyhow::{bail, Context, Result};
use protocol::wire::Line;
use protocol::work::database::Engine;
use protocol::work::Work;
use std::io::Write;
use std::path::{Path, PathBuf};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let worker = args.first().cloned().unwrap_or_default();
    if let Err(error) = run(&args) {
        eprintln!("hotset-database: {worker}: {error:#}");
        send(&Line::Event {
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
        _ => bail!("WORK is neither make-database nor look-up"),
    };
    for (name, value) in values {
        send(&Line::Observe {
            t_ms: begin,
            name: format!("{worker}.{name}"),
            value,
        });
    }
    Ok(())
}

/// Folder of an engine's files.
fn place(folder: &str, engine: Engine) -> PathBuf {
    Path::new(folder).join(engine.name())
}

/// Writes one line in one write(2), which the channel keeps together.
fn send(line: &Line) {
    let mut text = serde_json::to_vec(line).unwrap_or_default();
    text.push(b'\n');
    let mut out = std::io::stdout().lock();
    // A line that cannot be written is lost: there is no other way to report it.
    let _ = out.write_all(&text).and_then(|()| out.flush());
}
