//! Configuration fragments: the settings that a kernel must have, checked against its `.config`.
use anyhow::{bail, Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One line of a fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// Line number, from 1.
    pub line: usize,
    /// The symbol with its prefix `CONFIG_`.
    pub symbol: String,
    /// The value as in a `.config`: `y`, `8`, `"text"`. None for "is not set".
    pub value: Option<String>,
}

/// Fragments, each overriding those before it.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// The files, lowest first.
    pub paths: Vec<PathBuf>,
    /// The text for Kconfig: every line except those that a later file overrides.
    pub text: String,
    /// The wanted settings, by file.
    pub wants: Vec<(PathBuf, Vec<Want>)>,
}

impl Fragment {
    /// Reads `paths`, each overriding those before it.
    ///
    /// # Errors
    /// As [`parse`], and when a file cannot be read.
    pub fn read(paths: &[PathBuf]) -> Result<Fragment> {
        let mut layers = Vec::new();
        for path in paths {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("{}: cannot read the fragment", path.display()))?;
            let wants = parse(&text, path)?;
            layers.push((path.clone(), text, wants));
        }
        let mut above: BTreeSet<String> = BTreeSet::new();
        for (_, text, wants) in layers.iter_mut().rev() {
            let covered = |symbol: &str| above.contains(symbol);
            *text = text
                .lines()
                .filter(|line| !setting(line).is_some_and(|(symbol, _)| covered(symbol)))
                .map(|line| format!("{line}\n"))
                .collect();
            wants.retain(|want| !covered(&want.symbol));
            above.extend(wants.iter().map(|want| want.symbol.clone()));
        }
        Ok(Fragment {
            paths: paths.to_vec(),
            text: layers.iter().map(|(_, text, _)| text.as_str()).collect(),
            wants: layers
                .into_iter()
                .map(|(path, _, wants)| (path, wants))
                .collect(),
        })
    }

    /// Switches these options on where the kernel has them and the fragment does not name them. They are no wants: a kernel with the first patches of a series
    /// alone does not know those of later ones.
    #[must_use]
    pub fn with_options<'a>(mut self, options: impl IntoIterator<Item = &'a String>) -> Fragment {
        for option in options {
            let named =
                |line: &str| setting(line).is_some_and(|(symbol, _)| symbol[7..] == **option);
            if !self.text.lines().any(named) {
                self.text += &format!("CONFIG_{option}=y\n");
            }
        }
        self
    }

    /// The lines that a `.config` does not fulfil, by file.
    pub fn unfulfilled(&self, dot_config: &str) -> Vec<(PathBuf, Vec<String>)> {
        self.wants
            .iter()
            .map(|(path, wants)| (path.clone(), unfulfilled(wants, dot_config)))
            .filter(|(_, lines)| !lines.is_empty())
            .collect()
    }
}

/// Parses a fragment. Comments and empty lines are ignored.
///
/// # Errors
/// When a line is neither setting nor comment, is `=n` (which a `.config` never contains), or names
/// a symbol twice. The message names the line.
pub fn parse(text: &str, path: &Path) -> Result<Vec<Want>> {
    let mut wants: Vec<Want> = Vec::new();
    for (index, text_line) in text.lines().enumerate() {
        let line = index + 1;
        let place = || format!("{}:{line}", path.display());
        let Some((symbol, value)) = setting(text_line) else {
            let trimmed = text_line.trim();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
            bail!(
                "{}: {trimmed:?} is neither CONFIG_X=value nor a comment",
                place()
            );
        };
        if value == Some("n") {
            bail!("{}: write `# {symbol} is not set`, not `=n`", place());
        }
        if let Some(first) = wants.iter().find(|want| want.symbol == symbol) {
            bail!(
                "{}: {symbol} is set in line {} already",
                place(),
                first.line
            );
        }
        wants.push(Want {
            line,
            symbol: symbol.to_string(),
            value: value.map(Into::into),
        });
    }
    Ok(wants)
}

/// Parses `CONFIG_X=value` or `# CONFIG_X is not set`.
fn setting(line: &str) -> Option<(&str, Option<&str>)> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix("# ") {
        let symbol = rest.strip_suffix(" is not set")?;
        return symbol.starts_with("CONFIG_").then_some((symbol, None));
    }
    let (symbol, value) = line.split_once('=')?;
    symbol
        .starts_with("CONFIG_")
        .then_some((symbol, Some(value)))
}

/// The wants that a `.config` does not fulfil, as lines of a message. A setting that must be off
/// may be absent.
pub fn unfulfilled(wants: &[Want], dot_config: &str) -> Vec<String> {
    let have: BTreeMap<&str, Option<&str>> = dot_config.lines().filter_map(setting).collect();
    wants
        .iter()
        .filter_map(|want| {
            let got = have.get(want.symbol.as_str());
            let fits = match (&want.value, got) {
                (Some(value), Some(Some(got))) => value == got,
                (None, None | Some(None)) => true,
                _ => false,
            };
            let is = match got {
                Some(Some(got)) => format!("is {got}"),
                Some(None) => "is not set (something that it depends on is off)".into(),
                None => "does not exist, or something that it depends on is off".into(),
            };
            let wanted = want.value.as_deref().unwrap_or("not set");
            (!fits).then(|| format!("line {}: {}={wanted}: {is}", want.line, want.symbol))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(text: &str) -> Result<Vec<Want>> {
        parse(text, Path::new("um.config"))
    }

    #[test]
    fn settings_without_effect_are_named_with_line_and_value() {
        let wants = wants(
            "# Why.\nCONFIG_A=y\nCONFIG_N=8\n# CONFIG_OFF is not set\n# CONFIG_GONE is not set\n\
             CONFIG_DROPPED=y\nCONFIG_M=y\nCONFIG_S=\"x\"\n# CONFIG_FORCED is not set\n",
        )
        .unwrap();
        let got = "CONFIG_A=y\nCONFIG_N=8\n# CONFIG_OFF is not set\nCONFIG_M=m\nCONFIG_S=\"x\"\n\
                   CONFIG_FORCED=y\n";
        assert_eq!(
            unfulfilled(&wants, got),
            [
                "line 6: CONFIG_DROPPED=y: does not exist, or something that it depends on is off",
                "line 7: CONFIG_M=y: is m",
                "line 9: CONFIG_FORCED=not set: is y",
            ]
        );
    }

    #[test]
    fn options_of_patches_are_on_unless_the_fragment_says_otherwise() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("um");
        std::fs::write(&path, "# CONFIG_A is not set\n").unwrap();
        let options = ["A".to_string(), "AB".to_string()];
        let fragment = Fragment::read(&[path]).unwrap().with_options(&options);
        assert_eq!(fragment.text, "# CONFIG_A is not set\nCONFIG_AB=y\n");
    }

    #[test]
    fn a_later_fragment_overrides_lines_and_adds_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let (base, over) = (dir.path().join("base"), dir.path().join("over"));
        std::fs::write(&base, "# Why.\nCONFIG_A=y\nCONFIG_B=y\nCONFIG_N=8\n").unwrap();
        std::fs::write(&over, "# CONFIG_A is not set\nCONFIG_N=9\nCONFIG_D=y\n").unwrap();
        let fragment = Fragment::read(&[base.clone(), over.clone()]).unwrap();
        assert_eq!(
            fragment.text,
            "# Why.\nCONFIG_B=y\n# CONFIG_A is not set\nCONFIG_N=9\nCONFIG_D=y\n"
        );
        let good = "CONFIG_B=y\nCONFIG_N=9\nCONFIG_D=y\n";
        assert_eq!(fragment.unfulfilled(good), []);
        let bad = "CONFIG_A=y\nCONFIG_N=9\nCONFIG_D=y\n";
        let files: Vec<PathBuf> = fragment
            .unfulfilled(bad)
            .into_iter()
            .map(|(path, lines)| {
                assert_eq!(lines.len(), 1, "{lines:?}");
                path
            })
            .collect();
        assert_eq!(files, [base, over]);
    }

    #[test]
    fn a_malformed_line_is_refused_with_its_number() {
        let error = |text: &str| wants(text).unwrap_err().to_string();
        assert!(error("CONFIG_A=y\nCONFIG_B\n").starts_with("um.config:2: \"CONFIG_B\""));
        assert!(error("CONFIG_A=n\n").contains("`# CONFIG_A is not set`"));
        assert!(error("CONFIG_A=y\n\nCONFIG_A=m\n").contains("set in line 1 already"));
    }
}
