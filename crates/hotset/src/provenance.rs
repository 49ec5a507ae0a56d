//! The origin of a page of results: the command, the file, the program.
use anyhow::{Context, Result};
use names::{quoted, shown};
use progress::{Delayed, Unit};
use report::format::number;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The program's version, and today's date.
pub fn made() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_secs());
    format!(
        "hotset {}, {}",
        env!("CARGO_PKG_VERSION"),
        number::date(now)
    )
}

/// The command line, as a shell takes it.
pub fn command() -> String {
    let arguments = std::env::args_os().enumerate().map(|(place, word)| {
        let word = word.to_string_lossy().into_owned();
        // The program's path does not change its results.
        match place {
            0 => "hotset".to_string(),
            _ => quoted(&word),
        }
    });
    arguments.collect::<Vec<_>>().join(" ")
}

/// Rows with the file's name, bytes and checksum. Standard input cannot be read twice: it has a name only.
///
/// # Errors
/// When the file cannot be read.
pub fn file(path: &Path) -> Result<Vec<(String, String)>> {
    let name = match path.as_os_str() == "-" {
        true => "standard input".to_string(),
        false => shown(path).to_string(),
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
    let named = || format!("{}: cannot read", shown(path));
    let mut file = File::open(path).with_context(named)?;
    let length = file.metadata().with_context(named)?.len();
    let title = format!("SHA-256 of {}", shown(path));
    let late = Delayed::new(title, Some(length), Unit::Bytes);
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
