//! Text of a bounded length: longer text is cut, and nothing is allocated.
use std::fmt;

/// At most `N` bytes of text.
#[derive(Clone, Copy)]
pub struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
    cut: bool,
}

impl<const N: usize> Text<N> {
    pub const fn new() -> Self {
        Text {
            bytes: [0; N],
            len: 0,
            cut: false,
        }
    }

    /// The formatted `arguments`, as far as they fit.
    pub fn of(arguments: fmt::Arguments) -> Self {
        let mut text = Text::new();
        text.put(arguments);
        text
    }

    /// The end of a text, as much as fits.
    pub fn end_of(text: &str) -> Self {
        let mut begin = text.len().saturating_sub(N);
        while !text.is_char_boundary(begin) {
            begin += 1;
        }
        Text::of(format_args!("{}", &text[begin..]))
    }

    /// Appends the formatted `arguments`, as far as they fit.
    pub fn put(&mut self, arguments: fmt::Arguments) {
        // Writing never fails. A Display that fails leaves the part that it has written.
        let _ = fmt::Write::write_fmt(self, arguments);
    }

    pub fn clear(&mut self) {
        self.len = 0;
        self.cut = false;
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Whether any text was cut.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Replaces control characters by spaces: foreign text must not start a line, nor move a terminal's
    /// cursor, nor turn the direction of a line.
    pub fn one_line(&mut self) {
        self.blank(|byte| byte.is_ascii_control());
    }

    /// [`Text::one_line`], but tabs stay: they separate fields.
    pub fn one_line_of_fields(&mut self) {
        self.blank(|byte| byte.is_ascii_control() && byte != b'\t');
    }

    /// Replaces by spaces the bytes that `ascii` names, and longer characters that control a terminal.
    fn blank(&mut self, ascii: impl Fn(u8) -> bool) {
        let mut at = 0;
        while at < self.len {
            let length = match self.bytes[at..self.len] {
                [byte, ..] if ascii(byte) => 1,
                // U+0080 to U+009F: U+009B begins an escape sequence, as ESC [ does.
                [0xc2, 0x80..=0x9f, ..] => 2,
                // U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069: directions.
                [0xe2, 0x80, 0x8e | 0x8f | 0xaa..=0xae, ..] | [0xe2, 0x81, 0xa6..=0xa9, ..] => 3,
                _ => 0,
            };
            self.bytes[at..at + length].fill(b' ');
            at += length.max(1);
        }
    }

    /// Removes the numbers that Rust appends to the errors of the operating system.
    pub fn drop_error_numbers(&mut self) {
        const BEFORE: &str = " (os error ";
        while let Some(start) = self.as_str().find(BEFORE) {
            let Some(length) = self.as_str()[start..].find(')') else {
                return;
            };
            self.bytes.copy_within(start + length + 1..self.len, start);
            self.len -= length + 1;
        }
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Text::new()
    }
}

impl<const N: usize> fmt::Write for Text<N> {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let mut room = (N - self.len).min(more.len());
        while !more.is_char_boundary(room) {
            room -= 1;
        }
        self.bytes[self.len..self.len + room].copy_from_slice(&more.as_bytes()[..room]);
        self.len += room;
        self.cut |= room < more.len();
        Ok(())
    }
}

impl<const N: usize> PartialEq for Text<N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl<const N: usize> Eq for Text<N> {}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str(self.as_str())
    }
}

impl<const N: usize> fmt::Debug for Text<N> {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_too_long_is_cut_between_characters() {
        let text = Text::<4>::of(format_args!("abcé"));
        assert_eq!(text.as_str(), "abc");
        assert!(text.is_cut());
        assert!(!Text::<5>::of(format_args!("abcé")).is_cut());
    }

    #[test]
    fn one_line_has_no_control_characters() {
        let mut text = Text::<16>::of(format_args!("a\nb\0c"));
        text.one_line();
        assert_eq!(text.as_str(), "a b c");
        let mut text = Text::<64>::of(format_args!("\x1b[2Jé\u{9b}1m\u{202e}€\x7f\tz"));
        text.one_line_of_fields();
        assert_eq!(text.as_str(), " [2Jé  1m   € \tz");
    }

    #[test]
    fn errors_of_the_system_have_no_numbers() {
        let full = std::io::Error::from_raw_os_error(28);
        let mut text = Text::<128>::of(format_args!("a: {full}; b: {full}, goes on (os error"));
        text.drop_error_numbers();
        let wanted = "a: No space left on device; b: No space left on device, goes on (os error";
        assert_eq!(text.as_str(), wanted);
    }
}
