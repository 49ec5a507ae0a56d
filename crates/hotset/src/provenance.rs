//! What a page of results says of itself: the command, the file, the program.
use crate::late::Late;
use anyhow::{Context, Result};
use kbuild::progress::Unit;
use report::format::number;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Small print: which program, and when.
pub fn made() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_secs());
    format!(
        "hotset {}, {}",
        env!("CARGO_PKG_VERSION"),
        number::date(now)
    )
}

/// The command line as a shell takes it.
pub fn command() -> String {
    let words = std::env::args_os().enumerate().map(|(place, word)| {
        let word = word.to_string_lossy().into_owned();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=%+@".contains(c);
        match (place, !word.is_empty() && word.chars().all(plain)) {
            // Where the program lies says nothing of what was asked.
            (0, _) => "hotset".to_string(),
            (_, true) => word,
            (_, false) => format!("'{}'", word.replace('\'', r"'\''")),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Rows of the file's name, bytes and checksum; of standard input, which is gone, the name only.
///
/// # Errors
/// The file's.
pub fn file(path: &Path) -> Result<Vec<(String, String)>> {
    let name = match path.as_os_str() == "-" {
        true => "standard input".to_string(),
        false => path.display().to_string(),
    };
    let mut rows = vec![("File".to_string(), name)];
    // A pipe cannot be read a second time.
    if path.is_file() {
        let (bytes, sum) = checksum(path)?;
        rows.push(("Bytes".into(), number::count(bytes)));
        rows.push(("SHA-256".into(), sum));
    }
    Ok(rows)
}

fn checksum(path: &Path) -> Result<(u64, String)> {
    let named = || format!("cannot read {}", path.display());
    let mut file = File::open(path).with_context(named)?;
    let length = file.metadata().with_context(named)?.len();
    let what = format!("SHA-256 of {}", path.display());
    let late = Late::new(what, Some(length), Unit::Bytes);
    let (mut hash, mut done) = (Sha256::new(), 0);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let taken = file.read(&mut buffer).with_context(named)?;
        if taken == 0 {
            return Ok((done, format!("{:x}", hash.finalize())));
        }
        hash.update(&buffer[..taken]);
        done += taken as u64;
        late.advance(done);
    }
}
