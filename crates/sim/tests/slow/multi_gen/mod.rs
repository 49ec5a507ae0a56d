//! The slow twin of Linux's multi-gen LRU, of 6.12 and of 7.3. A generation is a vector, found by its
//! sequence number, and every number is counted anew each time.
mod access;
mod aging;
mod eviction;
mod lruvec;

use super::linux::{Counted, World};
use lruvec::Lruvec;
use trace::Flags;

/// Misses and the kernel's counters.
pub fn multi_gen(ids: &[u32], flags: &[Flags], world: &World) -> Counted {
    let mut lruvec = Lruvec::new(world);
    for (&id, &flags) in ids.iter().zip(flags) {
        lruvec.access(id, flags);
    }
    lruvec.counted
}
