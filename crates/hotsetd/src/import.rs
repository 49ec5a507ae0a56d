//! memoptimizer's configuration (`KEY = number`) in, ours out.
use crate::load::Problem;
use std::fmt::Write;
use std::path::Path;

/// What an import gives.
#[derive(Debug)]
pub struct Imported {
    /// Our configuration, TOML.
    pub text: String,
    /// Lines that have no counterpart here; the rest is imported nevertheless.
    pub left_out: Vec<Problem>,
}

/// Turns `text`, the content of `path`, into ours.
///
/// # Errors
/// Every line whose value cannot be taken.
pub fn import(path: &Path, text: &str) -> Result<Imported, Vec<Problem>> {
    let mut wrong = Vec::new();
    let mut left_out = Vec::new();
    let mut found = Found::default();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let problem = |words: String| Problem {
            file: path.to_owned(),
            line: number + 1,
            words,
        };
        let Some((key, value)) = line.split_once('=') else {
            wrong.push(problem(format!("{line:?} is not KEY = number")));
            continue;
        };
        // A shell's habit that sysconfig files have: export, and quotes.
        let key = key.trim().trim_start_matches("export ").trim();
        let value = value.trim().trim_matches(['"', '\'']).trim();
        match found.take(key, value) {
            Ok(true) => {}
            Ok(false) => left_out.push(problem(format!("{key} has no counterpart: left out"))),
            Err(words) => wrong.push(problem(words)),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let mut text = format!("# Imported from {}.\n", path.display());
    for problem in &left_out {
        let _ = writeln!(text, "# {problem}");
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
    /// `false`: a key that ours has no counterpart for.
    fn take(&mut self, key: &str, value: &str) -> Result<bool, String> {
        let number = |least: u64, most: u64| match value.parse::<u64>() {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            _ => Err(format!(
                "{key} is {value:?}: a number from {least} to {most} is wanted"
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
        let mut line = |words: String| {
            text.push_str(&words);
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
