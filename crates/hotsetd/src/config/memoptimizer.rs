//! Converts memoptimizer's configuration (`KEY = number`).
use crate::config::check::{shortened, Problem};
use crate::config::source;
use std::fmt::Write;
use std::path::Path;

/// A converted configuration.
#[derive(Debug)]
pub struct Imported {
    /// The configuration of hotsetd, TOML.
    pub text: String,
    /// Lines without a counterpart. The other lines are imported nevertheless.
    pub left_out: Vec<Problem>,
}

/// Lines that are reported. A file with more of them is probably another file.
const REPORTED: usize = 5;

/// Converts a file.
///
/// # Errors
/// As [`import`], or the file cannot be read, or is not text.
pub fn import_file(path: &Path) -> Result<Imported, Vec<Problem>> {
    let bytes = source::bytes(path).map_err(|problem| vec![problem])?;
    let Some(bytes) = bytes else {
        let error = std::io::Error::from_raw_os_error(libc::ENOENT);
        return Err(vec![Problem::unreadable(path, &error)]);
    };
    let text_may_have = |byte: &u8| *byte >= b' ' || b"\t\n\r\x0c".contains(byte);
    if !bytes.iter().all(text_may_have) {
        let message = "not a text file; name the configuration of memoptimizer";
        return Err(vec![Problem::of(path, message.into())]);
    }
    // Bytes that are not UTF-8 are part of a comment or a mistake.
    import(path, &String::from_utf8_lossy(&bytes))
}

/// Converts `text`, the content of `path`.
///
/// # Errors
/// One for each line with a wrong value, up to [`REPORTED`]; one where no line has a key of memoptimizer.
pub fn import(path: &Path, text: &str) -> Result<Imported, Vec<Problem>> {
    let mut wrong = Vec::new();
    let mut left_out = Vec::new();
    let mut found = Found::default();
    let (mut known, mut unknown) = (0, 0);
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let problem = |message: String| Problem {
            line: number + 1,
            ..Problem::of(path, message)
        };
        if wrong.len() == REPORTED {
            let message = "more lines are wrong; is the file a configuration of memoptimizer?";
            wrong.push(problem(message.into()));
            break;
        }
        let Some((key, value)) = line.split_once('=') else {
            wrong.push(problem(format!(
                "{:?} is not KEY = number",
                shortened(line)
            )));
            continue;
        };
        // Files of sysconfig may have a shell's `export` and quotes.
        let key = key.trim().trim_start_matches("export ").trim();
        let value = value.trim().trim_matches(['"', '\'']).trim();
        match found.take(key, value) {
            Ok(true) => known += 1,
            Ok(false) => {
                unknown += 1;
                if unknown <= REPORTED {
                    let key = shortened(key);
                    left_out.push(problem(format!("{key} has no counterpart: left out")));
                }
            }
            Err(message) => wrong.push(problem(message)),
        }
    }
    if wrong.is_empty() && known == 0 && unknown > 0 {
        let message = "no key is one of memoptimizer's; name the configuration of memoptimizer";
        wrong.push(Problem::of(path, message.into()));
    }
    if unknown > REPORTED {
        let more = unknown - REPORTED;
        left_out.push(Problem::of(path, format!("{more} more keys are left out")));
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let mut text = format!("# Imported from {}.\n", names::shown(path));
    for problem in &left_out {
        let _ = writeln!(text, "# {}", names::escaped(&problem.to_string()));
    }
    found.write(&mut text);
    Ok(Imported { text, left_out })
}

#[derive(Default)]
struct Found {
    verbosity: Option<u64>,
    aggressiveness: Option<u64>,
    free_pages: Option<bool>,
    max_gap_gb: Option<u64>,
    negative_dentries: Option<bool>,
    cap_per_mille: Option<u64>,
    leak_check: Option<bool>,
    prefer: Option<bool>,
}

impl Found {
    /// `false`: the key has no counterpart.
    fn take(&mut self, key: &str, value: &str) -> Result<bool, String> {
        let number = |least: u64, most: u64| match value.parse::<u64>() {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            Ok(number) => Err(format!(
                "{key}: {number} is out of range ({least} to {most})"
            )),
            Err(_) => Err(format!(
                "{key} = {:?}: expected a whole number, {least} to {most}",
                shortened(value)
            )),
        };
        let switch = || number(0, 1).map(|number| number == 1);
        match key {
            "VERBOSE" => self.verbosity = Some(number(0, 5)?),
            "AGGRESSIVENESS" => self.aggressiveness = Some(number(1, 3)?),
            "ENABLE_FREE_PAGE_MGMT" => self.free_pages = Some(switch()?),
            "MAXGAP" => self.max_gap_gb = Some(number(0, 1_000_000)?),
            "ENABLE_NEG_DENTRY_MGMT" => self.negative_dentries = Some(switch()?),
            "NEG_DENTRY_CAP" => self.cap_per_mille = Some(number(1, 100)?),
            "ENABLE_MEMLEAK_CHECK" => self.leak_check = Some(switch()?),
            "PREFER_OBJECT_CACHING" => self.prefer = Some(switch()?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn write(&self, text: &mut String) {
        let mut line = |row: String| {
            text.push_str(&row);
            text.push('\n');
        };
        if let Some(value) = self.verbosity {
            line(format!("verbosity = {value}"));
        }
        if let Some(value) = self.aggressiveness {
            line(format!("aggressiveness = {value}"));
        }
        if self.free_pages.is_some() || self.max_gap_gb.is_some() {
            line("\n[free_pages]".into());
        }
        if let Some(value) = self.free_pages {
            line(format!("enabled = {value}"));
        }
        if let Some(value) = self.max_gap_gb {
            line(format!("max_gap_gb = {value}.0"));
        }
        if self.negative_dentries.is_some() || self.cap_per_mille.is_some() {
            line("\n[negative_dentries]".into());
        }
        if let Some(value) = self.negative_dentries {
            line(format!("enabled = {value}"));
        }
        if let Some(value) = self.cap_per_mille {
            line(format!("cap_per_mille = {value}"));
        }
        if let Some(value) = self.leak_check {
            line(format!("\n[leak_check]\nenabled = {value}"));
        }
        if let Some(value) = self.prefer {
            line(format!("\n[object_caching]\nprefer = {value}"));
        }
    }
}
