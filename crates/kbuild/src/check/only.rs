//! Which patches of a series to check.
use anyhow::{bail, Result};
use std::str::FromStr;

/// Which patches to check, by their numbers: "3", "3..", "..3", "2..4" (both included).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Only {
    pub first: u32,
    pub last: u32,
}

impl Only {
    pub const ALL: Only = Only {
        first: 0,
        last: u32::MAX,
    };

    /// Whether the patch with this number is to be checked.
    #[must_use]
    pub fn has(self, number: u32) -> bool {
        (self.first..=self.last).contains(&number)
    }
}

impl FromStr for Only {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Only> {
        let number = |part: &str, default: u32| match part.trim() {
            "" => Ok(default),
            digits => digits.parse::<u32>(),
        };
        let parsed = match text.split_once("..") {
            Some((first, last)) => {
                let last = last.trim_start_matches('=');
                number(first, 0).and_then(|first| Ok((first, number(last, u32::MAX)?)))
            }
            None => text.trim().parse().map(|only: u32| (only, only)),
        };
        match parsed {
            Ok((first, last)) if first <= last => Ok(Only { first, last }),
            _ => {
                bail!("invalid range of patches {text:?}: expected 3, 3.., ..3 or 2..4, by number")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_one_number_or_two_with_either_left_out() {
        let only = |text: &str| text.parse::<Only>().map(|only| (only.first, only.last));
        assert_eq!(only("3").unwrap(), (3, 3));
        assert_eq!(only("3..").unwrap(), (3, u32::MAX));
        assert_eq!(only("..3").unwrap(), (0, 3));
        assert_eq!(only("2..4").unwrap(), (2, 4));
        assert!(only("4..2").is_err() && only("x").is_err() && only("").is_err());
    }
}
