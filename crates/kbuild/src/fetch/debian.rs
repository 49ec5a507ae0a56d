//! Debian's own kernel packages, booted unchanged: stock kernels.
//!
//! The cloud flavour has the drivers of a virtual machine built in, except for its disk and zram,
//! which are modules. A guest has no modprobe: it loads the modules from its first root with
//! finit_module(2), in the order of [`DebianImage::modules`].
use crate::cache::{self, Cache, Partial};
use crate::fetch::apt::Package;
use crate::fetch::source::{find_package, Fetch};
use crate::fetch::unpack;
use crate::version::Line;
use anyhow::{bail, Context, Result};
use progress::{Progress, Step};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes of the unpacked package, and of the package beside it while it is unpacked.
const PACKAGE_BYTES: u64 = 150_000_000;
/// What the names of a kernel's packages begin with. Up to 6.12 the first has everything; it needs the others since.
const PARTS: [&str; 4] = [
    "linux-image-",
    "linux-base-",
    "linux-binary-",
    "linux-modules-",
];
/// The note beside each image that names its package. An image with a note is whole.
const NOTE: &str = "note.json";

/// Debian's kernel in the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DebianImage {
    /// The bootable image, a bzImage.
    pub image: PathBuf,
    pub config: PathBuf,
    pub system_map: PathBuf,
    /// The release that `uname -r` shows: "6.12.117+deb12-cloud-amd64".
    pub release: String,
    /// For tables: "6.12.117 Debian".
    pub label: String,
    /// "linux-image-6.12.117+deb12-cloud-amd64 6.12.117-1~deb12u1".
    pub package: String,
    /// The package's `/lib/modules/RELEASE`.
    pub modules: PathBuf,
}

/// A module, ready to be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The name with underscores, as in /proc/modules.
    pub name: String,
    /// The object, decompressed.
    pub object: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Note {
    package: String,
    version: String,
    release: String,
}

/// The image of `line` in the user's cache, fetched if the cache has none.
///
/// # Errors
/// As [`fetch`].
pub fn ensure(line: Line, progress: &mut Progress) -> Result<DebianImage> {
    fetch(&Cache::of_user()?, &Fetch::new(line), progress)
}

/// Fetches Debian's newest cloud kernel of a line into the cache, with its signatures checked.
/// Without `refresh`, a kernel of the line in the cache is enough.
///
/// # Errors
/// No mirror, no keyring, a bad signature, no such package, no space.
pub fn fetch(cache: &Cache, wanted: &Fetch, progress: &mut Progress) -> Result<DebianImage> {
    if !wanted.refresh {
        if let Some(image) = cached(cache, wanted.line) {
            return Ok(image);
        }
    }
    let folder = cache.folder("debian")?;
    let name = wanted.line.to_string();
    let _lock = cache::lock(&folder, &name, progress)?;
    let have = cached(cache, wanted.line);
    if let (Some(image), false) = (&have, wanted.refresh) {
        return Ok(image.clone());
    }
    cache::need_space(&folder, PACKAGE_BYTES, "Debian's kernel package")?;
    let name = format!("linux-image-{}*-cloud-amd64", wanted.line);
    let newest = |packages: &[Package]| {
        let of_line = packages
            .iter()
            .filter_map(|package| Some((patch_level(&package.name, wanted.line)?, package)));
        of_line
            .max_by_key(|(level, _)| *level)
            .map(|(_, package)| package.clone())
    };
    let (root, package) = find_package(cache, wanted, "linux-image-", &name, &newest, progress)?;
    if let Some(image) = have {
        if image.package == format!("{} {}", package.name, package.version) {
            progress(Step::Note {
                text: format!("{} is the newest", image.package),
            });
            return Ok(image);
        }
    }
    let partial = Partial::begin(&folder, &name)?;
    let release = package.name["linux-image-".len()..].to_string();
    let mut outer = PathBuf::new();
    for part in PARTS {
        let of_image = |other: &Package| {
            other.name == format!("{part}{release}") && other.version == package.version
        };
        if let Some(found) = root.packages(part)?.iter().find(|other| of_image(other)) {
            let deb = root.download(found, partial.path(), progress)?;
            outer = unpack::deb(&deb, partial.path())?;
        }
    }
    let inner = partial.path().join("whole");
    std::fs::create_dir(&inner)?;
    let modules = modules_in(&outer, &release)?;
    for name in ["vmlinuz", "config", "System.map"] {
        // Kernels in parts keep their image among the modules.
        let places = [
            format!("boot/{name}-{release}"),
            format!("{modules}/{name}"),
        ];
        let from = places.iter().find(|place| outer.join(place).is_file());
        let from = from.with_context(|| format!("{} has no {name}", package.name))?;
        std::fs::rename(outer.join(from), inner.join(name))?;
    }
    std::fs::rename(outer.join(&modules), inner.join("modules"))?;
    let note = Note {
        package: package.name,
        version: package.version,
        release: release.clone(),
    };
    std::fs::write(inner.join(NOTE), serde_json::to_string_pretty(&note)?)?;
    let place = folder.join(&release);
    partial.finish(&inner, &place)?;
    read(&place)
}

/// Newer packages keep modules below usr/.
fn modules_in(outer: &Path, release: &str) -> Result<String> {
    let places = ["lib/modules", "usr/lib/modules"].map(|dir| format!("{dir}/{release}"));
    match places.iter().find(|place| outer.join(place).is_dir()) {
        Some(place) => Ok(place.clone()),
        None => bail!("the package of {release} has no modules"),
    }
}

/// The newest image of a line in the cache.
pub fn cached(cache: &Cache, line: Line) -> Option<DebianImage> {
    all(cache)
        .into_iter()
        .filter_map(|image| {
            let name = format!("linux-image-{}", image.release);
            Some((patch_level(&name, line)?, image))
        })
        .max_by_key(|(level, _)| *level)
        .map(|(_, image)| image)
}

/// Every image in the cache.
pub fn all(cache: &Cache) -> Vec<DebianImage> {
    let Ok(entries) = std::fs::read_dir(cache.root().join("debian")) else {
        return Vec::new();
    };
    let mut found: Vec<DebianImage> = entries
        .flatten()
        .filter(|entry| cache::is_finished(&entry.file_name().to_string_lossy()))
        .filter_map(|entry| read(&entry.path()).ok())
        .collect();
    found.sort_by(|a, b| a.release.cmp(&b.release));
    found
}

fn read(dir: &Path) -> Result<DebianImage> {
    let note: Note = serde_json::from_slice(&std::fs::read(dir.join(NOTE))?)?;
    let plain = note.release.split('+').next().unwrap_or_default();
    Ok(DebianImage {
        image: dir.join("vmlinuz"),
        config: dir.join("config"),
        system_map: dir.join("System.map"),
        label: format!("{plain} Debian"),
        package: format!("{} {}", note.package, note.version),
        modules: dir.join("modules"),
        release: note.release,
    })
}

/// The patch level of a package's name: 117 of "linux-image-6.12.117+deb12-cloud-amd64" for 6.12. Debian 12 counts
/// builds of 6.1 in its place: 50 of "linux-image-6.1.0-50-cloud-amd64".
/// None for packages of another line or flavour, and for meta packages.
fn patch_level(package: &str, line: Line) -> Option<u32> {
    let version = package
        .strip_prefix("linux-image-")?
        .strip_suffix("-cloud-amd64")?;
    let rest = version.strip_prefix(&format!("{line}."))?;
    let rest = rest.strip_prefix("0-").unwrap_or(rest);
    rest.split('+').next()?.parse().ok()
}

impl DebianImage {
    /// The modules `names`, each after the modules that it depends on. Names of modules that are
    /// built into the kernel give none.
    ///
    /// # Errors
    /// When a module is neither built in nor in the package.
    pub fn modules(&self, names: &[&str]) -> Result<Vec<Module>> {
        let files = crate::cache::files::files_below(&self.modules)?;
        let builtin = self.modules.join("modules.builtin");
        let builtin = std::fs::read_to_string(&builtin)
            .with_context(|| format!("{}: cannot read", builtin.display()))?;
        let is = |path: &Path, name: &str| module_name(path).as_deref() == Some(name);
        let mut loaded = Vec::new();
        // Each name is taken twice: once to add its dependencies, once behind them.
        let mut todo: Vec<(String, Option<Vec<u8>>)> = names
            .iter()
            .rev()
            .map(|name| (name.replace('-', "_"), None))
            .collect();
        while let Some((name, object)) = todo.pop() {
            if loaded.iter().any(|module: &Module| module.name == name) {
                continue;
            }
            if let Some(object) = object {
                loaded.push(Module { name, object });
                continue;
            }
            let Some(file) = files.iter().find(|path| is(path, &name)) else {
                if builtin.lines().any(|path| is(Path::new(path), &name)) {
                    continue;
                }
                bail!("{} has no module {name}", self.package);
            };
            let object = decompressed(&self.modules.join(file))?;
            let needs = depends(&object);
            todo.push((name, Some(object)));
            todo.extend(needs.into_iter().map(|name| (name, None)));
        }
        Ok(loaded)
    }
}

/// "virtio_blk" of "kernel/drivers/block/virtio_blk.ko.xz".
fn module_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let (stem, rest) = name.split_once(".ko")?;
    (rest.is_empty() || rest.starts_with('.')).then(|| stem.replace('-', "_"))
}

fn decompressed(path: &Path) -> Result<Vec<u8>> {
    let program = match path.extension().and_then(|extension| extension.to_str()) {
        Some("xz") => "xz",
        Some("zst") => "zstd",
        _ => return std::fs::read(path).with_context(|| path.display().to_string()),
    };
    let output = Command::new(program)
        .args(["-dc", "--"])
        .arg(path)
        .output()
        .with_context(|| format!("running {program} on {}", path.display()))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("{program} -d {} failed: {}", path.display(), message.trim());
    }
    Ok(output.stdout)
}

/// The dependencies in a module's section .modinfo, which has NUL-terminated "key=value".
fn depends(object: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"\0depends=";
    let Some(at) = object.windows(KEY.len()).position(|bytes| bytes == KEY) else {
        return Vec::new();
    };
    let value = &object[at + KEY.len()..];
    let end = value.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&value[..end.unwrap_or(0)])
        .split(',')
        .filter(|name| !name.is_empty())
        .map(|name| name.replace('-', "_"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_packages_of_the_line_and_flavour_have_a_patch_level() {
        let line = "6.12".parse().unwrap();
        let level = |name: &str| patch_level(name, line);
        assert_eq!(level("linux-image-6.12.117+deb12-cloud-amd64"), Some(117));
        assert_eq!(level("linux-image-6.12.9+deb13-cloud-amd64"), Some(9));
        let build = patch_level("linux-image-6.1.0-50-cloud-amd64", "6.1".parse().unwrap());
        assert_eq!(build, Some(50));
        for other in [
            "linux-image-6.12-cloud-amd64",
            "linux-image-6.12.117+deb12-amd64",
            "linux-image-6.12.117+deb12-cloud-amd64-dbg",
            "linux-image-6.1.0-56-cloud-amd64",
            "linux-image-6.1.12-cloud-amd64",
        ] {
            assert_eq!(level(other), None, "{other}");
        }
    }

    #[test]
    fn modules_come_behind_their_dependencies() {
        let dir = tempfile::tempdir().unwrap();
        let modules = dir.path().join("modules");
        fs::create_dir_all(modules.join("kernel/x")).unwrap();
        let write = |name: &str, needs: &str| {
            let text = format!("ELF\0license=GPL\0depends={needs}\0name=x\0");
            fs::write(modules.join(format!("kernel/x/{name}.ko")), text).unwrap();
        };
        write("disk", "");
        write("zram", "pool,lz4-fast");
        write("pool", "");
        write("lz4-fast", "lz4_base");
        write("lz4_base", "");
        // Compressed, as Debian's are.
        let packed = Command::new("xz")
            .arg(modules.join("kernel/x/lz4_base.ko"))
            .status();
        assert!(packed.unwrap().success());
        fs::write(modules.join("modules.builtin"), "kernel/x/pci-bus.ko\n").unwrap();
        let image = DebianImage {
            image: "vmlinuz".into(),
            config: "config".into(),
            system_map: "System.map".into(),
            release: "6.12.1+x".into(),
            label: "6.12.1 Debian".into(),
            package: "linux-image 1".into(),
            modules,
        };
        let names = |wanted: &[&str]| -> Result<Vec<String>> {
            let modules = image.modules(wanted)?;
            assert!(modules.iter().all(|it| it.object.starts_with(b"ELF")));
            Ok(modules.into_iter().map(|module| module.name).collect())
        };
        assert_eq!(
            names(&["disk", "pci_bus", "zram", "pool"]).unwrap(),
            ["disk", "lz4_base", "lz4_fast", "pool", "zram"]
        );
        let error = names(&["floppy"]).unwrap_err().to_string();
        assert!(error.ends_with("has no module floppy"), "{error}");
    }
}
