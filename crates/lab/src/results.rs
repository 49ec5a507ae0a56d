//! The folder of a run: written as the run goes, each file whole or not at all.
use anyhow::{bail, Context, Result};
use raw::record::{Run, Trial};
use rustix::io::Errno;
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder of one run, laid out as [`raw::record`] says.
#[derive(Clone, Debug)]
pub struct Results {
    dir: PathBuf,
}

impl Results {
    /// Whether `dir` could be a run's: it is not there yet, or empty. Runs do not mix.
    ///
    /// # Errors
    /// When it could not.
    pub fn vacant(dir: &Path) -> Result<()> {
        match std::fs::read_dir(dir).map(|mut entries| entries.next().is_none()) {
            Ok(true) => Ok(()),
            Ok(false) => bail!(
                "{} is not empty: give another folder with --out",
                dir.display()
            ),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error).with_context(|| dir.display().to_string()),
        }
    }

    /// Makes the folder.
    ///
    /// # Errors
    /// When it is not [vacant](Results::vacant) or cannot be made.
    pub fn create(dir: &Path) -> Result<Results> {
        Results::vacant(dir)?;
        let what = || format!("making the results' folder {}", dir.display());
        std::fs::create_dir_all(dir)
            .map_err(explained)
            .with_context(what)?;
        for name in ["trials", "console"] {
            std::fs::create_dir(dir.join(name))
                .map_err(explained)
                .with_context(what)?;
        }
        Ok(Results { dir: dir.into() })
    }

    /// The folder of a run that goes on ([`crate::resume`]).
    pub fn of(dir: &Path) -> Results {
        Results { dir: dir.into() }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn run(&self, run: &Run) -> Result<()> {
        write(&self.dir.join("run.json"), run)
    }

    pub fn trial(&self, trial: &Trial) -> Result<()> {
        let name = format!("{}-{}.json", trial.arm, trial.repetition);
        write(&self.dir.join("trials").join(name), trial)
    }

    /// A file of a trial's traces, by what comes behind its name.
    ///
    /// # Errors
    /// When their folder cannot be made.
    pub fn trace(&self, arm: &str, repetition: u32, rest: &str) -> Result<PathBuf> {
        let dir = self.dir.join("traces");
        std::fs::create_dir_all(&dir)
            .map_err(explained)
            .with_context(|| format!("making {}", dir.display()))?;
        Ok(dir.join(format!("{arm}-{repetition}.{rest}")))
    }

    /// The file that a trial's console is copied to.
    pub fn console(&self, arm: &str, repetition: u32) -> Result<Log> {
        Log::create(
            &self
                .dir
                .join("console")
                .join(format!("{arm}-{repetition}.log")),
        )
    }
}

/// A log whose errors say which file it is.
pub struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    pub fn create(path: &Path) -> Result<Log> {
        let file = File::create(path)
            .map_err(explained)
            .with_context(|| format!("making {}", path.display()))?;
        Ok(Log {
            path: path.into(),
            file,
        })
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes).map_err(|error| {
            let error = explained(error);
            std::io::Error::new(error.kind(), format!("{}: {error}", self.path.display()))
        })
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Writes beside the final name and renames: a reader never sees half a file.
pub(crate) fn write<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let text = serde_json::to_vec(value).with_context(|| path.display().to_string())?;
    let partial = path.with_extension("partial");
    let written = File::create(&partial)
        .and_then(|mut file| {
            file.write_all(&text)?;
            file.write_all(b"\n")?;
            file.sync_all()
        })
        .and_then(|()| std::fs::rename(&partial, path));
    written
        .map_err(|error| {
            let _ = std::fs::remove_file(&partial);
            explained(error)
        })
        .with_context(|| format!("writing {}", path.display()))
}

/// An I/O error; for a full disk with what to do.
pub fn explained(error: std::io::Error) -> std::io::Error {
    let full = [Errno::NOSPC, Errno::DQUOT, Errno::FBIG];
    match Errno::from_io_error(&error) {
        Some(errno) if full.contains(&errno) => std::io::Error::new(
            error.kind(),
            format!("{error}: make room on that disk; what was written before is whole"),
        ),
        _ => error,
    }
}
