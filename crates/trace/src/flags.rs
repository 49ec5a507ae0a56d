//! The properties of a request besides its object.

/// A set of flags such as [`Flags::WRITE`], in one byte for each request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// No flag: a read of a file through a descriptor.
    pub const NONE: Flags = Flags(0);
    /// A write. Without this flag: a read.
    pub const WRITE: Flags = Flags(1);
    /// Anonymous memory. Without this flag: memory of a file.
    pub const ANON: Flags = Flags(2);
    /// An access through a mapping, which sets only the accessed bit of the page table. Without this flag:
    /// an access through a file descriptor. Anonymous memory is always mapped.
    pub const MAPPED: Flags = Flags(4);
    /// An instruction fetch: its mapping is executable.
    pub const EXEC: Flags = Flags(8);

    /// Does the set have all flags of `other`?
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
