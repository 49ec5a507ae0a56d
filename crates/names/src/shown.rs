//! Text from outside, made safe for a terminal.
use std::fmt::{self, Display, Write};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A path as text: bytes that are not UTF-8 as `\xNN`, control characters as [`escaped`] has them.
pub fn shown(path: &Path) -> impl Display + '_ {
    Shown(path)
}

struct Shown<'a>(&'a Path);

impl Display for Shown<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.as_os_str().as_bytes().utf8_chunks() {
            escape(chunk.valid(), false, to)?;
            for byte in chunk.invalid() {
                write!(to, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// The text without escape sequences: control characters, and those that change a line's direction, as
/// `\u{NN}`. Line ends stay.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    // Writing to a String cannot fail.
    let _ = escape(text, true, &mut safe);
    safe
}

fn escape(text: &str, lines: bool, to: &mut impl Write) -> fmt::Result {
    for c in text.chars() {
        match c {
            '\n' if lines => to.write_char(c)?,
            c if c.is_control() || misleads(c) => write!(to, "{}", c.escape_unicode())?,
            c => to.write_char(c)?,
        }
    }
    Ok(())
}

/// Whether a character turns or hides the text around it: Unicode's bidirectional controls.
fn misleads(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// An error of the operating system without the number that Rust appends: "No space left on device".
pub fn io_error(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error ") {
        Some(at) if text.ends_with(')') => text[..at].to_string(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn no_byte_of_a_name_controls_the_terminal() {
        let name = OsStr::from_bytes(b"a\x1b[31mb\xffc\nd\x7f\xc2\x9be\xc3\xa9");
        let text = shown(Path::new(name)).to_string();
        assert_eq!(text, r"a\u{1b}[31mb\xffc\u{a}d\u{7f}\u{9b}eé");
    }

    #[test]
    fn messages_keep_their_lines() {
        assert_eq!(escaped("one\ntwo\r\u{202e}"), "one\ntwo\\u{d}\\u{202e}");
    }

    #[test]
    fn an_error_has_no_number() {
        let full = io::Error::from_raw_os_error(28);
        assert_eq!(io_error(&full), "No space left on device");
        assert_eq!(io_error(&io::Error::other("as it is")), "as it is");
    }
}
