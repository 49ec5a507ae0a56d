//! Finds a program as execvp(3) does, so that a wrong command is reported before anything is opened; and what `make
//! install` has put beside this one.
use rustix::fs::{access, Access};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Why a command cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    Missing,
    NotExecutable,
}

impl Unusable {
    /// The exit status that shells have for it.
    pub fn status(self) -> u8 {
        match self {
            Unusable::Missing => 127,
            Unusable::NotExecutable => 126,
        }
    }
}

/// The path of a command: in the folders of `PATH`, or as it stands where the name has a slash.
///
/// # Errors
/// There is no such program, or none that may be executed.
pub fn find(command: &OsStr) -> Result<PathBuf, Unusable> {
    let named = Path::new(command);
    if named.components().count() > 1 || command.as_encoded_bytes().contains(&b'/') {
        return usable(named);
    }
    let folders = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let mut worst = Unusable::Missing;
    for folder in std::env::split_paths(&folders) {
        match usable(&folder.join(named)) {
            Err(Unusable::Missing) => {}
            Err(other) => worst = other,
            found => return found,
        }
    }
    Err(worst)
}

/// The places of an installed file or folder, such as `sbin/hotsetd`: below the PREFIX that this program lies in, and
/// below /usr, where packages install.
pub fn installed(what: &str) -> Vec<PathBuf> {
    let own = std::env::current_exe().ok();
    let prefix = own.as_deref().and_then(|path| path.ancestors().nth(2));
    let mut places: Vec<PathBuf> = prefix.map(|prefix| prefix.join(what)).into_iter().collect();
    let packaged = Path::new("/usr").join(what);
    if !places.contains(&packaged) {
        places.push(packaged);
    }
    places
}

fn usable(path: &Path) -> Result<PathBuf, Unusable> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Err(Unusable::NotExecutable)
        }
        Err(_) => Err(Unusable::Missing),
        Ok(about) if about.is_file() && access(path, Access::EXEC_OK).is_ok() => Ok(path.into()),
        Ok(_) => Err(Unusable::NotExecutable),
    }
}
