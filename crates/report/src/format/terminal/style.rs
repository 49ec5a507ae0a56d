//! The width and the colours of a terminal.
use super::wrap::wrap;
use crate::format::table::Tone;
use crate::format::text;

#[derive(Clone, Copy)]
pub struct Style {
    /// In columns.
    pub width: usize,
    pub color: bool,
}

impl Style {
    /// Foreign text on lines of at most the width.
    pub fn wrapped(&self, text: &str) -> Vec<String> {
        wrap(&text::line(text), self.width)
    }

    pub fn toned(&self, text: &str, tone: Tone) -> String {
        match tone {
            Tone::Plain => text.to_string(),
            Tone::Good => self.painted(text, "32"),
            Tone::Bad => self.painted(text, "31"),
            Tone::Faint => self.painted(text, "2"),
        }
    }

    pub fn bold(&self, text: &str) -> String {
        self.painted(text, "1")
    }

    fn painted(&self, text: &str, code: &str) -> String {
        match self.color && !text.is_empty() {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_string(),
        }
    }
}
