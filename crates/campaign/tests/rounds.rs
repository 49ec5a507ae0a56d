//! Rounds of a run, on an engine whose tasks need more memory than a first attempt has.
use anyhow::Result;
use campaign::engines::{Batch, Engine};
use campaign::folder::{Attempt, Folder};
use campaign::run::{run, Outcome};
use campaign::task::{self, Ask};
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

/// Runs tasks as an engine does that ends a process with the first task that takes too much.
struct Small {
    /// Attempts below this one are ended.
    enough: u32,
    /// Whether elements begin at all.
    begins: bool,
    /// The attempt and the elements of each batch.
    seen: RefCell<Vec<(u32, Vec<Vec<usize>>)>>,
}

impl Small {
    fn new(enough: u32) -> Small {
        Small {
            enough,
            begins: true,
            seen: RefCell::default(),
        }
    }
}

impl Engine for Small {
    fn name(&self) -> &'static str {
        "small"
    }

    fn bundle(&self, _all: f64) -> f64 {
        1e9
    }

    fn run(
        &self,
        folder: &Folder,
        batches: &[Batch],
        _bundle: f64,
        _watch: &dyn Fn() -> Result<()>,
    ) -> Result<()> {
        for batch in batches {
            let seen = (batch.attempt, batch.elements.clone());
            self.seen.borrow_mut().push(seen);
            for tasks in batch.elements.iter().filter(|_| self.begins) {
                element(folder, batch, tasks, self.enough)?;
            }
        }
        Ok(())
    }
}

fn element(folder: &Folder, batch: &Batch, tasks: &[usize], enough: u32) -> Result<()> {
    for &task in tasks {
        if batch.attempt < enough {
            return folder.record(&Attempt {
                task,
                attempt: batch.attempt,
                host: "here".into(),
                begun: 0,
                memory_limit: batch.limits.memory,
                seconds_limit: batch.limits.seconds,
                ended: None,
                error: None,
            });
        }
        let ask = Ask {
            attempt: batch.attempt,
            limits: None,
        };
        task::run(folder, task, &ask)?;
    }
    Ok(())
}

/// A campaign of three small tasks.
fn begun() -> (TempDir, Folder) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.toml");
    let text = "policies = [\"fifo\"]\nsizes = [\"10%\"]\n[[traces]]\n\
        generate = \"uniform,objects=100\"\ncount = 1000\nseeds = \"1..3\"\n";
    fs::write(&file, text).unwrap();
    let folder = Folder::begin(&dir.path().join("out"), &file, &|_| {}).unwrap();
    (dir, folder)
}

fn went(folder: &Folder, engine: &Small) -> Outcome {
    run(folder, engine, &|_| {}).unwrap()
}

fn lone(tasks: &[usize]) -> Vec<Vec<usize>> {
    tasks.iter().map(|&task| vec![task]).collect()
}

#[test]
fn a_killed_task_costs_the_others_of_its_process_no_attempt() {
    let (_dir, folder) = begun();
    let engine = Small::new(2);
    let outcome = went(&folder, &engine);
    assert_eq!((outcome.done, outcome.again), (3, 3), "{outcome:?}");
    let seen = engine.seen.into_inner();
    assert_eq!(seen[0], (1, vec![vec![0, 1, 2]]));
    assert_eq!(seen[1..3], [(1, vec![vec![1, 2]]), (2, lone(&[0]))]);
    assert_eq!(seen[3..5], [(1, lone(&[2])), (2, lone(&[1]))]);
    assert_eq!(seen[5..], [(2, lone(&[2]))]);
}

#[test]
fn a_task_is_ended_twice_and_no_more() {
    let (_dir, folder) = begun();
    let engine = Small::new(9);
    let outcome = went(&folder, &engine);
    assert_eq!((outcome.done, outcome.failed.len()), (0, 3), "{outcome:?}");
    for failure in outcome.failed {
        assert!(failure.reason.contains("ended twice"), "{failure:?}");
    }
    let seen = engine.seen.into_inner().into_iter();
    let tries = seen.flat_map(|(_, elements)| elements.into_iter().map(|all| all[0]));
    let tries: Vec<usize> = tries.collect();
    for task in 0..3 {
        let of_task = tries.iter().filter(|&&tried| tried == task);
        assert_eq!(of_task.count(), 2, "{tries:?}");
    }
}

#[test]
fn an_engine_that_begins_nothing_is_asked_twice() {
    let (_dir, folder) = begun();
    let engine = Small {
        begins: false,
        ..Small::new(1)
    };
    let outcome = went(&folder, &engine);
    assert_eq!((outcome.failed.len(), outcome.again), (3, 0));
    let reason = &outcome.failed[0].reason;
    assert!(reason.contains("never began"), "{reason}");
    assert_eq!(engine.seen.borrow().len(), 2);
}

/// Puts a link to `to` in place of the rows of the second of three done tasks.
fn linked(folder: &Folder, to: &Path) {
    assert_eq!(went(folder, &Small::new(1)).done, 3);
    fs::remove_file(folder.rows_of(1)).unwrap();
    symlink(to, folder.rows_of(1)).unwrap();
}

#[test]
fn a_result_that_cannot_be_read_ends_the_run_and_stays() {
    // A folder can be opened and not read; a link to itself cannot even be opened.
    for to in [Path::new("/"), Path::new("000001.parquet")] {
        let (_dir, folder) = begun();
        linked(&folder, to);
        let engine = Small::new(1);
        let wrong = run(&folder, &engine, &|_| {}).unwrap_err();
        let wrong = format!("{wrong:#}");
        assert!(wrong.contains("000001.parquet: cannot read"), "{wrong}");
        assert!(folder.rows_of(1).is_symlink());
        assert!(engine.seen.borrow().is_empty());
    }
}
