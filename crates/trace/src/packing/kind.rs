//! How files are packed.
use std::path::Path;

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    Plain,
    /// Zstandard frames (RFC 8878), one after the other.
    Zstd,
    /// gzip members (RFC 1952), one after the other.
    Gzip,
}

const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const GZIP: &[u8] = &[0x1f, 0x8b];

/// The first bytes of packings that are neither read nor written, with the endings of their names.
const OTHERS: [(&[u8], &str); 4] = [
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz"),
    (b"BZh91AY&SY", "bz2"),
    (&[0x04, 0x22, 0x4d, 0x18], "lz4"),
    (b"PK\x03\x04", "zip"),
];

impl Packing {
    /// Bytes that [`Packing::of_contents`] needs.
    pub(super) const START: usize = 10;

    /// The name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Packing::Plain => "plain",
            Packing::Zstd => "zstd",
            Packing::Gzip => "gzip",
        }
    }

    /// The packing by the ending of a file's name.
    pub fn of_name(path: &Path) -> Packing {
        match path.extension().and_then(|e| e.to_str()) {
            Some("zst") => Packing::Zstd,
            Some("gz") => Packing::Gzip,
            _ => Packing::Plain,
        }
    }

    /// The ending of a name that stands for a packing that is neither read nor written.
    pub fn unsupported_name(path: &Path) -> Option<&'static str> {
        let ending = path.extension()?.to_str()?;
        let more = ["lzma", "br", "7z", "Z"];
        let others = OTHERS.iter().map(|(_, name)| *name).chain(more);
        others.into_iter().find(|name| *name == ending)
    }

    /// The packing by the first bytes of a file. A file that ends within the first bytes of a packing is
    /// taken for a packed one that was cut off.
    pub fn of_contents(start: &[u8]) -> Packing {
        let begins = |magic: &[u8]| {
            let common = start.len().min(magic.len());
            common > 0 && start[..common] == magic[..common]
        };
        match (begins(ZSTD), begins(GZIP)) {
            (true, _) => Packing::Zstd,
            (_, true) => Packing::Gzip,
            _ => Packing::Plain,
        }
    }

    /// The name of a packing that is neither read nor written, by the first bytes of a file.
    pub(super) fn unsupported_contents(start: &[u8]) -> Option<&'static str> {
        let found = OTHERS.iter().find(|(magic, _)| start.starts_with(magic));
        found.map(|(_, name)| *name)
    }
}
