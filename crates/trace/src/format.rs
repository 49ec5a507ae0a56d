//! The formats of traces.
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
    /// Plain text with one object on each line.
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

    /// The name as `--format` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Format::OracleGeneral => "oracleGeneral",
            Format::Spc => "spc",
            Format::Csv => "csv",
            Format::Text => "text",
            Format::Lackey => "lackey",
        }
    }

    /// The format by the ending of a file's name, `.zst` and `.gz` aside.
    pub fn of_name(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
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
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Format, String> {
        let found = Format::ALL
            .into_iter()
            .find(|f| f.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let names = Format::ALL.map(Format::name);
            format!(
                "{name} is no format; expected one of {}{}",
                names.join(", "),
                names::suggestion(name, names)
            )
        })
    }
}
