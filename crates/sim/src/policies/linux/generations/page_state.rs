//! The state of a page in the generations, and the shadow of an evicted page.
use crate::policies::linux::page;
use crate::policies::linux::pid::{tier_of, Rules};

/// LRU_REFS_MASK: accesses through descriptors beyond the first ones.
pub(super) const MOST_REFS: u8 = 3;

/// folio->flags of a resident page, or the shadow of an evicted page. Both share the same four bytes, so
/// a fault and an eviction touch one cache line each.
#[derive(Clone, Copy, Default)]
pub struct Page {
    /// [`page`] bits; without [`page::PRESENT`] this and the rest are a shadow.
    pub bits: u8,
    /// Generation.
    pub(super) gen: u8,
    /// LRU_REFS
    pub(super) refs: u8,
    rest: u8,
}

/// The shadow of an evicted page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shadow {
    /// min_seq at the eviction, of which [`Shadow::SEQ`] is kept.
    pub seq: u64,
    /// LRU_REFS, 0 to 3
    pub refs: u8,
    /// PG_workingset
    pub workingset: bool,
}

impl Shadow {
    /// Bits of a sequence number that fit.
    pub const SEQ: u64 = (1 << 27) - 1;
}

impl Page {
    /// Is the page resident?
    #[inline(always)]
    pub fn is_present(&self) -> bool {
        self.bits & page::PRESENT != 0
    }

    /// A resident page without history.
    #[inline(always)]
    pub fn new(bits: u8) -> Page {
        Page {
            bits,
            ..Page::default()
        }
    }

    /// The state of an evicted page. The lowest bit is [`page::PRESENT`]'s. The next bit is set where
    /// there is a shadow.
    #[inline(always)]
    pub fn gone(shadow: Shadow) -> Page {
        let word = ((shadow.seq & Shadow::SEQ) as u32) << 5
            | u32::from(shadow.refs) << 3
            | u32::from(shadow.workingset) << 2
            | 2;
        let [bits, gen, refs, rest] = word.to_le_bytes();
        Page {
            bits,
            gen,
            refs,
            rest,
        }
    }

    /// folio_is_file_lru()
    #[inline(always)]
    pub fn kind(&self) -> usize {
        usize::from(self.bits & page::FILE != 0)
    }

    /// folio_lru_refs() and lru_tier_from_refs()
    #[inline(always)]
    pub fn refs_and_tier(&self, rules: Rules) -> (u8, usize) {
        let workingset = self.bits & page::WORKINGSET != 0;
        let refs = match rules {
            Rules::V6_12 => self.refs + u8::from(workingset),
            Rules::V7 if self.bits & page::REFERENCED == 0 => 0,
            Rules::V7 => self.refs + 1,
        };
        (refs, tier_of(refs, workingset, rules))
    }

    /// folio_inc_refs() of 6.12, lru_gen_inc_refs() of 7.x: an access through a descriptor.
    #[inline(always)]
    pub fn inc_refs(&mut self, rules: Rules) {
        if self.bits & page::REFERENCED == 0 {
            self.bits |= page::REFERENCED;
            if rules == Rules::V7 {
                self.refs = 0;
            }
            return;
        }
        match rules {
            Rules::V6_12 if self.bits & page::WORKINGSET == 0 => self.bits |= page::WORKINGSET,
            Rules::V7 if self.refs == MOST_REFS => self.bits |= page::WORKINGSET,
            _ => self.refs = (self.refs + 1).min(MOST_REFS),
        }
    }

    /// Sets LRU_REFS of a page that refaulted.
    #[inline(always)]
    pub fn restore_refs(&mut self, refs: u8) {
        self.refs = refs.min(MOST_REFS);
    }

    /// The shadow of a page that is not resident; none if the page never was.
    #[inline(always)]
    pub fn shadow(&self) -> Option<Shadow> {
        let word = u32::from_le_bytes([self.bits, self.gen, self.refs, self.rest]);
        (word != 0).then_some(Shadow {
            seq: u64::from(word >> 5),
            refs: (word >> 3 & 3) as u8,
            workingset: word & 4 != 0,
        })
    }
}
