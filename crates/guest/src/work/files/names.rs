//! A worker that looks up files that do not exist.
use anyhow::{bail, Context, Result};

use crate::channel::{now_ms, Channel};
use crate::paths::data_path;
use crate::work::stop::stopping;

/// Looks up files that do not exist, each under a new name, and observes the number of names each
/// second.
pub fn names(worker: &str, channel: &Channel) -> Result<()> {
    let own = std::process::id();
    let (mut begin, mut count) = (now_ms(), 0u64);
    for number in 0u64.. {
        if stopping() {
            break;
        }
        // Names of the greatest length take the most memory.
        let path = data_path(&format!("{own}-{number:0>200}"));
        match std::fs::metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => count += 1,
            Err(error) => return Err(error).with_context(|| format!("looking up {path}")),
            Ok(_) => bail!("{path} exists"),
        }
        let now = now_ms();
        if now - begin >= 1000.0 {
            channel.observe(format!("{worker}.names"), begin, count as f64);
            (begin, count) = (now, 0);
        }
    }
    Ok(())
}
