//! Names and numbers as the kernel lists them, in the order of its file.
//!
//! A kernel lists the same names in the same order each time. So a line is first compared with the name
//! that stood there last time: a sample costs one comparison a line and allocates nothing.
use super::text::{self, Lines};
use crate::ErrorKind;

/// More fields than any kernel has in one file.
const MOST_FIELDS: usize = 4096;
const LONGEST_NAME: usize = 120;

/// Numbers by name. Names that this crate knows are found without a search.
#[derive(Clone, Debug)]
pub struct Fields {
    known: &'static [&'static str],
    /// Entry of each known name, counted from 1; 0 where the file lacks it.
    at: Vec<u16>,
    names: Vec<u8>,
    entries: Vec<Entry>,
    /// Entries of the file so far.
    cursor: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u32,
    len: u8,
    /// Index into the known names, counted from 1; 0 is unknown.
    known: u16,
    value: u64,
}

impl Fields {
    /// `known`: names that [`Fields::known`] finds by their index.
    #[must_use]
    pub fn new(known: &'static [&'static str]) -> Self {
        Self {
            known,
            at: vec![0; known.len()],
            names: Vec::new(),
            entries: Vec::new(),
            cursor: 0,
        }
    }

    /// Before the first [`Fields::put`] of a file.
    pub fn begin(&mut self) {
        self.cursor = 0;
    }

    /// The next name and number of the file.
    ///
    /// # Errors
    /// No name, one that is too long, or too many names. The text names the problem.
    #[inline]
    pub fn put(&mut self, name: &[u8], value: u64) -> Result<(), &'static str> {
        if let Some(entry) = self.entries.get_mut(self.cursor) {
            let start = entry.start as usize;
            if self.names[start..start + usize::from(entry.len)] == *name {
                entry.value = value;
                self.cursor += 1;
                return Ok(());
            }
        }
        self.learn(name, value)
    }

    /// Takes a line of the name that stood here last time, spaces, digits and a line feed. Nearly all
    /// lines are such. Returns the bytes taken; `None` leaves the line to [`Fields::put`].
    #[inline]
    fn expect(&mut self, text: &[u8]) -> Option<usize> {
        let entry = self.entries.get_mut(self.cursor)?;
        let (start, len) = (entry.start as usize, usize::from(entry.len));
        let name = &self.names[start..start + len];
        let mut rest = text.strip_prefix(name)?.strip_prefix(b" ")?;
        while let Some(after) = rest.strip_prefix(b" ") {
            rest = after;
        }
        let mut value: u64 = 0;
        for (digits, byte) in rest.iter().enumerate() {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                if *byte != b'\n' || digits == 0 {
                    return None;
                }
                entry.value = value;
                self.cursor += 1;
                return Some(text.len() - rest.len() + digits + 1);
            }
            // A 20th digit may not fit.
            if digits == 19 {
                return None;
            }
            value = value * 10 + u64::from(digit);
        }
        None
    }

    /// Takes the next line if it is the one that stood here last time ([`Fields::expect`]).
    #[inline]
    pub(crate) fn take(&mut self, lines: &mut Lines) -> bool {
        let text = lines.rest();
        self.expect(text)
            .map(|taken| lines.skip_line_to(&text[taken..]))
            .is_some()
    }

    /// As [`Fields::take`], for a line that may be indented.
    #[inline]
    pub(crate) fn take_indented(&mut self, lines: &mut Lines) -> bool {
        let text = text::trim_start(lines.rest());
        self.expect(text)
            .map(|taken| lines.skip_line_to(&text[taken..]))
            .is_some()
    }

    /// Learns a name where the file has another shape than last time. Names that followed are forgotten.
    #[cold]
    fn learn(&mut self, name: &[u8], value: u64) -> Result<(), &'static str> {
        self.cut();
        if name.is_empty() || !name.iter().all(u8::is_ascii_graphic) {
            return Err("no name of a field");
        }
        if name.len() > LONGEST_NAME {
            return Err("a name longer than the kernel has any");
        }
        if self.entries.len() >= MOST_FIELDS {
            return Err("more fields than the kernel has");
        }
        let known = self.known.iter().position(|known| known.as_bytes() == name);
        let start = self.names.len() as u32;
        self.names.extend_from_slice(name);
        self.entries.push(Entry {
            start,
            len: name.len() as u8,
            known: known.map_or(0, |index| index as u16 + 1),
            value,
        });
        self.cursor += 1;
        if let Some(index) = known {
            if self.at[index] == 0 {
                self.at[index] = self.cursor as u16;
            }
        }
        Ok(())
    }

    /// After the last [`Fields::put`]: names that the file no longer has are forgotten.
    pub fn end(&mut self) {
        self.cut();
    }

    fn cut(&mut self) {
        let Some(first) = self.entries.get(self.cursor) else {
            return;
        };
        self.names.truncate(first.start as usize);
        for entry in self.entries.drain(self.cursor..) {
            if let Some(index) = usize::from(entry.known).checked_sub(1) {
                if usize::from(self.at[index]) > self.cursor {
                    self.at[index] = 0;
                }
            }
        }
    }

    /// Forgets every number.
    pub fn clear(&mut self) {
        self.begin();
        self.end();
    }

    /// The number of a known name; `None` where this kernel has no such field.
    #[inline]
    #[must_use]
    pub fn known(&self, index: usize) -> Option<u64> {
        let at = usize::from(*self.at.get(index)?).checked_sub(1)?;
        self.entries.get(at).map(|entry| entry.value)
    }

    /// The number of any name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<u64> {
        if let Some(index) = self.known.iter().position(|known| *known == name) {
            return self.known(index);
        }
        self.iter()
            .find(|(found, _)| *found == name)
            .map(|(_, value)| value)
    }

    /// Every name and number, in the file's order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.entries.iter().map(|entry| self.pair(entry))
    }

    /// The names that this crate does not know, and their numbers.
    pub fn unknown(&self) -> impl Iterator<Item = (&str, u64)> {
        let unknown = self.entries.iter().filter(|entry| entry.known == 0);
        unknown.map(|entry| self.pair(entry))
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn pair(&self, entry: &Entry) -> (&str, u64) {
        let start = entry.start as usize;
        let name = &self.names[start..start + usize::from(entry.len)];
        (std::str::from_utf8(name).unwrap_or_default(), entry.value)
    }

    /// Reads lines of `name number`, as /proc/vmstat and memory.stat have them.
    ///
    /// # Errors
    /// A line of another form, or a file without its end.
    pub fn parse_lines(&mut self, text: &[u8]) -> Result<(), ErrorKind> {
        self.begin();
        let mut lines = text::lines(text)?;
        loop {
            while self.take(&mut lines) {}
            let Some((line, bytes)) = lines.next() else {
                break;
            };
            let malformed = |problem| ErrorKind::Malformed { line, problem };
            let end = bytes.iter().position(|&byte| byte == b' ');
            let end = end.ok_or(malformed("not a name and a number"))?;
            let value = text::number(text::trim_start(&bytes[end..]));
            let value = value.ok_or(malformed("not a name and a number"))?;
            self.put(&bytes[..end], value).map_err(malformed)?;
        }
        self.end();
        Ok(())
    }
}

/// A struct around [`Fields`] with a method for each name that this crate knows.
macro_rules! fields {
    ($(#[$doc:meta])* $type:ident { $($(#[$field_doc:meta])* $method:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $type {
            /// All fields by name. [`crate::parse::fields::Fields::unknown`] has those without a method.
            pub fields: $crate::parse::fields::Fields,
        }

        impl Default for $type {
            fn default() -> Self {
                Self { fields: $crate::parse::fields::Fields::new(&[$($name),*]) }
            }
        }

        // In a block of its own: a module may have several such types.
        const _: () = {
            #[allow(non_camel_case_types, clippy::enum_variant_names)]
            enum Index { $($method),* }

            impl $type {
                $($(#[$field_doc])*
                #[must_use]
                #[inline]
                pub fn $method(&self) -> Option<u64> {
                    self.fields.known(Index::$method as usize)
                })*

                /// Forgets every number.
                pub fn clear(&mut self) {
                    self.fields.clear();
                }
            }
        };
    };
}
pub(crate) use fields;

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["b", "d"];

    fn parsed(fields: &mut Fields, text: &str) -> Result<(), ErrorKind> {
        fields.parse_lines(text.as_bytes())
    }

    #[test]
    fn known_names_have_an_index_and_unknown_ones_are_listed() {
        let mut fields = Fields::new(KNOWN);
        parsed(&mut fields, "a 1\nb 2\nc 3\n").unwrap();
        assert_eq!(fields.known(0), Some(2));
        assert_eq!(fields.known(1), None);
        assert_eq!(fields.known(9), None);
        assert_eq!(fields.get("c"), Some(3));
        assert_eq!(fields.unknown().collect::<Vec<_>>(), [("a", 1), ("c", 3)]);
    }

    #[test]
    fn another_shape_leaves_nothing_of_the_last() {
        let mut fields = Fields::new(KNOWN);
        parsed(&mut fields, "a 1\nb 2\nc 3\nd 4\n").unwrap();
        parsed(&mut fields, "a 5\nc 6\nd 7\n").unwrap();
        assert_eq!((fields.known(0), fields.known(1)), (None, Some(7)));
        assert_eq!(fields.len(), 3);
        parsed(&mut fields, "a 5\n").unwrap();
        assert_eq!((fields.known(1), fields.len()), (None, 1));
        parsed(&mut fields, "b 8\na 9\n").unwrap();
        assert_eq!((fields.known(0), fields.get("a")), (Some(8), Some(9)));
        fields.clear();
        assert_eq!((fields.known(0), fields.is_empty()), (None, true));
    }

    #[test]
    fn numbers_up_to_2_to_the_64_are_taken_and_larger_ones_are_errors() {
        let mut fields = Fields::new(KNOWN);
        // Twice: the first time is the slow way, the second the quick one.
        for _ in 0..2 {
            parsed(&mut fields, "b 9999999999999999999\n").unwrap();
            assert_eq!(fields.known(0), Some(9_999_999_999_999_999_999));
            parsed(&mut fields, "b 18446744073709551615\n").unwrap();
            assert_eq!(fields.known(0), Some(u64::MAX));
            for text in ["b 18446744073709551616\n", "b 99999999999999999999999\n"] {
                assert!(parsed(&mut fields, text).is_err());
            }
        }
    }

    #[test]
    fn a_name_that_comes_twice_is_the_first() {
        let mut fields = Fields::new(KNOWN);
        parsed(&mut fields, "b 1\nb 2\n").unwrap();
        assert_eq!(fields.known(0), Some(1));
        parsed(&mut fields, "b 3\n").unwrap();
        assert_eq!(fields.known(0), Some(3));
    }

    #[test]
    fn lines_of_another_form_are_errors() {
        let mut fields = Fields::new(KNOWN);
        for text in [
            "a\n",
            "a b\n",
            "a -1\n",
            " 1\n",
            "a 1\n\n",
            "\u{1}a 1\n",
            "a 1 2\n",
        ] {
            assert!(parsed(&mut fields, text).is_err(), "{text:?}");
        }
        assert!(parsed(&mut fields, &format!("{} 1\n", "n".repeat(200))).is_err());
        let many: String = (0..5000).map(|n| format!("n{n} 1\n")).collect();
        assert!(parsed(&mut fields, &many).is_err());
    }
}
