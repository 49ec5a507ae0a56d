//! Patch series: the patches of a directory, in the order of their numbers.
use crate::patches::patch::{number_of, Patch};
use anyhow::{bail, Context, Result};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Reads the patches of a directory in order. A cover letter (number 0) is skipped.
///
/// # Errors
/// When the directory does not exist, has no patch, or has two patches of the same number.
pub fn load(dir: &Path) -> Result<Vec<Patch>> {
    let none = || {
        format!(
            "{}: no patch (NNNN-name.patch) there; name the folder of a series with --series-dir",
            dir.display()
        )
    };
    let entries = std::fs::read_dir(dir).with_context(none)?;
    let mut patches = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if number_of(&name).is_some_and(|number| number > 0) {
            patches.push(Patch::read(&path)?);
        }
    }
    if patches.is_empty() {
        bail!(none());
    }
    patches.sort_by(|a, b| (a.number, &a.name).cmp(&(b.number, &b.name)));
    for pair in patches.windows(2) {
        if pair[0].number == pair[1].number {
            bail!(
                "{}: {} and {} have the same number",
                dir.display(),
                pair[0].name,
                pair[1].name
            );
        }
    }
    Ok(patches)
}

/// Short checksum over the patches that an image is built from, in order. The checksum identifies the series.
pub fn id(patches: &[Patch]) -> String {
    let mut hash = Sha256::new();
    for patch in patches.iter().filter(|patch| patch.builds()) {
        hash.update(&patch.sha256);
    }
    format!("{:x}", hash.finalize())[..12].to_string()
}
