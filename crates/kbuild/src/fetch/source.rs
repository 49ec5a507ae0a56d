//! Kernel trees: Debian's, fetched once into the cache, or a directory of the caller.
use crate::cache::{self, Cache, Partial};
use crate::fetch::apt::{self, Package, Root};
use crate::fetch::mirrors::Mirrors;
use crate::fetch::unpack::unpack;
use crate::version::{Line, Version};
use anyhow::{bail, Context, Result};
use progress::{Progress, Step, Unit};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// The origin of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Debian's `linux-source` package of the wanted line.
    #[default]
    Debian,
    /// A directory of the caller. It is read, never written.
    Tree(PathBuf),
}

/// A kernel tree, ready to read.
#[derive(Clone, Debug, Serialize)]
pub struct Source {
    pub dir: PathBuf,
    #[serde(serialize_with = "as_text")]
    pub version: Version,
    /// Identifies the source exactly: the package's version and checksum, or a checksum of the
    /// tree's contents.
    pub identity: String,
    /// The package of Debian's trees: "linux-source-7.3 7.3.4-1~bpo13+1".
    pub package: Option<String>,
}

fn as_text<S: serde::Serializer>(version: &Version, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(version)
}

/// A package to fetch, and where from.
#[derive(Clone, Debug)]
pub struct Fetch {
    pub line: Line,
    /// URI of Debian's archive. None: from the machine's apt sources.
    pub mirror: Option<String>,
    /// URI of Debian's security archive. None: from the machine's apt sources.
    pub security_mirror: Option<String>,
    /// Fetch a newer package if there is one, even when the cache holds one of the line.
    pub refresh: bool,
    pub keyring: PathBuf,
}

impl Fetch {
    pub fn new(line: Line) -> Fetch {
        Fetch {
            line,
            mirror: None,
            security_mirror: None,
            refresh: false,
            keyring: apt::KEYRING.into(),
        }
    }
}

/// The note in each fetched tree that names its package. A tree with a note is whole.
const NOTE: &str = ".hotset-source.json";

#[derive(Serialize, Deserialize)]
struct Note {
    package: String,
    version: String,
    sha256: String,
}

/// Bytes of the unpacked tree, and of its package beside it while it is unpacked.
const TREE_BYTES: u64 = 2_000_000_000;

/// Finds the newest tree of `line` in the cache.
///
/// # Errors
/// When the cache cannot be read.
pub fn cached(cache: &Cache, line: Line) -> Result<Option<Source>> {
    let mut found: Vec<Source> = all_cached(cache)?;
    found.retain(|source| source.version.line() == line);
    Ok(found.into_iter().max_by_key(|source| source.version.patch))
}

/// Every fetched tree in the cache.
///
/// # Errors
/// When the cache cannot be read.
pub fn all_cached(cache: &Cache) -> Result<Vec<Source>> {
    let dir = cache.root().join("source");
    let Ok(entries) = std::fs::read_dir(&dir) else {
        return Ok(Vec::new());
    };
    let mut found: Vec<Source> = entries
        .flatten()
        .filter(|entry| cache::is_finished(&entry.file_name().to_string_lossy()))
        .filter_map(|entry| read_cached(&entry.path()).ok())
        .collect();
    found.sort_by(|a, b| a.dir.cmp(&b.dir));
    Ok(found)
}

fn read_cached(dir: &Path) -> Result<Source> {
    let note: Note = serde_json::from_slice(&std::fs::read(dir.join(NOTE))?)?;
    Ok(Source {
        dir: dir.to_path_buf(),
        version: Version::of_tree(dir)?,
        identity: format!("deb:{}={}:{}", note.package, note.version, note.sha256),
        package: Some(format!("{} {}", note.package, note.version)),
    })
}

/// Gets the tree of `origin`. Fetches it if the cache has none.
///
/// # Errors
/// As [`fetch`] and [`of_tree`]; and when the caller's tree is of another line than the wanted one.
pub fn get(
    cache: &Cache,
    origin: &Origin,
    fetching: &Fetch,
    progress: &mut Progress,
) -> Result<Source> {
    let Origin::Tree(dir) = origin else {
        return fetch(cache, fetching, progress);
    };
    check_tree(dir, fetching.line)?;
    of_tree(dir, progress)
}

/// Checks that a directory of the caller is a source of the line, as far as that is known at once.
///
/// # Errors
/// The directory is no kernel tree, holds another line, or was built in: kbuild then refuses to build
/// elsewhere.
pub fn check_tree(dir: &Path, line: Line) -> Result<()> {
    let version = Version::of_tree(dir)?;
    let found = version.line();
    if found != line {
        bail!(
            "{} holds Linux {version}, not {line}; name {found} on the command line to use it",
            dir.display()
        );
    }
    for sign in [".config", "include/config", "vmlinux"] {
        if dir.join(sign).exists() {
            bail!(
                "{}: this tree was built in ({sign} is there), and kbuild then refuses to build \
                 elsewhere. Run `make mrproper` in it, or give a clean checkout",
                dir.display()
            );
        }
    }
    Ok(())
}

/// Fetches Debian's package of a line into the cache, with its signatures checked. Without
/// `refresh`, a tree of the line in the cache is enough.
///
/// # Errors
/// When there is no mirror, keyring, package or space, or a signature is bad. The message lists the
/// packages that exist.
pub fn fetch(cache: &Cache, wanted: &Fetch, progress: &mut Progress) -> Result<Source> {
    if !wanted.refresh {
        if let Some(source) = cached(cache, wanted.line)? {
            return Ok(source);
        }
    }
    let folder = cache.folder("source")?;
    let name = wanted.line.to_string();
    let _lock = cache::lock(&folder, &name, progress)?;
    let have = cached(cache, wanted.line)?;
    if let (Some(source), false) = (&have, wanted.refresh) {
        return Ok(source.clone());
    }
    cache::need_space(&folder, TREE_BYTES, &format!("unpacking Linux {name}"))?;
    let package = wanted.line.package();
    // apt-cache lists the candidates; the last is the newest.
    let newest = |packages: &[Package]| {
        let mut of_line = packages.iter().filter(|found| found.name == package);
        of_line.next_back().cloned()
    };
    let prefix = "linux-source-";
    let (root, package) = find_package(cache, wanted, prefix, &package, &newest, progress)?;
    if let Some(source) = have {
        if source.identity.contains(&format!("={}:", package.version)) {
            progress(Step::Note {
                text: format!("{} {} is the newest", package.name, package.version),
            });
            return Ok(source);
        }
    }
    let partial = Partial::begin(&folder, &name)?;
    let deb = root.download(&package, partial.path(), progress)?;
    let tree = unpack(&deb, partial.path(), &package.name, progress).with_context(|| {
        format!(
            "unpacking {} in {} (which is cleared now)",
            package.name,
            folder.display()
        )
    })?;
    let version = Version::of_tree(&tree)?;
    if version.line() != wanted.line {
        bail!(
            "{} holds Linux {version}, not {}",
            package.name,
            wanted.line
        );
    }
    let note = serde_json::to_string_pretty(&Note {
        package: package.name,
        version: package.version,
        sha256: package.sha256,
    })?;
    std::fs::write(tree.join(NOTE), note)?;
    let place = folder.join(format!("linux-{version}"));
    partial.finish(&tree, &place)?;
    read_cached(&place)
}

/// Finds a package in the line's suites, one suite after the other. `choose` picks it from those
/// whose names begin with `prefix`. `name` is the package's name in messages.
pub(crate) fn find_package(
    cache: &Cache,
    wanted: &Fetch,
    prefix: &str,
    name: &str,
    choose: &dyn Fn(&[Package]) -> Option<Package>,
    progress: &mut Progress,
) -> Result<(Root, Package)> {
    let mirrors = Mirrors::find(wanted.mirror.clone(), wanted.security_mirror.clone());
    let mut seen = Vec::new();
    let mut problems = Vec::new();
    for suite in wanted.line.suites() {
        let attempt = mirrors.of_suite(suite).and_then(|mirror| {
            let dir = cache.folder(&format!("apt/{suite}"))?;
            // One root serves sources and images.
            let lock = cache::lock(&dir, "root", progress)?;
            let root = Root::create(&dir, mirror, suite, &wanted.keyring, lock)?;
            root.update(progress)?;
            let packages = root.packages(prefix)?;
            Ok((root, packages))
        });
        match attempt {
            Ok((root, packages)) => {
                if let Some(package) = choose(&packages) {
                    return Ok((root, package));
                }
                seen.extend(packages.into_iter().map(|package| (*suite, package)));
            }
            Err(error) => problems.push(format!("{error:#}")),
        }
    }
    bail!(not_found(wanted.line, name, &seen, &problems))
}

/// The message for a package that no suite has: the suites that were searched, and the
/// alternatives.
pub fn not_found(line: Line, name: &str, seen: &[(&str, Package)], problems: &[String]) -> String {
    let known: Vec<String> = crate::version::KNOWN.iter().map(Line::to_string).collect();
    let mut text = if line.suites().is_empty() {
        format!(
            "hotset knows no Debian suite with Linux {line}; it knows {}",
            known.join(" and ")
        )
    } else if problems.len() == line.suites().len() {
        let suites = line.suites().join(" or ");
        format!("cannot look for {name}: no list of packages of {suites} could be read")
    } else {
        format!("{name} is not in {}", line.suites().join(" or "))
    };
    for problem in problems {
        text.push_str("\n- ");
        text.push_str(problem);
    }
    if !seen.is_empty() {
        text.push_str("\nThese packages exist:");
        // The newest are enough: a suite has a hundred images.
        for (suite, package) in &seen[seen.len().saturating_sub(12)..] {
            text.push_str(&format!(
                "\n  {} {} ({suite})",
                package.name, package.version
            ));
        }
    }
    text.push_str(&format!(
        "\nAny {line}.x serves, from another mirror (--mirror, --security-mirror) or as a source tree \
         of your own (--tree FOLDER). So does another line with a series ({}).",
        known.join(", ")
    ));
    text
}

/// Takes a directory of the caller as a source.
///
/// # Errors
/// When the directory is no kernel tree, cannot be read, or was built in: kbuild then refuses to
/// build elsewhere.
pub fn of_tree(dir: &Path, progress: &mut Progress) -> Result<Source> {
    let dir = std::fs::canonicalize(dir).with_context(|| dir.display().to_string())?;
    let version = Version::of_tree(&dir)?;
    check_tree(&dir, version.line())?;
    progress(Step::Begin {
        title: format!("Reading {}", dir.display()),
        total: None,
        unit: Unit::Bytes,
    });
    let mut hash = Sha256::new();
    let mut done = 0;
    let mut reported = 0;
    for path in crate::cache::files::files_below(&dir)? {
        let full = dir.join(&path);
        let kind = std::fs::symlink_metadata(&full)?;
        let contents = if kind.is_symlink() {
            std::fs::read_link(&full)?
                .into_os_string()
                .into_encoded_bytes()
        } else {
            std::fs::read(&full).with_context(|| full.display().to_string())?
        };
        let name = path.as_os_str().as_encoded_bytes();
        for part in [name, &contents] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        done += contents.len() as u64;
        if done - reported > 20_000_000 {
            reported = done;
            progress(Step::Advance {
                done,
                detail: String::new(),
            });
        }
    }
    progress(Step::End {
        text: format!("{}: Linux {version}", dir.display()),
    });
    Ok(Source {
        dir,
        version,
        identity: format!("tree:{:x}", hash.finalize()),
        package: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_for_a_missing_package_names_suites_packages_and_options() {
        let seen = [(
            "trixie-backports",
            Package {
                name: "linux-source-7.4".into(),
                version: "7.4.1-1~bpo13+1".into(),
                size: 1,
                sha256: String::new(),
            },
        )];
        let text = not_found("7.3".parse().unwrap(), "linux-source-7.3", &seen, &[]);
        assert!(text.contains("linux-source-7.3 is not in trixie-backports"));
        assert!(text.contains("linux-source-7.4 7.4.1-1~bpo13+1 (trixie-backports)"));
        assert!(text.contains("7.3.x") && text.contains("--tree FOLDER"));
        let silent = ["trixie-backports: the mirror does not answer".to_string()];
        let text = not_found("7.3".parse().unwrap(), "linux-source-7.3", &[], &silent);
        assert!(
            text.starts_with("cannot look for linux-source-7.3"),
            "{text}"
        );
        assert!(!text.contains("is not in"), "{text}");
        let text = not_found("5.4".parse().unwrap(), "linux-source-5.4", &[], &[]);
        assert!(text.contains("it knows 7.3 and 6.12"), "{text}");
    }
}
