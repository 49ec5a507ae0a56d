//! The journal of originals, opened at the start and for `--restore`.
use crate::actuate::journal::Journal;
use crate::actuate::knobs::KnobWriter;
use crate::config::settings::Config;
use crate::telemetry::log::{Level, Log};
use crate::telemetry::server;
use std::io;
use std::path::Path;

/// Opens the journal of this boot, for the writer of knobs.
///
/// # Errors
/// The journal exists and cannot be read.
pub fn open_knobs(root: &Path, config: &Config, log: &mut Log) -> io::Result<KnobWriter> {
    let boot = root.join("proc/sys/kernel/random/boot_id");
    let boot = std::fs::read_to_string(boot).unwrap_or_default();
    let path = server::below(root, &config.journal);
    let journal = Journal::open(&path, &boot).map_err(|error| {
        io::Error::new(error.kind(), format!("journal {}: {error}", path.display()))
    })?;
    for complaint in &journal.complaints {
        let text = format_args!("{}: {complaint}", path.display());
        log.line(Level::Warning, "journal", text);
    }
    Ok(KnobWriter::new(root, journal, config.dry_run))
}

/// Refuses a journal of which no line can be read: its knobs are unknown, and none would be given back.
///
/// # Errors
/// There are lines, and all of them are damaged. The file stays as it is.
pub fn readable(knobs: KnobWriter) -> io::Result<KnobWriter> {
    let journal = knobs.journal();
    if !journal.unreadable {
        return Ok(knobs);
    }
    let text = format!(
        "journal {}: every line is damaged: hotsetd cannot tell which knobs to give back; set them by \
         sysctl(8) or reboot, then remove the file",
        names::shown(journal.path())
    );
    Err(io::Error::new(io::ErrorKind::InvalidData, text))
}
