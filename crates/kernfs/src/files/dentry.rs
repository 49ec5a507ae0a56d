//! /proc/sys/fs/dentry-state and inode-nr (fs/dcache.c, fs/inode.c).
use crate::parse::text;
use crate::ErrorKind;

/// Directory entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DentryState {
    pub nr_dentry: u64,
    /// On the LRU lists, negative ones among them.
    pub nr_unused: u64,
    /// Names that were looked up and do not exist. The kernel counts them from 5.0 on. Before, the
    /// field is always 0, and the [`crate::Sampler`] makes it `None`.
    pub nr_negative: Option<u64>,
}

/// Inodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InodeNr {
    pub nr_inodes: u64,
    pub nr_free: u64,
}

impl DentryState {
    /// Reads the text of dentry-state: six numbers, of which the first, second and fifth matter.
    ///
    /// # Errors
    /// Malformed text, or fewer than two numbers.
    pub fn parse(&mut self, text: &[u8]) -> Result<(), ErrorKind> {
        let numbers = numbers(text)?;
        let [Some(nr_dentry), Some(nr_unused), ..] = numbers else {
            let missing = "the number of unused dentries";
            return Err(ErrorKind::Truncated { missing });
        };
        *self = Self {
            nr_dentry,
            nr_unused,
            nr_negative: numbers[4],
        };
        Ok(())
    }
}

impl InodeNr {
    /// Reads the text of inode-nr.
    ///
    /// # Errors
    /// Malformed text, or fewer than two numbers.
    pub fn parse(&mut self, text: &[u8]) -> Result<(), ErrorKind> {
        let [Some(nr_inodes), Some(nr_free), ..] = numbers(text)? else {
            let missing = "the number of free inodes";
            return Err(ErrorKind::Truncated { missing });
        };
        *self = Self { nr_inodes, nr_free };
        Ok(())
    }
}

/// The numbers of a row. The kernel sums them over CPUs at slightly different moments, so a sum may come
/// out below zero. It counts as 0.
fn numbers(text: &[u8]) -> Result<[Option<u64>; 6], ErrorKind> {
    let (mut found, mut rest) = ([None; 6], text::trim(text));
    for slot in &mut found {
        let (number, after) = text::word(rest);
        rest = after;
        if number.is_empty() {
            break;
        }
        let value = text::signed(number).ok_or(ErrorKind::Malformed {
            line: 1,
            problem: "not a row of numbers",
        })?;
        *slot = Some(value.try_into().unwrap_or(0));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_and_negative_sums_are_0() {
        let mut dentries = DentryState::default();
        dentries
            .parse(b"1880897\t1879238\t45\t0\t271166\t0\n")
            .unwrap();
        assert_eq!(dentries.nr_negative, Some(271_166));
        dentries.parse(b"5\t-3\t45\t0\n").unwrap();
        assert_eq!((dentries.nr_unused, dentries.nr_negative), (0, None));
        for text in [&b""[..], b"5\n", b"a b\n"] {
            assert!(dentries.parse(text).is_err());
        }
        let mut inodes = InodeNr::default();
        inodes.parse(b"955589\t12\n").unwrap();
        assert_eq!((inodes.nr_inodes, inodes.nr_free), (955_589, 12));
        assert!(inodes.parse(b"955589").is_err());
    }
}
