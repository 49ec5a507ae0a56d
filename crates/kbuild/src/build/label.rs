//! The name of a kernel in tables. Its patches and its source decide, not the options that chose them.
use crate::build::request::Request;
use crate::flavour::Flavour;
use crate::patches::series;
use std::path::Path;

/// The patches of a kernel, and its source.
pub struct Patched<'a> {
    pub flavour: Flavour,
    /// The caller's tree that was built, in place of Debian's source.
    pub tree: Option<&'a Path>,
    /// The folder that was given in place of the flavour's own.
    pub folder: Option<&'a Path>,
    /// See [`series::id`].
    pub id: String,
    pub names: Vec<&'a str>,
}

/// The label of a kernel with these patches. `own` asks for the same kernel with the flavour's own patches.
pub fn label(version: &str, kernel: &Patched, own: &Request) -> String {
    let variant = match &own.variant {
        Some(variant) => format!(", {variant}"),
        None => String::new(),
    };
    let patches = patches(kernel, own);
    match kernel.tree {
        None => format!("{version} {patches}{variant}"),
        // A tree of the caller may have patches of its own: it is not called vanilla.
        Some(tree) if kernel.names.is_empty() => {
            format!("{version} of {}{variant}", tree.display())
        }
        Some(tree) => format!("{version} of {} {patches}{variant}", tree.display()),
    }
}

/// Whether the patches are another's. Ours as they were some time ago are not.
pub fn is_foreign(kernel: &Patched, own: &Request) -> bool {
    !matches!(whose(kernel, own), Whose::Ours | Whose::OursOnce)
}

enum Whose {
    Ours,
    /// Patches with the names of ours, and other contents.
    OursOnce,
    Foreign,
}

fn whose(kernel: &Patched, own: &Request) -> Whose {
    if kernel.names.is_empty() {
        return Whose::Ours;
    }
    // Where there is no such series, no kernel has its patches.
    let ours = own.patches().unwrap_or_default();
    let names = ours.iter().map(|patch| patch.name.as_str());
    if series::id(&ours) == kernel.id {
        Whose::Ours
    } else if kernel.folder.is_none() && names.eq(kernel.names.iter().copied()) {
        Whose::OursOnce
    } else {
        Whose::Foreign
    }
}

fn patches(kernel: &Patched, own: &Request) -> String {
    let count = match kernel.names.as_slice() {
        [one] => format!("+ 1 patch ({one})"),
        many => format!("+ {} patches", many.len()),
    };
    match (whose(kernel, own), kernel.folder) {
        (Whose::Ours, _) => kernel.flavour.label().into(),
        (Whose::OursOnce, _) => format!("{}, as it was", kernel.flavour.label()),
        (Whose::Foreign, Some(folder)) => format!("{count} of {}", folder.display()),
        (Whose::Foreign, None) => format!("{count} of another folder"),
    }
}
