//! Which pages are followed: one in so many, of small files and large ones alike.

/// A page of the first `every` of a file is followed where the file's inode number is a multiple of `every`; a later
/// one where its own number is. So each page has the same chance. By its own number alone, the first page of each small
/// file would stand for `every` pages, most of which the file has not got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    every: u64,
}

impl Sample {
    /// One page in `every`, or in the next power of two.
    #[must_use]
    pub fn new(every: u64) -> Sample {
        Sample {
            every: every.next_power_of_two(),
        }
    }

    #[must_use]
    pub fn every(self) -> u64 {
        self.every
    }

    /// Whether this page of a file is followed.
    #[must_use]
    pub fn follows(self, inode: u64, page: u64) -> bool {
        let chosen = if page < self.every { inode } else { page };
        chosen % self.every == 0
    }

    /// The kernel's filter that lets events of such pages pass (Documentation/trace/events.rst); `None`: all pass.
    /// `has_order`: the kernel's events are of folios, and have a field `order`.
    ///
    /// A folio begins at a multiple of its size. So only one at a file's beginning has followed pages behind a first
    /// page that is not.
    #[must_use]
    pub fn filter(self, has_order: bool) -> Option<String> {
        let (every, mask) = (self.every, self.every - 1);
        let large = match has_order {
            true => format!(" || (index == 0 && order > {})", every.trailing_zeros()),
            false => String::new(),
        };
        (every > 1).then(|| {
            format!("(index < {every} && !(i_ino & {mask})) || (index >= {every} && !(index & {mask})){large}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_has_the_same_chance() {
        let sample = Sample::new(8);
        // A tree of 800 files of three pages: a hundred of them whole.
        let small = (0..800).flat_map(|inode| (0..3).map(move |page| (inode, page)));
        let found = small.filter(|&(inode, page)| sample.follows(inode, page));
        assert_eq!(found.count(), 300);
        // A large file, whichever number it has.
        for inode in [16, 17] {
            let found = (8..8008).filter(|&page| sample.follows(inode, page));
            assert_eq!(found.count(), 1000);
        }
        assert!((0..100).all(|page| Sample::new(1).follows(7, page)));
    }

    #[test]
    fn the_kernel_gets_the_same_rule() {
        assert_eq!(Sample::new(1).filter(true), None);
        assert_eq!(
            Sample::new(8).filter(false).unwrap(),
            "(index < 8 && !(i_ino & 7)) || (index >= 8 && !(index & 7))"
        );
        assert!(Sample::new(8)
            .filter(true)
            .unwrap()
            .ends_with(" || (index == 0 && order > 3)"));
    }
}
