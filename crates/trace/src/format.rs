//! The formats, and which one a file is in.
use std::path::Path;
use std::str::FromStr;

/// A trace format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// libCacheSim's binary records of 24 bytes, with the next access of each object.
    OracleGeneral,
    /// SPC-1: unit, block address, bytes, R or W, seconds.
    Spc,
    /// Comma-separated values.
    Csv,
    /// An object a line.
    Text,
    /// `valgrind --tool=lackey --trace-mem=yes`.
    Lackey,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 5] = [
        Format::OracleGeneral,
        Format::Spc,
        Format::Csv,
        Format::Text,
        Format::Lackey,
    ];

    /// As `--format` has it.
    pub fn name(self) -> &'static str {
        match self {
            Format::OracleGeneral => "oracleGeneral",
            Format::Spc => "spc",
            Format::Csv => "csv",
            Format::Text => "text",
            Format::Lackey => "lackey",
        }
    }

    /// From the file's name, without `.zst` and `.gz`.
    pub fn of_name(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".zst").unwrap_or(&name);
        let name = name.strip_suffix(".gz").unwrap_or(name);
        let has = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        if name.contains("oraclegeneral") || has(&[".bin"]) {
            Some(Format::OracleGeneral)
        } else if has(&[".spc"]) {
            Some(Format::Spc)
        } else if has(&[".csv", ".tsv"]) {
            Some(Format::Csv)
        } else if has(&[".lackey"]) {
            Some(Format::Lackey)
        } else if has(&[".txt", ".text"]) {
            Some(Format::Text)
        } else {
            None
        }
    }

    /// From the first bytes, which may end anywhere. Binary is never guessed: any bytes would do.
    pub fn of_contents(start: &[u8]) -> Option<Format> {
        let text = |b: &u8| *b >= 0x20 || matches!(b, b'\t' | b'\n' | b'\r') || *b >= 0x80;
        if !start.iter().all(text) {
            return None;
        }
        let first = |line: &&[u8]| !line.trim_ascii().is_empty() && !line.starts_with(b"#");
        let mut lines = start.split(|&b| b == b'\n').filter(first);
        let line = lines.next()?.trim_ascii_end();
        if crate::read::lackey::looks_like(line) || line.starts_with(b"==") {
            return Some(Format::Lackey);
        }
        if crate::read::spc::looks_like(line) {
            return Some(Format::Spc);
        }
        match line.iter().any(|b| matches!(b, b',' | b'\t' | b';')) {
            true => Some(Format::Csv),
            false => Some(Format::Text),
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        let found = Format::ALL
            .into_iter()
            .find(|f| f.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let names = Format::ALL.map(Format::name).join(", ");
            format!("there is no format {name}; there are {names}")
        })
    }
}
