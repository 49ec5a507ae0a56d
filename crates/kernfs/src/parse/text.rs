//! Bytes of the kernel's text files, cut without allocating.
use crate::ErrorKind;

/// The lines of a file, counted from 1.
pub struct Lines<'a> {
    rest: &'a [u8],
    number: u32,
}

/// The lines of a file that the kernel ends with a line feed.
///
/// # Errors
/// [`ErrorKind::Truncated`] where the last line has no end: a cut number would pass for a smaller one.
pub fn lines(text: &[u8]) -> Result<Lines<'_>, ErrorKind> {
    match text.last() {
        Some(b'\n') => Ok(Lines {
            rest: text,
            number: 0,
        }),
        Some(_) => Err(ErrorKind::Truncated {
            missing: "the end of its last line",
        }),
        None => Err(ErrorKind::Truncated {
            missing: "its first line",
        }),
    }
}

impl<'a> Lines<'a> {
    /// The text that has not been taken yet.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Skips the next line; `rest` is the text behind it.
    #[inline]
    pub(crate) fn skip_line_to(&mut self, rest: &'a [u8]) {
        self.rest = rest;
        self.number = self.number.saturating_add(1);
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (u32, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        let end = end.unwrap_or(self.rest.len());
        let line = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        self.number = self.number.saturating_add(1);
        Some((self.number, line))
    }
}

/// The text without the spaces and tabs in front.
#[inline]
#[must_use]
pub fn trim_start(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_space(*byte));
    &text[start.unwrap_or(text.len())..]
}

/// The text without the spaces, tabs and line feeds around it.
#[must_use]
pub fn trim(text: &[u8]) -> &[u8] {
    text.trim_ascii()
}

/// The first word and the rest. The word is empty where there is none.
#[inline]
#[must_use]
pub fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = trim_start(text);
    let end = text.iter().position(|byte| is_space(*byte));
    text.split_at(end.unwrap_or(text.len()))
}

/// A decimal number without sign; `None` for anything else and above 2^64 - 1.
#[inline]
#[must_use]
pub fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    let mut value: u64 = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// A decimal number that may have a minus.
#[must_use]
pub fn signed(text: &[u8]) -> Option<i64> {
    match text.strip_prefix(b"-") {
        Some(digits) => 0i64.checked_sub_unsigned(number(digits)?),
        None => number(text)?.try_into().ok(),
    }
}

/// A number such as `12.34`, as psi_show() prints it: two places.
#[must_use]
pub fn decimal(text: &[u8]) -> Option<f64> {
    let Some(point) = text.iter().position(|&byte| byte == b'.') else {
        return Some(number(text)? as f64);
    };
    let (whole, places) = (&text[..point], &text[point + 1..]);
    if places.len() > 9 {
        return None;
    }
    let scale = 10f64.powi(places.len() as i32);
    Some(number(whole)? as f64 + number(places)? as f64 / scale)
}

#[inline]
fn is_space(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// A short name out of a file, kept without allocating: a zone's name is at most 7 bytes long.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Name {
    bytes: [u8; 15],
    len: u8,
}

impl Name {
    /// `None` when it is empty, longer than 15 bytes or not plain text.
    #[must_use]
    pub fn new(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; 15];
        let fits = !text.is_empty() && text.iter().all(u8::is_ascii_graphic);
        bytes.get_mut(..text.len())?.copy_from_slice(text);
        let len = text.len() as u8;
        fits.then_some(Self { bytes, len })
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }
}

impl std::fmt::Debug for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

/// The beginning of a line of zoneinfo or buddyinfo: `Node 0, zone   Normal rest`.
#[must_use]
pub fn node_and_zone(line: &[u8]) -> Option<(u32, Name, &[u8])> {
    let rest = line.strip_prefix(b"Node ")?;
    let comma = rest.iter().position(|&byte| byte == b',')?;
    let node = number(trim_start(&rest[..comma]))?.try_into().ok()?;
    let (zone, rest) = word(&rest[comma + 1..]);
    let (name, rest) = word(rest);
    (zone == b"zone").then_some((node, Name::new(name)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_or_of_another_form_are_none() {
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(number(b"18446744073709551616"), None);
        assert_eq!(number(b""), None);
        assert_eq!(number(b"-1"), None);
        assert_eq!(signed(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(signed(b"9223372036854775808"), None);
        assert_eq!(signed(b"-"), None);
        assert_eq!(decimal(b"12.05"), Some(12.05));
        assert_eq!(decimal(b"7"), Some(7.0));
        assert_eq!(decimal(b"7."), None);
        assert_eq!(decimal(b"nan"), None);
    }

    #[test]
    fn a_line_without_an_end_is_no_line() {
        assert!(lines(b"a 1\nb 2").is_err());
        assert!(lines(b"").is_err());
        let found: Vec<_> = lines(b"a\n\nb\n").unwrap().collect();
        assert_eq!(found, [(1, &b"a"[..]), (2, b""), (3, b"b")]);
    }

    #[test]
    fn a_heading_has_a_node_and_a_zone() {
        let (node, zone, rest) = node_and_zone(b"Node 12, zone  Movable    3").unwrap();
        assert_eq!((node, zone.as_str(), rest), (12, "Movable", &b"    3"[..]));
        assert!(node_and_zone(b"Node 12, zone ").is_none());
        assert!(node_and_zone(b"Node 99999999999, zone DMA").is_none());
        assert!(Name::new(b"sixteen-bytes-xx").is_none());
    }
}
