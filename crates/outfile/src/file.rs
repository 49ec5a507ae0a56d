//! One output file.
use crate::signals::{watch, Place};
use crate::Error;
use rustix::fs::{renameat_with, RenameFlags, CWD};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What an output may replace.
#[derive(Clone, Copy, Default)]
pub struct Rules<'a> {
    /// Replace a file that exists.
    pub force: bool,
    /// Files that the command reads. None of them is ever replaced.
    pub inputs: &'a [&'a Path],
}

impl Rules<'_> {
    /// Replace whatever is there: for files of a folder that belongs to the command.
    pub const REPLACE: Rules<'static> = Rules {
        force: true,
        inputs: &[],
    };
}

/// A file that gets its name when it is finished. Dropped before, it leaves nothing behind. Devices and pipes
/// have no other name, and are written at once.
pub struct OutFile {
    file: File,
    path: PathBuf,
    force: bool,
    /// The temporary name. None is a device, or a file that is finished.
    partial: Option<(PathBuf, Place)>,
}

impl OutFile {
    /// Opens the file, so that an output that cannot be written is found before the work begins.
    ///
    /// # Errors
    /// The file exists and `rules` do not allow to replace it, or it cannot be created.
    pub fn create(path: &Path, rules: Rules) -> Result<OutFile, Error> {
        let failed = |cause| Error::Io {
            path: path.into(),
            cause,
        };
        let old = match fs::metadata(path) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        if let Some(old) = &old {
            if rules.inputs.iter().any(|input| is_same(old, input)) {
                return Err(Error::IsInput(path.into()));
            }
            if old.is_dir() {
                return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
            }
            if !old.is_file() {
                let file = File::options().write(true).open(path).map_err(failed)?;
                return Ok(OutFile {
                    file,
                    path: path.into(),
                    force: true,
                    partial: None,
                });
            }
            if !rules.force {
                return Err(Error::Exists(path.into()));
            }
        }
        // The file behind a symbolic link is replaced, not the link.
        let target = match &old {
            Some(_) => fs::canonicalize(path).map_err(failed)?,
            None => path.to_path_buf(),
        };
        let partial = partial_name(&target);
        let file = match File::options().write(true).create_new(true).open(&partial) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::Twice(path.into()))
            }
            file => file.map_err(failed)?,
        };
        let place = watch(&partial);
        if let Some(old) = &old {
            // Others may read what they could read before. Where that is refused, the usual mode holds.
            let _ = file.set_permissions(old.permissions());
        }
        Ok(OutFile {
            file,
            path: target,
            force: rules.force,
            partial: Some((partial, place)),
        })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// The file system refuses, or a file of this name has appeared since and may not be replaced.
    pub fn finish(mut self) -> Result<(), Error> {
        let Some((partial, place)) = self.partial.take() else {
            return Ok(());
        };
        let renamed = match self.force {
            true => fs::rename(&partial, &self.path),
            false => rename_new(&partial, &self.path),
        };
        drop(place);
        renamed.map_err(|cause| {
            // The reason is in the error; the file may be gone already.
            let _ = fs::remove_file(&partial);
            match cause.kind() {
                io::ErrorKind::AlreadyExists => Error::Exists(self.path.clone()),
                _ => Error::Io {
                    path: self.path.clone(),
                    cause,
                },
            }
        })
    }

    /// Drops all but the first bytes, before the file is finished. A device keeps what it has.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn cut(&mut self, bytes: u64) -> Result<(), Error> {
        match self.partial {
            Some(_) => self.file.set_len(bytes).map_err(|e| self.error(e)),
            None => Ok(()),
        }
    }

    /// The error of a write to this file.
    pub fn error(&self, cause: io::Error) -> Error {
        Error::Io {
            path: self.path.clone(),
            cause,
        }
    }

    /// Writes a text and finishes the file.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn whole(mut self, text: &str) -> Result<(), Error> {
        self.file
            .write_all(text.as_bytes())
            .map_err(|cause| self.error(cause))?;
        self.finish()
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for OutFile {
    fn drop(&mut self) {
        if let Some((partial, _place)) = &self.partial {
            // The cause has been reported already, and there may be nothing to remove.
            let _ = fs::remove_file(partial);
        }
    }
}

/// Writes a file whole.
///
/// # Errors
/// As [`OutFile::create`] and [`OutFile::whole`].
pub fn write(path: &Path, rules: Rules, text: &str) -> Result<(), Error> {
    OutFile::create(path, rules)?.whole(text)
}

fn is_same(file: &fs::Metadata, input: &Path) -> bool {
    fs::metadata(input).is_ok_and(|input| (input.dev(), input.ino()) == (file.dev(), file.ino()))
}

fn partial_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    name.into()
}

/// Renames, unless there is a file of the new name.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems, those of networks among them, have no such renaming.
        Err(Errno::INVAL | Errno::NOSYS) if !to.exists() => fs::rename(from, to),
        Err(Errno::INVAL | Errno::NOSYS) => Err(io::ErrorKind::AlreadyExists.into()),
        renamed => Ok(renamed?),
    }
}
