//! Whether the kernels that arms name can be had, as far as that is known before anything is built.
use super::kernels::variable;
use crate::experiment::{Arm, Kernel, Own};
use anyhow::{bail, Result};
use kbuild::fetch::source;
use kbuild::{layout, version, Flavour, Line, Request, Version};
use std::path::{Path, PathBuf};

/// Checks an arm's kernel: its image, or its series, its configuration and its source.
///
/// # Errors
/// The kernel cannot be had; the message says what there is.
pub fn check(arm: &Arm, arch: &str, tree: Option<&Path>) -> Result<()> {
    let line: Line = arm.version.parse()?;
    match &arm.kernel {
        Kernel::Known(flavour) => known(*flavour, line, arch, tree),
        Kernel::Own(own) => of_user(own, line, arch, tree),
    }
}

fn known(flavour: Flavour, line: Line, arch: &str, tree: Option<&Path>) -> Result<()> {
    let given = variable(flavour).and_then(|name| Some((name, std::env::var_os(name)?)));
    if let Some((name, path)) = given {
        let path = PathBuf::from(path);
        if !path.is_file() {
            bail!("{name}={}: there is no such file", path.display());
        }
        return Ok(());
    }
    if flavour == Flavour::Debian {
        return boots_debian(arch);
    }
    of_source(line, arch, tree)?;
    let Err(error) = Request::new(line, flavour).patches() else {
        return Ok(());
    };
    let others = version::KNOWN.iter().filter(|other| **other != line);
    let others = others.filter(|other| Request::new(**other, flavour).patches().is_ok());
    let others: Vec<String> = others.map(Line::to_string).collect();
    match others.is_empty() {
        true => Err(error),
        false => bail!(
            "there is no series \"{flavour}\" for Linux {line}; there is one for {}",
            others.join(" and ")
        ),
    }
}

fn of_user(own: &Own, line: Line, arch: &str, tree: Option<&Path>) -> Result<()> {
    if own.image.is_some() {
        return Ok(());
    }
    let tree = own.tree.as_deref().or(tree);
    let line = match tree {
        Some(tree) => Version::of_tree(tree)?.line(),
        None => line,
    };
    of_source(line, arch, tree)?;
    match own.patches {
        Some(flavour) => Request::new(line, flavour).patches().map(|_| ()),
        None => Ok(()),
    }
}

/// Checks the source of a line, and that there is a configuration.
fn of_source(line: Line, arch: &str, tree: Option<&Path>) -> Result<()> {
    match tree {
        Some(tree) => source::check_tree(tree, line)?,
        None if version::KNOWN.contains(&line) => {}
        None => {
            let known = version::KNOWN.map(|line| line.to_string()).join(" and ");
            bail!(
                "no source of Linux {line} is known, only of {known}; --tree FOLDER takes your own"
            );
        }
    }
    layout::fragments(&layout::kernel_dir()?, arch, None, line).map(|_| ())
}

fn boots_debian(arch: &str) -> Result<()> {
    match arch {
        "x86_64" => Ok(()),
        _ => bail!("Debian's kernel boots in QEMU alone: set bed = \"qemu\", or give --bed qemu"),
    }
}
