//! The state of a page in bits. 0: the page is not resident.
use trace::Flags;

/// Resident.
pub const PRESENT: u8 = 1;
/// PG_active
pub const ACTIVE: u8 = 2;
/// PG_referenced
pub const REFERENCED: u8 = 4;
/// PG_workingset
pub const WORKINGSET: u8 = 8;
/// The accessed bit of its page table entry.
pub const YOUNG: u8 = 16;
/// On the file lists.
pub const FILE: u8 = 32;
/// Mapped executable.
pub const EXEC: u8 = 64;

/// The bits of a page that `access` brings in.
#[inline(always)]
pub(crate) fn new_page(access: Flags) -> u8 {
    let mut bits = PRESENT;
    if !access.has(Flags::ANON) {
        bits |= FILE;
    }
    if access.has(Flags::EXEC) {
        bits |= EXEC;
    }
    bits
}
