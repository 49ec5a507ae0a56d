//! Which patches a kernel carries.
use anyhow::{bail, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which patches a kernel carries. Written as in experiments: "vanilla", "series", "swappiness",
/// "both", "generations", "debian". A kernel with the patches of another folder is "foreign".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// No patches, built from the same source.
    Vanilla,
    /// The protection series, `kernel/series/LINE`.
    Series,
    /// The swappiness series alone, `kernel/series/LINE-swappiness`.
    Swappiness,
    /// The protection series, and the swappiness series on top of it.
    Both,
    /// Patches of the test bed, `kernel/testbed/LINE-generations`, for experiments alone: MGLRU with
    /// 32 generations and a threshold for the anonymous ones.
    Generations,
    /// Debian's own binary package, unchanged: see [`crate::fetch::debian`].
    Debian,
    /// Patches that are not ours, from a folder of the caller. The folder asks for it, never its name.
    Foreign,
}

impl Flavour {
    /// The flavours that can be asked for by name.
    pub const ALL: [Flavour; 6] = [
        Flavour::Vanilla,
        Flavour::Series,
        Flavour::Swappiness,
        Flavour::Both,
        Flavour::Generations,
        Flavour::Debian,
    ];

    /// The series that are applied to the source, in order, by the name that
    /// [`crate::layout::series_dir`] takes.
    pub fn series(self) -> &'static [Option<&'static str>] {
        match self {
            Flavour::Vanilla | Flavour::Debian | Flavour::Foreign => &[],
            Flavour::Series => &[None],
            Flavour::Swappiness => &[Some("swappiness")],
            Flavour::Both => &[None, Some("swappiness-on-protection")],
            Flavour::Generations => &[Some("generations")],
        }
    }

    /// The folder of `kernel/` with the series.
    pub fn folder(self) -> &'static str {
        match self {
            Flavour::Generations => "testbed",
            _ => "series",
        }
    }

    /// The part behind the version in tables: "7.3.4 + hotset series".
    pub fn label(self) -> &'static str {
        match self {
            Flavour::Vanilla => "vanilla",
            Flavour::Series => "+ hotset series",
            Flavour::Swappiness => "+ swappiness series",
            Flavour::Both => "+ both series",
            Flavour::Generations => "+ 32 generations",
            Flavour::Debian => "Debian",
            Flavour::Foreign => "+ foreign patches",
        }
    }

    /// The suffix of the release's name: `uname -r` shows whether a kernel is patched.
    pub fn suffix(self) -> &'static str {
        match self {
            Flavour::Vanilla | Flavour::Debian => "",
            Flavour::Series => "-hotset",
            Flavour::Swappiness => "-hotset-swappiness",
            Flavour::Both => "-hotset-both",
            Flavour::Generations => "-hotset-generations",
            Flavour::Foreign => "-foreign",
        }
    }

    /// The name in experiments and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Flavour::Vanilla => "vanilla",
            Flavour::Series => "series",
            Flavour::Swappiness => "swappiness",
            Flavour::Both => "both",
            Flavour::Generations => "generations",
            Flavour::Debian => "debian",
            Flavour::Foreign => "foreign",
        }
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Flavour {
    type Err = anyhow::Error;

    /// Takes "protection" for "series" as well.
    fn from_str(text: &str) -> Result<Flavour> {
        if text == "protection" {
            return Ok(Flavour::Series);
        }
        match Flavour::ALL.into_iter().find(|it| it.name() == text) {
            Some(flavour) => Ok(flavour),
            None => {
                let known = Flavour::ALL.map(Flavour::name);
                bail!(
                    "unknown set of patches {text:?}: expected one of {}{}",
                    known.join(", "),
                    names::suggestion(text, known)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flavour_is_read_as_it_is_written() {
        for flavour in Flavour::ALL {
            assert_eq!(flavour.name().parse::<Flavour>().unwrap(), flavour);
            // Experiments are read by serde.
            let json = serde_json::to_string(&flavour).unwrap();
            assert_eq!(json, format!("\"{flavour}\""));
        }
        assert_eq!("protection".parse::<Flavour>().unwrap(), Flavour::Series);
        assert!("none".parse::<Flavour>().is_err());
        assert!(
            "foreign".parse::<Flavour>().is_err(),
            "a folder asks for it"
        );
    }
}
