//! Finds `kernel/` (series and configuration fragments), in a checkout or as installed.
use crate::version::Line;
use anyhow::{bail, Result};
use std::path::{Path, PathBuf};

/// Overrides the search.
pub const VARIABLE: &str = "HOTSET_KERNEL_DIR";

/// The directory that holds `series/` and `config/`.
///
/// Looked for as `$HOTSET_KERNEL_DIR`; as `kernel/` in the working directory and above it, then in
/// the directory of this program and above it; in the source tree that this program was built in;
/// then where a package puts it.
///
/// # Errors
/// When there is none; the message lists the places.
pub fn kernel_dir() -> Result<PathBuf> {
    if let Some(given) = std::env::var_os(VARIABLE).map(PathBuf::from) {
        if !is_kernel_dir(&given) {
            bail!(
                "{VARIABLE}={}: there is no config/ in that directory",
                given.display()
            );
        }
        return Ok(given);
    }
    let mut places = Vec::new();
    for start in [std::env::current_dir().ok(), std::env::current_exe().ok()]
        .into_iter()
        .flatten()
    {
        places.extend(start.ancestors().map(|dir| dir.join("kernel")));
    }
    places.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernel"));
    places.push("/usr/local/share/hotset/kernel".into());
    places.push("/usr/share/hotset/kernel".into());
    match places.iter().find(|dir| is_kernel_dir(dir)) {
        Some(dir) => Ok(std::fs::canonicalize(dir)?),
        None => bail!(
            "no kernel/config directory found in the working directory or above it, nor beside \
             this program, nor in /usr/share/hotset. Run inside a checkout, or set {VARIABLE}"
        ),
    }
}

fn is_kernel_dir(dir: &Path) -> bool {
    dir.join("config").is_dir()
}

/// Where the patches for a line of kernels are kept.
pub fn series_dir(kernel_dir: &Path, line: Line) -> PathBuf {
    kernel_dir.join("series").join(line.to_string())
}

/// The configuration fragment for an architecture: one for this line of kernels alone where there
/// is one (`um-6.12.config`), else the architecture's (`um.config`).
///
/// # Errors
/// When there is neither; the message names the architectures that there are.
pub fn fragment(kernel_dir: &Path, arch: &str, line: Line) -> Result<PathBuf> {
    let dir = kernel_dir.join("config");
    for name in [format!("{arch}-{line}.config"), format!("{arch}.config")] {
        let path = dir.join(name);
        if path.is_file() {
            return Ok(path);
        }
    }
    let mut known: Vec<String> = std::fs::read_dir(&dir)?
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let stem = name.strip_suffix(".config")?;
            (!stem.contains('-')).then(|| stem.to_string())
        })
        .collect();
    known.sort();
    bail!(
        "{}: no fragment for architecture {arch:?}; there is one for: {}",
        dir.display(),
        known.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_of_the_line_goes_before_the_architectures() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config");
        std::fs::create_dir(&config).unwrap();
        std::fs::write(config.join("um.config"), "").unwrap();
        std::fs::write(config.join("um-6.12.config"), "").unwrap();
        let name = |line: &str| {
            let path = fragment(dir.path(), "um", line.parse().unwrap()).unwrap();
            path.file_name().unwrap().to_string_lossy().into_owned()
        };
        assert_eq!(name("7.3"), "um.config");
        assert_eq!(name("6.12"), "um-6.12.config");
        let error = fragment(dir.path(), "mips", "7.3".parse().unwrap()).unwrap_err();
        assert!(error.to_string().ends_with("there is one for: um"));
    }
}
