//! Standard output and standard error, either of which may be full or closed.
use std::fmt;
use std::io::{self, Write};

/// Writes a text to standard output.
///
/// # Errors
/// `BrokenPipe`: the reader has gone. Any other: the file is full, or the device refuses.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes a message to standard error, as one line. A message that cannot be written is lost.
pub fn complain(message: fmt::Arguments) {
    let text = names::escaped(&message.to_string()).replace('\n', " ");
    let _ = io::stderr().write_all(format!("hotsetd: {text}\n").as_bytes());
}
