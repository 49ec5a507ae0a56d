//! Kernel versions and the lines of versions that hotset knows.
use anyhow::{bail, Context, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A line of kernels, "7.3": every 7.3.x belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line {
    pub major: u32,
    pub minor: u32,
}

/// The lines that hotset has packages for, newest first. The first is the default.
pub const KNOWN: [Line; 2] = [
    Line { major: 7, minor: 3 },
    Line {
        major: 6,
        minor: 12,
    },
];

impl Line {
    /// The line of a version such as "7.3.4"; none where the text is no version.
    pub fn of_version(text: &str) -> Option<Line> {
        let mut parts = text.split('.').map(str::parse);
        match (parts.next()?, parts.next()?) {
            (Ok(major), Ok(minor)) => Some(Line { major, minor }),
            _ => None,
        }
    }

    /// Debian's source package of this line.
    pub fn package(self) -> String {
        format!("linux-source-{self}")
    }

    /// Debian suites that carry the package, in the order in which they are tried.
    pub fn suites(self) -> &'static [&'static str] {
        match (self.major, self.minor) {
            (7, 3) => &["trixie-backports"],
            (6, 12) => &["bookworm-security", "trixie-security"],
            (6, 1) => &["bookworm-security"],
            _ => &[],
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for Line {
    type Err = anyhow::Error;

    /// Accepts "7.3" alone. Of "7.3.4" nobody could rely on the 4: Debian has one version of a line.
    fn from_str(text: &str) -> Result<Line> {
        match Line::of_version(text.trim_start_matches('v')) {
            Some(line) if line.to_string() == text => Ok(line),
            Some(line) => bail!(
                "{text} is not a line of kernels: write {line}, for which Debian's newest {line}.x is taken; \
                 --tree FOLDER takes any other"
            ),
            None => bail!("{text:?} is not a kernel version such as 7.3"),
        }
    }
}

/// The version in a tree's top Makefile, "7.3.4" or "7.4.0-rc2".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
    /// EXTRAVERSION, "-rc2" for instance; usually empty.
    pub extra: String,
}

impl Version {
    /// Reads `tree`'s Makefile.
    ///
    /// # Errors
    /// When `tree` is no kernel tree.
    pub fn of_tree(tree: &Path) -> Result<Version> {
        let path = tree.join("Makefile");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("{}: is this a kernel source tree?", path.display()))?;
        Version::of_makefile(&text).with_context(|| {
            format!(
                "{}: no VERSION and PATCHLEVEL; not a kernel tree",
                path.display()
            )
        })
    }

    fn of_makefile(text: &str) -> Option<Version> {
        let value = |name: &str| {
            text.lines().take(30).find_map(|line| {
                let (key, value) = line.split_once('=')?;
                (key.trim() == name).then(|| value.trim().to_string())
            })
        };
        Some(Version {
            major: value("VERSION")?.parse().ok()?,
            minor: value("PATCHLEVEL")?.parse().ok()?,
            patch: value("SUBLEVEL").and_then(|v| v.parse().ok()).unwrap_or(0),
            extra: value("EXTRAVERSION").unwrap_or_default(),
        })
    }

    pub fn line(&self) -> Line {
        Line {
            major: self.major,
            minor: self.minor,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "{}.{}.{}{}",
            self.major, self.minor, self.patch, self.extra
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_written() {
        assert_eq!("7.3".parse::<Line>().unwrap(), KNOWN[0]);
        for other in ["6.12.5", "v6.12", "6.12-rc1", "6.012"] {
            assert!(other.parse::<Line>().is_err(), "{other}");
        }
        let error = "6.12.5".parse::<Line>().unwrap_err().to_string();
        assert!(error.contains("write 6.12,"), "{error}");
        assert_eq!(Line::of_version("7.3.4"), Some(KNOWN[0]));
        assert!("seven".parse::<Line>().is_err());
        assert!("7".parse::<Line>().is_err());
    }

    #[test]
    fn a_makefile_gives_its_version() {
        let text = "# SPDX\nVERSION = 7\nPATCHLEVEL = 4\nSUBLEVEL = 0\nEXTRAVERSION = -rc2\n";
        assert_eq!(Version::of_makefile(text).unwrap().to_string(), "7.4.0-rc2");
        assert!(Version::of_makefile("all:\n\ttrue\n").is_none());
    }
}
