//! What a trace tells of a request beside its object.

/// A set of [`Flags::WRITE`] and its like, one byte a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// Nothing known: a read of a file through a descriptor.
    pub const NONE: Flags = Flags(0);
    /// Writes; else reads.
    pub const WRITE: Flags = Flags(1);
    /// Anonymous memory; else of a file.
    pub const ANON: Flags = Flags(2);
    /// Through a mapping, where only the page table's accessed bit tells of it; else through a file
    /// descriptor. Anonymous memory is always mapped.
    pub const MAPPED: Flags = Flags(4);
    /// An instruction fetch: its mapping is executable.
    pub const EXEC: Flags = Flags(8);

    /// All of `other`?
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}
