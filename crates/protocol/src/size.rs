//! An amount of memory: bytes, or a share of the machine's.
use serde::{de, Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// An amount of memory, written `67108864`, `"64M"` or `"10%"`. Units are those of
/// [`units::parse_bytes`]. A share is of the machine's memory. The lab resolves shares, so a guest
/// reads bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    Bytes(u64),
    Percent(f64),
}

impl Size {
    /// Bytes of a resolved size. An unresolved share is 0: call [`Size::resolve`] first.
    pub fn bytes(self) -> u64 {
        match self {
            Size::Bytes(bytes) => bytes,
            Size::Percent(_) => 0,
        }
    }

    /// No bytes, or a share of nothing.
    pub fn is_zero(self) -> bool {
        matches!(self, Size::Bytes(0) | Size::Percent(0.0))
    }

    /// The same share, or `times` as many bytes.
    pub fn times(self, times: f64) -> Size {
        match self {
            Size::Bytes(bytes) => Size::Bytes((bytes as f64 * times) as u64),
            Size::Percent(_) => self,
        }
    }

    /// The same size in bytes, shares taken of `whole` bytes and rounded down to 4 KiB pages.
    pub fn resolve(self, whole: u64) -> Size {
        match self {
            Size::Bytes(bytes) => Size::Bytes(bytes),
            Size::Percent(percent) => {
                Size::Bytes((whole as f64 * percent / 100.0) as u64 / 4096 * 4096)
            }
        }
    }
}

impl Default for Size {
    fn default() -> Self {
        Size::Bytes(0)
    }
}

const EXPECTED: &str = "a size: bytes, \"64M\" or a share of memory such as \"10%\"";

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected {EXPECTED}, not {text:?}");
        match text.trim().strip_suffix('%') {
            Some(percent) => match percent.trim().parse::<f64>() {
                Ok(percent) if percent.is_finite() && percent >= 0.0 => Ok(Size::Percent(percent)),
                _ => Err(wrong()),
            },
            None => units::parse_bytes(text)
                .map(Size::Bytes)
                .map_err(|_| wrong()),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Bytes(bytes) => write!(f, "{bytes}"),
            Size::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Size::Bytes(bytes) => serializer.serialize_u64(*bytes),
            Size::Percent(_) => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Size;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }
            fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<Size, E> {
                Ok(Size::Bytes(bytes))
            }
            fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<Size, E> {
                u64::try_from(bytes)
                    .map(Size::Bytes)
                    .map_err(|_| E::invalid_value(de::Unexpected::Signed(bytes), &self))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Size, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn bytes_units_and_shares_are_read() {
        for (text, size) in [
            ("0", Size::Bytes(0)),
            ("4096", Size::Bytes(4096)),
            ("64MiB", Size::Bytes(64 << 20)),
            ("1.5 GiB", Size::Bytes(3 << 29)),
            ("100MB", Size::Bytes(100 << 20)),
            ("10%", Size::Percent(10.0)),
            ("12.5%", Size::Percent(12.5)),
        ] {
            assert_eq!(text.parse(), Ok(size), "{text}");
        }
        for text in [
            "",
            "MiB",
            "-1",
            "-5%",
            "10 parsecs",
            "inf%",
            "nanMB",
            "99999999999GB",
        ] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn shares_resolve_to_whole_pages_and_are_written_as_bytes() {
        let size = Size::Percent(10.0).resolve(512 << 20);
        assert_eq!(size.bytes() % 4096, 0);
        assert!((53_600_000..53_700_000).contains(&size.bytes()));
        let json = serde_json::to_string(&size).unwrap();
        assert_eq!(json, size.bytes().to_string());
        assert_eq!(serde_json::from_str::<Size>(&json).unwrap(), size);
        assert_eq!(
            serde_json::from_str::<Size>("\"10%\"").unwrap(),
            Size::Percent(10.0)
        );
    }
}
