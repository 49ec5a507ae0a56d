//! Finds `kernel/` (series and configuration fragments), in a checkout or as installed.
use crate::version::Line;
use anyhow::{bail, Result};
use std::path::{Path, PathBuf};

/// The environment variable that names the kernel directory.
pub const VARIABLE: &str = "HOTSET_KERNEL_DIR";

/// The directory that holds `series/` and `config/`.
///
/// The search order:
///
/// 1. `$HOTSET_KERNEL_DIR`.
/// 2. `kernel/` in the working directory and above it.
/// 3. `kernel/` beside this program and above it.
/// 4. The source tree that this program was built in.
/// 5. The places of `make install`.
///
/// # Errors
/// When there is no such directory; the message lists the places.
pub fn kernel_dir() -> Result<PathBuf> {
    if let Some(given) = std::env::var_os(VARIABLE).map(PathBuf::from) {
        if !is_kernel_dir(&given) {
            bail!(
                "{VARIABLE}={}: there is no config/ in that folder",
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
    places.extend(processes::program::installed("share/hotset/kernel"));
    match places.iter().find(|dir| is_kernel_dir(dir)) {
        Some(dir) => Ok(std::fs::canonicalize(dir)?),
        None => bail!(
            "no folder kernel/config found in the working folder or above it, nor beside \
             this program, nor where make install puts it. Run inside a checkout, or set {VARIABLE}"
        ),
    }
}

fn is_kernel_dir(dir: &Path) -> bool {
    dir.join("config").is_dir()
}

/// The directory of a series for a line of kernels: `series/7.3`, or with the name of the series,
/// `series/7.3-swappiness`. A series on top of the protection series has a directory of its own,
/// `series/6.12-swappiness-on-protection`, only where the same patches do not apply to both.
/// `folder` is `series`, or `testbed` for patches of the test bed: `testbed/7.3-generations`.
pub fn series_dir(kernel_dir: &Path, folder: &str, line: Line, series: Option<&str>) -> PathBuf {
    let folder = kernel_dir.join(folder);
    let Some(series) = series else {
        return folder.join(line.to_string());
    };
    let dir = folder.join(format!("{line}-{series}"));
    match series.strip_suffix("-on-protection") {
        Some(alone) if !dir.is_dir() => folder.join(format!("{line}-{alone}")),
        _ => dir,
    }
}

/// The configuration fragments for an architecture, lowest first. A later fragment overrides an
/// earlier one: `um.config`; for a line of kernels `um-6.12.config`; for a variant
/// `um-debug.config`; for both `um-debug-6.12.config`. All but the first are optional.
///
/// # Errors
/// When the architecture or the variant has no fragment; the message names those that exist.
pub fn fragments(
    kernel_dir: &Path,
    arch: &str,
    variant: Option<&str>,
    line: Line,
) -> Result<Vec<PathBuf>> {
    let dir = kernel_dir.join("config");
    let base = dir.join(format!("{arch}.config"));
    if !base.is_file() {
        let known = known(&dir, |stem| (!stem.contains('-')).then_some(stem))?;
        bail!(
            "{}: no fragment for architecture {arch:?}; there is one for: {known}{}",
            dir.display(),
            names::suggestion(arch, known.split(", "))
        );
    }
    let mut paths = vec![base];
    let of_line = dir.join(format!("{arch}-{line}.config"));
    paths.extend(of_line.is_file().then_some(of_line));
    if let Some(variant) = variant {
        let path = dir.join(format!("{arch}-{variant}.config"));
        if !path.is_file() {
            let prefix = format!("{arch}-");
            let variants = known(&dir, |stem| {
                let name = stem.strip_prefix(&prefix)?;
                (!is_of_line(name)).then_some(name)
            })?;
            bail!(
                "{}: {arch} has no variant {variant:?}; there is: {}{}",
                path.display(),
                if variants.is_empty() {
                    "none"
                } else {
                    &variants
                },
                names::suggestion(variant, variants.split(", "))
            );
        }
        paths.push(path);
        let of_line = dir.join(format!("{arch}-{variant}-{line}.config"));
        paths.extend(of_line.is_file().then_some(of_line));
    }
    Ok(paths)
}

/// Every architecture with a fragment, plain and in each of its variants.
///
/// # Errors
/// When the directory cannot be read.
pub fn configurations(kernel_dir: &Path) -> Result<Vec<(String, Option<String>)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(kernel_dir.join("config"))?.flatten() {
        let name = entry.file_name();
        let Some(stem) = name.to_str().and_then(|name| name.strip_suffix(".config")) else {
            continue;
        };
        match stem.split_once('-') {
            None => found.push((stem.to_string(), None)),
            Some((arch, variant)) if !is_of_line(variant) => {
                found.push((arch.to_string(), Some(variant.to_string())));
            }
            Some(_) => {}
        }
    }
    found.sort();
    Ok(found)
}

/// Whether the part behind an architecture's name contains the number of a line of kernels.
fn is_of_line(rest: &str) -> bool {
    rest.contains(|c: char| c.is_ascii_digit())
}

/// Names of the fragments in `dir` that `pick` selects, for a message.
fn known(dir: &Path, pick: impl Fn(&str) -> Option<&str>) -> Result<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)?
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            pick(name.strip_suffix(".config")?).map(Into::into)
        })
        .collect();
    names.sort();
    Ok(names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_of_the_line_and_the_variant_lie_over_the_architectures() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config");
        std::fs::create_dir(&config).unwrap();
        for name in ["um", "um-6.12", "um-debug", "um-debug-6.12"] {
            std::fs::write(config.join(format!("{name}.config")), "").unwrap();
        }
        let find = |arch: &str, variant: Option<&str>, line: &str| {
            fragments(dir.path(), arch, variant, line.parse().unwrap()).map(|paths| {
                let names = paths.iter().map(|path| path.file_stem().unwrap());
                let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
                names.join(" ")
            })
        };
        assert_eq!(find("um", None, "7.3").unwrap(), "um");
        assert_eq!(find("um", None, "6.12").unwrap(), "um um-6.12");
        assert_eq!(find("um", Some("debug"), "7.3").unwrap(), "um um-debug");
        assert_eq!(
            find("um", Some("debug"), "6.12").unwrap(),
            "um um-6.12 um-debug um-debug-6.12"
        );
        let all = configurations(dir.path()).unwrap();
        let um = |variant: Option<&str>| ("um".to_string(), variant.map(String::from));
        assert_eq!(all, [um(None), um(Some("debug"))]);
        let error = find("mips", None, "7.3").unwrap_err().to_string();
        assert!(error.ends_with("there is one for: um"), "{error}");
        let error = find("um", Some("fast"), "7.3").unwrap_err().to_string();
        assert!(error.ends_with("there is: debug"), "{error}");
    }
}
