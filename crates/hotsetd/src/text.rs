//! Text in a fixed place: what is longer is cut, and nothing is allocated.
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

    /// What `arguments` say, as far as it fits.
    pub fn of(arguments: fmt::Arguments) -> Self {
        let mut text = Text::new();
        text.put(arguments);
        text
    }

    /// Adds what `arguments` say, as far as it fits.
    pub fn put(&mut self, arguments: fmt::Arguments) {
        // Writing here never fails; a Display that does leaves what it had written.
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

    /// Was something too long for it?
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// One line of it: control characters become spaces, so that nothing foreign starts a line.
    pub fn one_line(&mut self) {
        for byte in &mut self.bytes[..self.len] {
            if byte.is_ascii_control() {
                *byte = b' ';
            }
        }
    }
}

impl<const N: usize> Text<N> {
    /// The same, but tabs stay: they part its fields.
    pub fn one_line_of_fields(&mut self) {
        for byte in &mut self.bytes[..self.len] {
            if byte.is_ascii_control() && *byte != b'\t' {
                *byte = b' ';
            }
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
    fn what_is_too_long_is_cut_between_characters() {
        let text = Text::<4>::of(format_args!("abcé"));
        assert_eq!(text.as_str(), "abc");
        assert!(text.is_cut());
        assert!(!Text::<5>::of(format_args!("abcé")).is_cut());
    }

    #[test]
    fn one_line_is_one_line() {
        let mut text = Text::<16>::of(format_args!("a\nb\0c"));
        text.one_line();
        assert_eq!(text.as_str(), "a b c");
    }
}
