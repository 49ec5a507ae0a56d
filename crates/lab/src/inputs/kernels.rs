//! Builds or finds the kernels that an experiment's arms boot.
use crate::experiment::{Arm, Kernel, Own};
use anyhow::{bail, Context, Result};
use kbuild::build::{self, checksum, Built};
use kbuild::cache::Cache;
use kbuild::fetch::debian::{DebianImage, Module};
use kbuild::{Flavour, Line, Origin, Request, Version};
use protocol::record;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A kernel that can be booted.
#[derive(Clone, Debug)]
pub struct Image {
    pub path: PathBuf,
    /// The name in tables, "7.3.4 vanilla".
    pub label: String,
    /// The modules that a guest loads, in this order; none for kernels that are built here.
    pub modules: Vec<Module>,
    /// The file's checksum, and its making, for the results.
    pub record: record::Image,
}

/// The modules of Debian's cloud kernel that guests need, for their disk and their swap.
const DEBIAN_MODULES: [&str; 2] = ["virtio_blk", "zram"];

/// Kernels by patches and line, as arms name them.
pub type Images = BTreeMap<(Kernel, String), Image>;

/// The key of an arm's kernel.
pub fn key(arm: &Arm) -> (Kernel, String) {
    (arm.kernel.clone(), arm.version.clone())
}

/// The environment variable that names an image for a flavour. Debian's kernel has none, because it
/// needs its modules.
pub fn variable(flavour: Flavour) -> Option<&'static str> {
    match flavour {
        Flavour::Vanilla => Some("HOTSET_KERNEL_VANILLA"),
        Flavour::Series => Some("HOTSET_KERNEL_SERIES"),
        Flavour::Swappiness => Some("HOTSET_KERNEL_SWAPPINESS"),
        Flavour::Both => Some("HOTSET_KERNEL_BOTH"),
        Flavour::Generations => Some("HOTSET_KERNEL_GENERATIONS"),
        Flavour::Debian | Flavour::Foreign => None,
    }
}

/// Builds or finds each kernel that the arms name. `arch` is the architecture that the bed boots, "um"
/// or "x86_64". `tree` is kernel source to use instead of Debian's.
///
/// # Errors
/// Those of [`kbuild::ensure`], with the arm that wanted the kernel.
pub fn images<'a>(
    arms: impl Iterator<Item = &'a Arm>,
    arch: &str,
    tree: Option<&Path>,
    progress: &mut progress::Progress,
) -> Result<Images> {
    let mut images = Images::new();
    for arm in arms {
        if images.contains_key(&key(arm)) {
            continue;
        }
        let image = image(arm, arch, tree, progress)
            .with_context(|| format!("the kernel of arm {:?}", arm.name))?;
        images.insert(key(arm), image);
    }
    Ok(images)
}

fn image(
    arm: &Arm,
    arch: &str,
    tree: Option<&Path>,
    progress: &mut progress::Progress,
) -> Result<Image> {
    let line: Line = arm.version.parse()?;
    match &arm.kernel {
        Kernel::Known(flavour) => {
            let own = variable(*flavour).and_then(|name| Some((name, std::env::var_os(name)?)));
            if let Some((variable, path)) = own {
                return in_place(&PathBuf::from(path), *flavour, variable);
            }
            match flavour {
                Flavour::Debian => debians(line, arch, progress),
                _ => built(Request::new(line, *flavour), arch, tree, progress),
            }
        }
        Kernel::Own(Own {
            image: Some(path), ..
        }) => given(path, &cached()?),
        Kernel::Own(own) => {
            // The arm's own tree comes before that of the whole run.
            let tree = own.tree.as_deref().or(tree);
            let line = match tree {
                Some(tree) => Version::of_tree(tree)?.line(),
                None => line,
            };
            let flavour = match (&own.series_dir, own.patches) {
                (Some(_), _) => Flavour::Series,
                (None, patches) => patches.unwrap_or(Flavour::Vanilla),
            };
            let request = Request {
                series_dir: own.series_dir.clone(),
                ..Request::new(line, flavour)
            };
            built(request, arch, tree, progress)
        }
    }
}

fn built(
    mut request: Request,
    arch: &str,
    tree: Option<&Path>,
    progress: &mut progress::Progress,
) -> Result<Image> {
    request.arch = arch.into();
    if let Some(tree) = tree {
        request.origin = Origin::Tree(tree.into());
    }
    of_built(kbuild::ensure(&request, progress)?)
}

fn of_built(built: Built) -> Result<Image> {
    let record = record::Image {
        sha256: built.image_sha256,
        flavour: built.flavour.to_string(),
        source: built.source,
        patches: built.patches,
        patches_digest: built.series_id,
        config_sha256: checksum(&built.config)?,
    };
    Ok(Image {
        path: built.image,
        label: built.label,
        modules: Vec::new(),
        record,
    })
}

fn debians(line: Line, arch: &str, progress: &mut progress::Progress) -> Result<Image> {
    if arch != "x86_64" {
        bail!("Debian's kernel boots in QEMU alone: set bed = \"qemu\", or give --bed qemu");
    }
    let image: DebianImage = kbuild::fetch::debian::ensure(line, progress)?;
    let record = record::Image {
        sha256: checksum(&image.image)?,
        flavour: Flavour::Debian.to_string(),
        source: image.package.clone(),
        config_sha256: checksum(&image.config)?,
        ..record::Image::default()
    };
    Ok(Image {
        modules: image.modules(&DEBIAN_MODULES)?,
        path: image.image,
        label: image.label,
        record,
    })
}

/// The image that an environment variable gives in place of one of the lab's kernels.
fn in_place(path: &Path, flavour: Flavour, variable: &str) -> Result<Image> {
    if !path.is_file() {
        bail!("{variable}={}: there is no such file", path.display());
    }
    let image = given(path, &cached()?)?;
    Ok(Image {
        label: format!("{} in place of {flavour} ({variable})", image.label),
        ..image
    })
}

/// An image file of the user. It has the name of a kernel only if it is one that was built here.
fn given(path: &Path, cached: &[Built]) -> Result<Image> {
    let sha256 = checksum(path)?;
    if let Some(built) = cached.iter().find(|built| built.image_sha256 == sha256) {
        let image = of_built(built.clone().today(None))?;
        return Ok(Image {
            path: path.into(),
            ..image
        });
    }
    Ok(Image {
        path: path.into(),
        label: format!("image {}", path.display()),
        modules: Vec::new(),
        record: record::Image {
            sha256,
            flavour: Flavour::Foreign.to_string(),
            ..record::Image::default()
        },
    })
}

fn cached() -> Result<Vec<Built>> {
    build::all(&Cache::of_user()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_of_the_user_has_its_own_name_and_checksum() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("le9uo");
        std::fs::write(&path, "linux").unwrap();
        let image = given(&path, &[]).unwrap();
        assert_eq!(image.label, format!("image {}", path.display()));
        assert_eq!(image.record.flavour, "foreign");
        assert_eq!(image.record.sha256.len(), 64);
        std::fs::write(&path, "another").unwrap();
        let other = given(&path, &[]).unwrap();
        assert_ne!(other.record.sha256, image.record.sha256);
    }
}
