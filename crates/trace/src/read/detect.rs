//! Detects the format of a file by its first bytes, where its name has no known ending.
use super::{lackey, spc};
use crate::Format;

/// Whether a file is a page of HTML or XML, as a download is that has failed. No trace begins so.
pub(crate) fn is_markup(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let start = start.trim_ascii_start();
    ["<!doctype", "<html", "<head", "<?xml", "<!--"]
        .iter()
        .any(|tag| {
            let found = start.get(..tag.len());
            found.is_some_and(|found| found.eq_ignore_ascii_case(tag.as_bytes()))
        })
}

/// The format of a file that begins with `start`, which may end anywhere. Binary formats are never
/// guessed, because any bytes are valid in them.
pub fn format_of(start: &[u8]) -> Option<Format> {
    let text = |b: &u8| *b >= 0x20 || matches!(b, b'\t' | b'\n' | b'\r') || *b >= 0x80;
    if !start.iter().all(text) {
        return None;
    }
    let first = |line: &&[u8]| !line.trim_ascii().is_empty() && !line.starts_with(b"#");
    let mut lines = start.split(|&b| b == b'\n').filter(first);
    let line = lines.next()?.trim_ascii_end();
    if lackey::is_line(line) || line.starts_with(b"==") {
        return Some(Format::Lackey);
    }
    if spc::is_line(line) {
        return Some(Format::Spc);
    }
    match line.iter().any(|b| matches!(b, b',' | b'\t' | b';')) {
        true => Some(Format::Csv),
        false => Some(Format::Text),
    }
}
