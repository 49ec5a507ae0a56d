//! The kernels that an experiment's arms boot.
use crate::experiment::{Arm, Kernel};
use anyhow::{bail, Context, Result};
use kbuild::debian::Module;
use kbuild::{Origin, Request};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A kernel that can be booted.
#[derive(Clone, Debug)]
pub struct Image {
    pub path: PathBuf,
    /// For tables, "7.3.4 vanilla".
    pub label: String,
    /// What a guest is to load, in this order; none for kernels that are built here.
    pub modules: Vec<Module>,
}

/// What Debian's cloud kernel has as modules and guests need: their disk and their swap.
const DEBIAN_MODULES: [&str; 2] = ["virtio_blk", "zram"];

/// By flavour and line, as arms name them.
pub type Images = BTreeMap<(Kernel, String), Image>;

/// The environment variable that names an image of the caller's own for a flavour. Debian's kernel
/// has none: it needs its modules.
pub fn variable(kernel: Kernel) -> Option<&'static str> {
    match kernel {
        Kernel::Vanilla => Some("HOTSET_KERNEL_VANILLA"),
        Kernel::Series => Some("HOTSET_KERNEL_SERIES"),
        Kernel::Swappiness => Some("HOTSET_KERNEL_SWAPPINESS"),
        Kernel::Both => Some("HOTSET_KERNEL_BOTH"),
        Kernel::Generations => Some("HOTSET_KERNEL_GENERATIONS"),
        Kernel::Debian => None,
    }
}

/// Builds or finds each kernel that the arms name, for what the bed boots: `arch` is "um" or
/// "x86_64". `tree` is kernel source to use instead of Debian's.
///
/// # Errors
/// Those of [`kbuild::ensure`], with the arm that wanted the kernel.
pub fn images<'a>(
    arms: impl Iterator<Item = &'a Arm>,
    arch: &str,
    tree: Option<&Path>,
    progress: &mut kbuild::progress::Progress,
) -> Result<Images> {
    let mut images = Images::new();
    for arm in arms {
        let key = (arm.kernel, arm.version.clone());
        if images.contains_key(&key) {
            continue;
        }
        let image = image(arm, arch, tree, progress)
            .with_context(|| format!("the kernel of arm {:?}", arm.name))?;
        images.insert(key, image);
    }
    Ok(images)
}

fn image(
    arm: &Arm,
    arch: &str,
    tree: Option<&Path>,
    progress: &mut kbuild::progress::Progress,
) -> Result<Image> {
    let own = variable(arm.kernel).and_then(|name| Some((name, std::env::var_os(name)?)));
    if let Some((variable, path)) = own {
        let path = PathBuf::from(path);
        if !path.is_file() {
            bail!("{variable}={}: there is no such file", path.display());
        }
        return Ok(Image {
            path,
            label: format!("{} {} ({variable})", arm.version, arm.kernel),
            modules: Vec::new(),
        });
    }
    if arm.kernel == Kernel::Debian {
        if arch != "x86_64" {
            bail!("Debian's kernel boots in QEMU alone: say bed = \"qemu\", or --bed qemu");
        }
        let image = kbuild::debian::ensure(arm.version.parse()?, progress)?;
        return Ok(Image {
            modules: image.modules(&DEBIAN_MODULES)?,
            path: image.image,
            label: image.label,
        });
    }
    let mut request = Request::new(arm.version.parse()?, arm.kernel);
    request.arch = arch.into();
    if let Some(tree) = tree {
        request.origin = Origin::Tree(tree.into());
    }
    let built = kbuild::ensure(&request, progress)?;
    Ok(Image {
        path: built.image,
        label: built.label,
        modules: Vec::new(),
    })
}
