//! Packages of a kernel for a machine of its own: a distribution's configuration, with a series.
use crate::build::build_tree::BuildTree;
use crate::build::request::Request;
use crate::cache;
use crate::flavour::Flavour;
use crate::patches::Overlay;
use crate::process;
use anyhow::{bail, Context, Result};
use progress::Progress;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes of a whole distribution's objects without debugging information, and of the packages.
const WHOLE_BYTES: u64 = 12_000_000_000;
/// The same with the modules of one machine.
const LOADED_BYTES: u64 = 3_000_000_000;

/// Settings of a distribution that need its keys or its tools, and debugging information, which is ten times as large as
/// the kernel.
const CHANGED: &[&str] = &[
    "CONFIG_SYSTEM_TRUSTED_KEYS=\"\"",
    "CONFIG_SYSTEM_REVOCATION_KEYS=\"\"",
    "CONFIG_MODULE_SIG_KEY=\"certs/signing_key.pem\"",
    "CONFIG_LOCALVERSION=\"\"",
    "# CONFIG_LOCALVERSION_AUTO is not set",
    "CONFIG_BUILD_SALT=\"\"",
    "CONFIG_DEBUG_INFO_NONE=y",
    "# CONFIG_DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT is not set",
    "# CONFIG_DEBUG_INFO_DWARF4 is not set",
    "# CONFIG_DEBUG_INFO_DWARF5 is not set",
    "# CONFIG_DEBUG_INFO_BTF is not set",
];

/// The kind of package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Deb,
    Rpm,
}

impl Format {
    fn target(self) -> &'static str {
        match self {
            Format::Deb => "bindeb-pkg",
            Format::Rpm => "binrpm-pkg",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Format::Deb => "deb",
            Format::Rpm => "rpm",
        }
    }

    /// Programs and headers beyond those of other builds, each with its package in Debian.
    fn needs(self) -> Vec<(&'static str, &'static str)> {
        let mut needs = vec![
            ("rsync", "rsync"),
            ("depmod", "kmod"),
            ("cpio", "cpio"),
            ("/usr/include/openssl/opensslv.h", "libssl-dev"),
            ("/usr/include/libelf.h", "libelf-dev"),
        ];
        match self {
            Format::Deb => needs.extend([("dpkg-buildpackage", "dpkg-dev"), ("dh", "debhelper")]),
            Format::Rpm => needs.push(("rpmbuild", "rpm")),
        }
        needs
    }
}

/// Which packages to make.
pub struct Wanted<'a> {
    /// Of the architecture that the machine has. Its variant is of no effect.
    pub request: &'a Request,
    /// The configuration to start from.
    pub config: &'a Path,
    /// Only the modules that are loaded on this machine.
    pub only_loaded: bool,
    pub format: Format,
    /// The folder that gets the packages.
    pub output: &'a Path,
}

/// The packages that were made.
#[derive(Debug, Serialize)]
pub struct Packages {
    /// The release that `uname -r` will show.
    pub release: String,
    pub files: Vec<PathBuf>,
}

/// Checks what can be checked before an hour's work: the configuration and the programs.
///
/// # Errors
/// The message names the file, or the packages to install.
pub fn check(wanted: &Wanted) -> Result<()> {
    let config = read(wanted.config)?;
    if !config
        .lines()
        .any(|line| line.starts_with("CONFIG_") && line.contains('='))
    {
        bail!(
            "{}: this is no configuration of a kernel",
            wanted.config.display()
        );
    }
    let there = |name: &str| match name.starts_with('/') {
        true => Path::new(name).exists(),
        // Programs of root are not in everybody's PATH.
        false => {
            let root = Path::new("/usr/sbin").join(name);
            processes::program::find(name.as_ref()).is_ok() || root.exists()
        }
    };
    let lacks: Vec<&str> = wanted
        .format
        .needs()
        .into_iter()
        .filter_map(|(name, package)| (!there(name)).then_some(package))
        .collect();
    if !lacks.is_empty() {
        bail!("packages are missing: apt-get install {}", lacks.join(" "));
    }
    Ok(())
}

/// Builds the kernel and its packages.
///
/// # Errors
/// As [`check`]; a hunk does not apply, the compiler fails, or the disk is too small.
pub fn package(wanted: &Wanted, progress: &mut Progress) -> Result<Packages> {
    check(wanted)?;
    let request = wanted.request;
    let cache = request.cache()?;
    let patches = request.patches()?;
    let flavour = request.flavour_of(&patches);
    let source = request.source(&cache, progress)?;
    let (arch, variant) = (request.arch.as_str(), Some("package"));
    let tree = BuildTree::open(&cache, &source, arch, variant, request.jobs, progress)?;
    let bytes = if wanted.only_loaded {
        LOADED_BYTES
    } else {
        WHOLE_BYTES
    };
    if !tree.built_before() {
        cache::need_space(tree.folder(), bytes, "a distribution's kernel")?;
    }
    let mut overlay = Overlay::empty()?;
    for patch in &patches {
        overlay.apply(patch, &source.dir)?;
    }
    tree.set(&overlay, progress)?;
    let config = changed(&read(wanted.config)?);
    let got = tree.configure_as(&config, wanted.only_loaded, progress)?;
    let protects = matches!(flavour, Flavour::Series | Flavour::Both);
    if protects
        && !got
            .lines()
            .any(|line| line == "CONFIG_WORKINGSET_PROTECTION=y")
    {
        bail!("this configuration leaves CONFIG_WORKINGSET_PROTECTION out: it needs CONFIG_MMU and CONFIG_SYSCTL");
    }
    remove_packages(tree.folder(), wanted.format)?;
    let suffix = format!("LOCALVERSION={}", flavour.suffix());
    let title = format!("Packaging {} ({arch})", flavour.label());
    // Debian's packages are asked for what a kernel with debugging information needs, too. [`check`] has the rest.
    let arguments = [&suffix, "DPKG_FLAGS=-d", wanted.format.target()];
    tree.make_target(&arguments, &title, progress)?;
    let files = keep(&tree, wanted)?;
    Ok(Packages {
        release: tree.release()?,
        files,
    })
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .with_context(|| format!("{}: cannot read the configuration", path.display()))
}

/// The configuration with the lines of [`CHANGED`] in place of its own.
fn changed(config: &str) -> String {
    let symbol = |line: &str| {
        let line = line.strip_prefix("# ").unwrap_or(line);
        line.split([' ', '=']).next().unwrap_or_default().to_owned()
    };
    let replaced: Vec<String> = CHANGED.iter().map(|line| symbol(line)).collect();
    let kept = config
        .lines()
        .filter(|line| !replaced.contains(&symbol(line)));
    let lines = kept.chain(CHANGED.iter().copied());
    lines.map(|line| format!("{line}\n")).collect()
}

/// kbuild puts Debian's packages beside the objects, and those for RPM below them.
fn places(folder: &Path) -> [PathBuf; 2] {
    [folder.to_owned(), folder.join("obj/rpmbuild/RPMS")]
}

/// The packages of a format in a folder and the folders below it that kbuild makes for them.
fn packages(folder: &Path, format: Format) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for place in places(folder) {
        let inner = std::fs::read_dir(&place)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let below = inner.flat_map(|path| match place != folder && path.is_dir() {
            true => std::fs::read_dir(path)
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.path())
                .collect(),
            false => vec![path],
        });
        found.extend(below.filter(|path| {
            path.extension()
                .is_some_and(|end| end == format.extension())
        }));
    }
    found.sort();
    found
}

fn remove_packages(folder: &Path, format: Format) -> Result<()> {
    for old in packages(folder, format) {
        std::fs::remove_file(&old).with_context(|| old.display().to_string())?;
    }
    Ok(())
}

/// Moves the packages to the folder that gets them.
fn keep(tree: &BuildTree, wanted: &Wanted) -> Result<Vec<PathBuf>> {
    let mut kept = Vec::new();
    std::fs::create_dir_all(wanted.output).with_context(|| wanted.output.display().to_string())?;
    for from in packages(tree.folder(), wanted.format) {
        let to = wanted.output.join(from.file_name().unwrap_or_default());
        std::fs::copy(&from, &to).with_context(|| to.display().to_string())?;
        std::fs::remove_file(&from)?;
        kept.push(to);
    }
    if kept.is_empty() {
        bail!(
            "make {} made no package; the log: {}",
            wanted.format.target(),
            tree.log().display()
        );
    }
    Ok(kept)
}

/// The configuration of the kernel that runs, as distributions install it.
#[must_use]
pub fn running_config() -> Option<PathBuf> {
    let release = process::output(Command::new("uname").arg("-r")).ok()?.out;
    let release = release.trim();
    [
        format!("/boot/config-{release}"),
        format!("/lib/modules/{release}/config"),
    ]
    .into_iter()
    .map(PathBuf::from)
    .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distributions_keys_and_debugging_information_are_left_out() {
        let config = "CONFIG_A=y\nCONFIG_SYSTEM_TRUSTED_KEYS=\"debian/certs/x.pem\"\nCONFIG_DEBUG_INFO_BTF=y\n\
                      CONFIG_DEBUG_INFO_BTF_MODULES=y\n# CONFIG_DEBUG_INFO_NONE is not set\n";
        let text = changed(config);
        assert!(
            text.starts_with("CONFIG_A=y\nCONFIG_DEBUG_INFO_BTF_MODULES=y\n"),
            "{text}"
        );
        assert_eq!(text.matches("CONFIG_SYSTEM_TRUSTED_KEYS").count(), 1);
        assert!(
            text.contains("\nCONFIG_DEBUG_INFO_NONE=y\n") && !text.contains("debian"),
            "{text}"
        );
    }

    #[test]
    fn only_packages_of_the_format_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("obj/rpmbuild/RPMS/x86_64");
        std::fs::create_dir_all(&below).unwrap();
        for path in [
            dir.path().join("a.deb"),
            dir.path().join("log"),
            below.join("b.rpm"),
        ] {
            std::fs::write(path, "").unwrap();
        }
        assert_eq!(
            packages(dir.path(), Format::Deb),
            [dir.path().join("a.deb")]
        );
        assert_eq!(packages(dir.path(), Format::Rpm), [below.join("b.rpm")]);
    }
}
