//! Fresh demand traces for `hotset lab loop`.
use crate::shell::{usage, Force};
use anyhow::{bail, Result};
use lab::model::{generate, Trace};
use names::{io_error, shown};
use outfile::OutFile;
use std::path::Path;

/// The traces of a seed, also written to the folder. A file that has the same trace already stays as it is.
///
/// # Errors
/// The folder cannot be made, or a file of another content is there without `--force`.
pub fn generated(folder: &Path, seed: u64, force: &Force) -> Result<Vec<Trace>> {
    if folder.exists() && !folder.is_dir() {
        return Err(usage!("--generate: {}: it is no folder", shown(folder)));
    }
    if let Err(error) = std::fs::create_dir_all(folder) {
        let reason = io_error(&error);
        bail!(
            "--generate: {}: cannot make the folder: {reason}",
            shown(folder)
        );
    }
    let traces = generate::all(seed);
    let mut files = Vec::new();
    for trace in &traces {
        let path = folder.join(format!("{}.csv", trace.name));
        let text = trace.csv();
        if std::fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            continue;
        }
        files.push((OutFile::create(&path, force.rules(&[]))?, text));
    }
    for (file, text) in files {
        file.whole(&text)?;
    }
    Ok(traces)
}
