//! The kernels that an experiment's arms boot.
use crate::experiment::{Arm, Kernel};
use anyhow::{bail, Context, Result};
use kbuild::{Flavour, Origin, Request};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A kernel that can be booted.
#[derive(Clone, Debug)]
pub struct Image {
    pub path: PathBuf,
    /// For tables, "7.3.4 vanilla".
    pub label: String,
}

/// By flavour and line, as arms name them.
pub type Images = BTreeMap<(Kernel, String), Image>;

/// The environment variable that names an image of the caller's own for a flavour.
pub fn variable(kernel: Kernel) -> &'static str {
    match kernel {
        Kernel::Vanilla => "HOTSET_KERNEL_VANILLA",
        Kernel::Series => "HOTSET_KERNEL_SERIES",
    }
}

/// Builds or finds each kernel that the arms name. `tree` is kernel source to use instead of
/// Debian's.
///
/// # Errors
/// Those of [`kbuild::ensure`], with the arm that wanted the kernel.
pub fn images<'a>(
    arms: impl Iterator<Item = &'a Arm>,
    tree: Option<&Path>,
    progress: &mut kbuild::progress::Progress,
) -> Result<Images> {
    let mut images = Images::new();
    for arm in arms {
        let key = (arm.kernel, arm.version.clone());
        if images.contains_key(&key) {
            continue;
        }
        let image = image(arm, tree, progress)
            .with_context(|| format!("the kernel of arm {:?}", arm.name))?;
        images.insert(key, image);
    }
    Ok(images)
}

fn image(
    arm: &Arm,
    tree: Option<&Path>,
    progress: &mut kbuild::progress::Progress,
) -> Result<Image> {
    let variable = variable(arm.kernel);
    if let Some(path) = std::env::var_os(variable).map(PathBuf::from) {
        if !path.is_file() {
            bail!("{variable}={}: there is no such file", path.display());
        }
        return Ok(Image {
            path,
            label: format!("{} {} ({variable})", arm.version, word(arm.kernel)),
        });
    }
    let flavour = match arm.kernel {
        Kernel::Vanilla => Flavour::Vanilla,
        Kernel::Series => Flavour::Series,
    };
    let mut request = Request::new(arm.version.parse()?, flavour);
    if let Some(tree) = tree {
        request.origin = Origin::Tree(tree.into());
    }
    let built = kbuild::ensure(&request, progress)?;
    Ok(Image {
        path: built.image,
        label: built.label,
    })
}

fn word(kernel: Kernel) -> &'static str {
    match kernel {
        Kernel::Vanilla => "vanilla",
        Kernel::Series => "series",
    }
}
