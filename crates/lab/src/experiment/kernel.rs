//! The kernel of an arm: one of the lab's, or one of the user's own.
use kbuild::Flavour;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::path::{Path, PathBuf};

/// The kernel that an arm boots: `kernel = "series"`, or `kernel = { series-dir = "FOLDER" }`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kernel {
    /// Debian's source with a set of patches that hotset has.
    Known(Flavour),
    /// Patches, source or an image of the user.
    Own(Own),
}

/// A kernel of the user. Paths are relative to the folder of the experiment file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Own {
    /// A folder of NNNN-*.patch files, applied to the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series_dir: Option<PathBuf>,
    /// A kernel source tree, in place of Debian's. It is only read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<PathBuf>,
    /// A built kernel that the bed can boot: `linux` of User-Mode Linux, or a bzImage for QEMU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<PathBuf>,
    /// A set of hotset's patches on `tree`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patches: Option<Flavour>,
}

impl Kernel {
    /// Makes the paths of a kernel of the user relative to `folder`, where they are not absolute.
    pub(super) fn below(&mut self, folder: &Path) {
        if let Kernel::Own(own) = self {
            for path in [&mut own.series_dir, &mut own.tree, &mut own.image] {
                *path = path.take().map(|path| folder.join(path));
            }
        }
    }
}

impl From<Flavour> for Kernel {
    fn from(flavour: Flavour) -> Kernel {
        Kernel::Known(flavour)
    }
}

/// In a sentence: "series", "patches of FOLDER", "tree FOLDER with series", "image FILE".
impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = match self {
            Kernel::Known(flavour) => return write!(f, "{flavour}"),
            Kernel::Own(own) => own,
        };
        let mut parts = Vec::new();
        if let Some(image) = &own.image {
            parts.push(format!("image {}", image.display()));
        }
        if let Some(tree) = &own.tree {
            parts.push(format!("tree {}", tree.display()));
        }
        if let Some(folder) = &own.series_dir {
            parts.push(format!("patches of {}", folder.display()));
        }
        if let Some(patches) = own.patches {
            parts.push(patches.to_string());
        }
        f.write_str(&parts.join(" with "))
    }
}

impl Serialize for Kernel {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Kernel::Known(flavour) => flavour.serialize(to),
            Kernel::Own(own) => own.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Kernel {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Kernel;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a kernel, or a table with series-dir, tree or image")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Kernel, E> {
                const NAMES: &[&str] = &[
                    "vanilla",
                    "series",
                    "swappiness",
                    "both",
                    "generations",
                    "debian",
                ];
                match Flavour::ALL.into_iter().find(|it| it.name() == name) {
                    Some(flavour) => Ok(Kernel::Known(flavour)),
                    None => Err(E::unknown_variant(name, NAMES)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Kernel, A::Error> {
                Own::deserialize(MapAccessDeserializer::new(map)).map(Kernel::Own)
            }
        }
        from.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Kernel, String> {
        #[derive(Deserialize)]
        struct Arm {
            kernel: Kernel,
        }
        let arm: Result<Arm, _> = toml::from_str(text);
        arm.map(|arm| arm.kernel).map_err(|error| error.to_string())
    }

    #[test]
    fn every_known_kernel_is_read_by_its_name_and_no_other() {
        for flavour in Flavour::ALL {
            let kernel = read(&format!("kernel = \"{flavour}\"")).unwrap();
            assert_eq!(kernel, Kernel::Known(flavour));
            let json = serde_json::to_string(&kernel).unwrap();
            assert_eq!(json, format!("\"{flavour}\""));
            // The list in the message has every name.
            assert!(read("kernel = \"x\"").unwrap_err().contains(flavour.name()));
        }
        assert!(read("kernel = \"foreign\"").is_err());
        assert!(read("kernel = 7").unwrap_err().contains("name of a kernel"));
    }

    #[test]
    fn a_kernel_of_the_user_is_a_table_and_lies_beside_the_experiment() {
        let mut kernel =
            read("kernel = { series-dir = \"le9uo\", tree = \"/src/linux\" }").unwrap();
        kernel.below(Path::new("/home/me"));
        let shown = "tree /src/linux with patches of /home/me/le9uo";
        assert_eq!(kernel.to_string(), shown);
        assert!(read("kernel = { series_dir = \"x\" }")
            .unwrap_err()
            .contains("series-dir"));
    }
}
