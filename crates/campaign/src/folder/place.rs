//! The folder of a campaign: where its files are, and the frozen plan.
use super::{write, write_soon, Attempt};
use crate::file::Definition;
use crate::plan::{Plan, SCHEMA};
use anyhow::{anyhow, Context, Result};
use cluster::lock::{self, Lock};
use cluster::refused;
use names::{io_error, shown};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folders in a campaign's folder.
const FOLDERS: [&str; 3] = ["tasks", "attempts", "engine"];

/// A campaign's folder with its plan.
pub struct Folder {
    path: PathBuf,
    pub plan: Plan,
    /// The hash of the plan's file. Each task's result has it.
    pub hash: String,
    /// Keeps other runs out. None in a task, of which many work in the folder at once.
    lock: Option<Lock>,
}

impl Folder {
    /// Opens the folder of a campaign that was planned before.
    ///
    /// # Errors
    /// There is no plan, or it was changed.
    pub fn open(path: &Path) -> Result<Folder> {
        let file = path.join("plan.json");
        let text = fs::read(&file).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => refused!(
                "{}: holds no campaign; `hotset sim campaign run FILE.toml -o FOLDER` begins one",
                shown(path)
            ),
            _ => anyhow!("{}: cannot read: {}", shown(&file), io_error(&error)),
        })?;
        let hash = hash(&text);
        let kept = fs::read_to_string(path.join("plan.sha256")).unwrap_or_default();
        if kept.trim() != hash {
            return Err(refused!(
                "{}: the plan was changed or damaged since it was made; begin again in another folder",
                shown(&file)
            ));
        }
        let plan: Plan = serde_json::from_slice(&text).with_context(|| shown(&file).to_string())?;
        if plan.schema != SCHEMA {
            return Err(refused!(
                "{}: the plan has version {}, and this hotset reads version {SCHEMA}; go on with the hotset that made it",
                shown(&file),
                plan.schema
            ));
        }
        let path = std::path::absolute(path)?;
        let lock = None;
        Ok(Folder {
            path,
            plan,
            hash,
            lock,
        })
    }

    /// Opens the folder of a campaign, or plans the campaign there. Until the value is dropped no other run gets the
    /// folder.
    ///
    /// # Errors
    /// Another run has the folder, it holds another campaign or other files, or the campaign cannot be planned.
    pub fn begin(path: &Path, file: &Path, progress: &dyn Fn(u64)) -> Result<Folder> {
        if std::path::absolute(path)?.to_str().is_none() {
            return Err(refused!(
                "{}: the name is not UTF-8, and scripts and Jobs have it as text; name another folder",
                shown(path)
            ));
        }
        if path.join("plan.json").exists() {
            let mut folder = Folder::open(path)?;
            let asked = Definition::read(file)?;
            if let Some(key) = folder.plan.differs(&asked) {
                return Err(refused!(
                    "{}: {key} has changed since the campaign in {} was planned; give the changed campaign a folder of its own",
                    shown(file),
                    shown(path)
                ));
            }
            folder.prepare()?;
            return Ok(folder);
        }
        if holds_others(path) {
            return Err(refused!(
                "{}: the folder has other files; name an empty folder, or one that does not exist",
                shown(path)
            ));
        }
        let plan = Plan::of(file, progress)?;
        let text = serde_json::to_vec_pretty(&plan)?;
        let hash = hash(&text);
        let created = fs::create_dir_all(path);
        created.map_err(|error| anyhow!("{}: {}", shown(path), io_error(&error)))?;
        let path = std::path::absolute(path)?;
        let mut folder = Folder {
            path,
            plan,
            hash,
            lock: None,
        };
        folder.prepare()?;
        // A run that planned meanwhile and has ended. Its plan, with its own rates, stays.
        if folder.path.join("plan.json").exists() {
            return Err(refused!(
                "{}: another run has begun here meanwhile; run again to go on",
                shown(&folder.path)
            ));
        }
        let line = format!("{}\n", folder.hash);
        write(&folder.path.join("plan.sha256"), |to| {
            to.write_all(line.as_bytes())
        })?;
        write(&folder.path.join("plan.json"), |to| to.write_all(&text))?;
        Ok(folder)
    }

    /// Makes the folder ready for a run, and takes it.
    fn prepare(&mut self) -> Result<()> {
        self.lock = Some(lock::take(&self.path)?);
        for below in FOLDERS {
            let path = self.path.join(below);
            let created = fs::create_dir_all(&path);
            created.map_err(|error| anyhow!("{}: {}", shown(&path), io_error(&error)))?;
        }
        Ok(())
    }

    /// The folder itself, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the tasks' rows.
    pub fn tasks(&self) -> PathBuf {
        self.path.join("tasks")
    }

    /// The folder of what was submitted.
    pub fn engine(&self) -> PathBuf {
        self.path.join("engine")
    }

    /// All rows.
    pub fn results(&self) -> PathBuf {
        self.path.join("results.parquet")
    }

    /// What each task took.
    pub fn runs(&self) -> PathBuf {
        self.path.join("runs.parquet")
    }

    /// The rows of a task.
    pub fn rows_of(&self, task: usize) -> PathBuf {
        self.tasks().join(format!("{task:06}.parquet"))
    }

    fn attempt_of(&self, task: usize) -> PathBuf {
        self.path.join("attempts").join(format!("{task:06}.json"))
    }

    /// The tasks whose rows are there, in order. The rows are not read.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn done(&self) -> Result<Vec<usize>> {
        let tasks = self.tasks();
        let read = fs::read_dir(&tasks);
        let read = read.map_err(|error| anyhow!("{}: {}", shown(&tasks), io_error(&error)))?;
        let mut done = Vec::new();
        for entry in read {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(".parquet"));
            if let Some(number) = number.and_then(|number| number.parse().ok()) {
                done.push(number);
            }
        }
        done.retain(|&number| number < self.plan.tasks.len());
        done.sort_unstable();
        Ok(done)
    }

    /// Records an attempt.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn record(&self, attempt: &Attempt) -> Result<()> {
        let text = serde_json::to_vec(attempt)?;
        write_soon(&self.attempt_of(attempt.task), &text)
    }

    /// The last attempt at a task. None where there was none, or where its record is damaged.
    pub fn attempt(&self, task: usize) -> Option<Attempt> {
        let text = fs::read(self.attempt_of(task)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Forgets the attempts at a task, so that it counts as new.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn forget(&self, task: usize) -> Result<()> {
        removed(&self.attempt_of(task))
    }

    /// Removes the rows of a task.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove_rows(&self, task: usize) -> Result<()> {
        removed(&self.rows_of(task))
    }
}

fn removed(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(anyhow!(
            "{}: cannot remove: {}",
            shown(path),
            io_error(&error)
        )),
        _ => Ok(()),
    }
}

/// Whether a folder has files that no campaign has. A run that was killed while it planned leaves some of its own.
fn holds_others(path: &Path) -> bool {
    let own = |name: &str| {
        FOLDERS.contains(&name)
            || name == lock::NAME
            || name.starts_with("plan.json")
            || name.starts_with("plan.sha256")
    };
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .into_iter()
        .any(|entry| !entry.file_name().to_str().is_some_and(own))
}

fn hash(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}
