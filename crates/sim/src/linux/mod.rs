//! Linux's reclaim, as `mm/vmscan.c` and `mm/workingset.c` have it, one page an object.
//!
//! The model is a memory cgroup at its limit: a fault that finds no room reclaims, from priority 12
//! down to 0, until at least so many pages are free. Left out, for a trace does not tell: page tables
//! (neighbours that `lru_gen_look_around` finds young), writeback, read-ahead, and reclaim that runs
//! beside the accesses. Each rule names the function that it mirrors.
pub mod classic;
pub mod generations;
pub mod pid;

use crate::{Error, Input, Setup};
use trace::Flags;

/// DEF_PRIORITY
pub const DEF_PRIORITY: u32 = 12;
/// MAX_RECLAIM_RETRIES
pub const MAX_RECLAIM_RETRIES: u32 = 16;
/// SWAP_CLUSTER_MAX
pub const SWAP_CLUSTER_MAX: u32 = 32;
/// MAX_SWAPPINESS
pub const MAX_SWAPPINESS: u64 = 200;

/// Index of what belongs to anonymous memory.
pub const ANON: usize = 0;
/// Index of what belongs to files.
pub const FILE: usize = 1;

/// What is known of a page, a bit each; 0 is not resident.
pub mod page {
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
}

/// How accesses are made: as the trace tells, or all alike.
#[derive(Clone, Copy)]
pub(crate) struct Accesses<'a> {
    flags: Option<&'a [Flags]>,
    alike: Flags,
}

/// The help of the parameter that [`Accesses::new`] reads.
pub(crate) const ACCESS_HELP: &str =
    "what every access is: trace (as the trace tells; read() where it does not), read, mapped, exec or anon";

impl<'a> Accesses<'a> {
    pub fn new(setup: &Setup<'a, '_>) -> Result<Accesses<'a>, Error> {
        let text: String = setup.value("access")?;
        let alike = match text.as_str() {
            "trace" | "read" => Flags::NONE,
            "mapped" => Flags::MAPPED,
            "exec" => Flags::MAPPED | Flags::EXEC,
            "anon" => Flags::ANON | Flags::MAPPED,
            other => {
                let expected = "trace, read, mapped, exec or anon";
                return Err(setup.refuse("access", other, expected));
            }
        };
        let input: &Input<'a> = &setup.input;
        let flags = input.flags().filter(|_| text == "trace");
        Ok(Accesses { flags, alike })
    }

    #[inline(always)]
    pub fn at(&self, at: usize) -> Flags {
        match self.flags {
            Some(flags) => flags[at],
            None => self.alike,
        }
    }
}

/// The bits of a page that is brought in by such an access.
#[inline(always)]
pub(crate) fn new_page(access: Flags) -> u8 {
    let mut bits = page::PRESENT;
    if !access.has(Flags::ANON) {
        bits |= page::FILE;
    }
    if access.has(Flags::EXEC) {
        bits |= page::EXEC;
    }
    bits
}

/// Through a page table? Anonymous memory always is.
#[inline(always)]
pub(crate) fn is_mapped(access: Flags) -> bool {
    access.has(Flags::MAPPED) || access.has(Flags::ANON)
}
