//! The folder of a run. It grows with the run; each file is written whole or not at all.
use crate::host::disk_full::explained;
use anyhow::{Context, Result};
use names::shown;
use protocol::record::{Run, Trial};
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder for the results has files already.
#[derive(Debug, thiserror::Error)]
#[error("{}: the folder is not empty; name another with --output, continue its run with --resume, or move \
         its files aside with --force", shown(.0))]
pub struct Occupied(pub PathBuf);

/// The folder of one run, laid out as [`protocol::record`] describes.
#[derive(Clone, Debug)]
pub struct Results {
    dir: PathBuf,
}

impl Results {
    /// Checks that `dir` does not exist or is empty: two runs never share a folder.
    ///
    /// # Errors
    /// When `dir` has files, or cannot be read.
    pub fn vacant(dir: &Path) -> Result<()> {
        match std::fs::read_dir(dir).map(|mut entries| entries.next().is_none()) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Occupied(dir.into()).into()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error).with_context(|| dir.display().to_string()),
        }
    }

    /// Renames `dir` to the first of `DIR.1`, `DIR.2` that does not exist. None: it has nothing to lose.
    ///
    /// # Errors
    /// When `dir` cannot be read or renamed.
    pub fn move_aside(dir: &Path) -> Result<Option<PathBuf>> {
        match Results::vacant(dir) {
            Err(error) if error.is::<Occupied>() => {}
            vacant => return vacant.map(|()| None),
        }
        // A path such as `results/` or `.` names no entry that could be renamed.
        let dir = std::fs::canonicalize(dir).with_context(|| shown(dir).to_string())?;
        let numbered = (1..).map(|number: u32| {
            let mut name = dir.as_os_str().to_owned();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        });
        let mut free = numbered.filter(|path| path.symlink_metadata().is_err());
        let aside = free.next().context("there is no free name")?;
        std::fs::rename(&dir, &aside)
            .with_context(|| format!("moving {} to {}", shown(&dir), shown(&aside)))?;
        Ok(Some(aside))
    }

    /// Makes the folder.
    ///
    /// # Errors
    /// When it is not [vacant](Results::vacant) or cannot be made.
    pub fn create(dir: &Path) -> Result<Results> {
        Results::vacant(dir)?;
        let context = || format!("making the results' folder {}", dir.display());
        std::fs::create_dir_all(dir)
            .map_err(explained)
            .with_context(context)?;
        for name in ["trials", "console"] {
            std::fs::create_dir(dir.join(name))
                .map_err(explained)
                .with_context(context)?;
        }
        Ok(Results { dir: dir.into() })
    }

    /// The folder of a run that is continued ([`super::resume`]).
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

    /// A file of a trial's traces: the trial's name and an ending.
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

/// A log whose errors name its file.
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

/// Writes to another name and renames, so that a reader never sees half a file.
pub fn write<T: Serialize>(path: &Path, value: &T) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_files_is_refused_or_moved_whole() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path().join("out");
        assert!(Results::vacant(&dir).is_ok());
        assert_eq!(Results::move_aside(&dir).unwrap(), None);
        for (round, aside) in ["out.1", "out.2"].into_iter().enumerate() {
            std::fs::create_dir(&dir).unwrap();
            assert_eq!(Results::move_aside(&dir).unwrap(), None, "it is empty");
            std::fs::write(dir.join("there"), round.to_string()).unwrap();
            let refused = Results::create(&dir).map(|_| ()).unwrap_err();
            assert!(refused.is::<Occupied>(), "{refused}");
            let moved = Results::move_aside(&dir).unwrap().unwrap();
            assert_eq!(moved.file_name().unwrap(), aside);
            let text = std::fs::read_to_string(moved.join("there")).unwrap();
            assert_eq!(text, round.to_string());
            assert!(!dir.exists());
        }
    }
}
