//! Which patches a kernel carries.
use anyhow::{bail, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which patches a kernel carries. Written as in experiments: "vanilla", "series", "swappiness",
/// "both", "generations", "debian".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    /// None, built from the same source.
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
    /// Debian's own binary package, as it is: see [`crate::debian`].
    Debian,
}

impl Flavour {
    pub const ALL: [Flavour; 6] = [
        Flavour::Vanilla,
        Flavour::Series,
        Flavour::Swappiness,
        Flavour::Both,
        Flavour::Generations,
        Flavour::Debian,
    ];

    /// The series that are laid over the source, in order, by what [`crate::rooms::series_dir`]
    /// puts behind the line.
    pub fn series(self) -> &'static [Option<&'static str>] {
        match self {
            Flavour::Vanilla | Flavour::Debian => &[],
            Flavour::Series => &[None],
            Flavour::Swappiness => &[Some("swappiness")],
            Flavour::Both => &[None, Some("swappiness-on-protection")],
            Flavour::Generations => &[Some("generations")],
        }
    }

    /// The folder of `kernel/` that they are in.
    pub fn room(self) -> &'static str {
        match self {
            Flavour::Generations => "testbed",
            _ => "series",
        }
    }

    /// Behind the version, in tables: "7.3.4 + hotset series".
    pub fn label(self) -> &'static str {
        match self {
            Flavour::Vanilla => "vanilla",
            Flavour::Series => "+ hotset series",
            Flavour::Swappiness => "+ swappiness series",
            Flavour::Both => "+ both series",
            Flavour::Generations => "+ 32 generations",
            Flavour::Debian => "Debian",
        }
    }

    /// Behind the release's name: `uname -r` tells a patched kernel from a plain one.
    pub fn suffix(self) -> &'static str {
        match self {
            Flavour::Vanilla | Flavour::Debian => "",
            Flavour::Series => "-hotset",
            Flavour::Swappiness => "-hotset-swappiness",
            Flavour::Both => "-hotset-both",
            Flavour::Generations => "-hotset-generations",
        }
    }

    /// As experiments and the command line write it.
    pub fn word(self) -> &'static str {
        match self {
            Flavour::Vanilla => "vanilla",
            Flavour::Series => "series",
            Flavour::Swappiness => "swappiness",
            Flavour::Both => "both",
            Flavour::Generations => "generations",
            Flavour::Debian => "debian",
        }
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Flavour {
    type Err = anyhow::Error;

    /// Takes "protection" for "series" as well.
    fn from_str(text: &str) -> Result<Flavour> {
        if text == "protection" {
            return Ok(Flavour::Series);
        }
        match Flavour::ALL.into_iter().find(|it| it.word() == text) {
            Some(flavour) => Ok(flavour),
            None => bail!(
                "{text:?}: there is {}",
                Flavour::ALL.map(Flavour::word).join(", ")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flavour_is_read_as_it_is_written() {
        for flavour in Flavour::ALL {
            assert_eq!(flavour.word().parse::<Flavour>().unwrap(), flavour);
            // Experiments are read by serde.
            let json = serde_json::to_string(&flavour).unwrap();
            assert_eq!(json, format!("\"{flavour}\""));
        }
        assert_eq!("protection".parse::<Flavour>().unwrap(), Flavour::Series);
        assert!("none".parse::<Flavour>().is_err());
    }
}
