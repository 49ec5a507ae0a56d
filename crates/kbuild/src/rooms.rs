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

/// Where the patches of a series for a line of kernels are kept: `series/7.3`, or with the series'
/// name behind: `series/7.3-swappiness`. A series that is laid over the protection series has a
/// variant for that, `series/6.12-swappiness-on-protection`, only where the same patches do not
/// apply to both. Patches of the test bed are in a room of their own: `testbed/7.3-generations`.
pub fn series_dir(kernel_dir: &Path, room: &str, line: Line, series: Option<&str>) -> PathBuf {
    let room = kernel_dir.join(room);
    let Some(series) = series else {
        return room.join(line.to_string());
    };
    let dir = room.join(format!("{line}-{series}"));
    match series.strip_suffix("-on-protection") {
        Some(alone) if !dir.is_dir() => room.join(format!("{line}-{alone}")),
        _ => dir,
    }
}

/// The configuration fragments for an architecture, in the order in which they are laid one over the
/// other: `um.config`, then where they exist what a line of kernels wants otherwise
/// (`um-6.12.config`), the variant's (`um-debug.config`), and the variant's for this line
/// (`um-debug-6.12.config`).
///
/// # Errors
/// When there is none for the architecture, or none for the variant; the message names those that
/// there are.
pub fn fragments(
    kernel_dir: &Path,
    arch: &str,
    variant: Option<&str>,
    line: Line,
) -> Result<Vec<PathBuf>> {
    let dir = kernel_dir.join("config");
    let base = dir.join(format!("{arch}.config"));
    if !base.is_file() {
        bail!(
            "{}: no fragment for architecture {arch:?}; there is one for: {}",
            dir.display(),
            known(&dir, |stem| (!stem.contains('-')).then_some(stem))?
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
                "{}: {arch} has no variant {variant:?}; there is: {}",
                path.display(),
                if variants.is_empty() {
                    "none"
                } else {
                    &variants
                }
            );
        }
        paths.push(path);
        let of_line = dir.join(format!("{arch}-{variant}-{line}.config"));
        paths.extend(of_line.is_file().then_some(of_line));
    }
    Ok(paths)
}

/// Every architecture that there is a fragment for, plain and in each of its variants.
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

/// Whether what stands behind an architecture ends with a line's number.
fn is_of_line(rest: &str) -> bool {
    rest.contains(|c: char| c.is_ascii_digit())
}

/// Names of the fragments in `dir` that `pick` makes something of, for a message.
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
