//! Stack distances: the number of other objects accessed since the last access of a request's object.
//!
//! Each access takes the next slot, and the slot of the object's previous access dies. The distance is
//! the number of live slots after the dead one. Dead slots are counted in blocks of a bitmap, and in a
//! Fenwick tree over the blocks (P. M. Fenwick, 1994). When slots run out, the live ones are moved
//! together.
use crate::engine::{AHEAD, STRETCH};
use crate::structures::huge_pages::{prefetch, zeroed};

/// Slots of a block: 64 bytes, one cache line.
const BLOCK: usize = 512;

/// Slots for each object: moving together moves one object in `ROOM - 1` requests on average.
const ROOM: usize = 4;

/// The distance of an object's first request: above that of any other.
pub const FIRST: u32 = u32::MAX;

struct Slots {
    /// By object: its slot from 1; 0 is none.
    slot: Vec<u32>,
    /// By slot: its object.
    owner: Vec<u32>,
    dead: Vec<u64>,
    tree: Vec<u32>,
    dead_total: u32,
    next: usize,
}

/// Counts requests by stack distance: `histogram[d]` requests have `d` other objects between them and
/// the previous access of their object. Ids are below `objects`.
pub fn histogram(ids: &[u32], objects: u32, progress: &mut dyn FnMut(u64)) -> Vec<u32> {
    let mut histogram = zeroed::<u32>(objects as usize);
    each(ids, objects, progress, &mut |distance| {
        if let Some(count) = histogram.get_mut(distance as usize) {
            *count += 1;
        }
    });
    histogram
}

/// Gives the stack distance of each request to `take`, [`FIRST`] for the first request of an object. Ids
/// are below `objects`.
pub fn each(ids: &[u32], objects: u32, progress: &mut dyn FnMut(u64), take: &mut impl FnMut(u32)) {
    let mut slots = Slots::new(ids.len(), objects as usize);
    let mut from = 0;
    while from < ids.len() {
        let to = ids.len().min(from + STRETCH);
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has the popcnt instruction.
            unsafe { slots.stretch_popcnt(ids, from, to, take) };
            progress((to - from) as u64);
            from = to;
            continue;
        }
        slots.stretch(ids, from, to, take);
        progress((to - from) as u64);
        from = to;
    }
}

impl Slots {
    fn new(requests: usize, objects: usize) -> Slots {
        let most = requests.min(objects * ROOM).max(BLOCK);
        let blocks = most.div_ceil(BLOCK);
        Slots {
            slot: zeroed(objects),
            owner: zeroed(blocks * BLOCK),
            dead: zeroed(blocks * BLOCK / 64),
            tree: zeroed(blocks + 1),
            dead_total: 0,
            next: 0,
        }
    }

    /// [`Slots::stretch`] for processors that count bits in one instruction.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt")]
    fn stretch_popcnt(&mut self, ids: &[u32], from: usize, to: usize, take: &mut impl FnMut(u32)) {
        self.stretch(ids, from, to, take);
    }

    #[inline(always)]
    fn stretch(&mut self, ids: &[u32], from: usize, to: usize, take: &mut impl FnMut(u32)) {
        for at in from..to {
            // Two steps: the slot must be read before its block is known.
            if let Some(&later) = ids.get(at + 2 * AHEAD) {
                prefetch(&self.slot, later as usize);
            }
            if let Some(&later) = ids.get(at + AHEAD) {
                prefetch(&self.dead, self.slot[later as usize] as usize / 64);
            }
            let id = ids[at] as usize;
            let slot = self.slot[id] as usize;
            match slot {
                0 => take(FIRST),
                _ => take(self.kill(slot - 1) as u32),
            }
            if self.next == self.owner.len() {
                self.close_up();
            }
            self.owner[self.next] = ids[at];
            self.next += 1;
            self.slot[id] = self.next as u32;
        }
    }

    /// Marks a slot as dead, and returns how many live slots come after it.
    #[inline(always)]
    fn kill(&mut self, slot: usize) -> usize {
        let block = slot / BLOCK;
        let (word, bit) = (slot / 64, slot % 64);
        let mut dead_before = (self.dead[word] & ((1 << bit) - 1)).count_ones();
        for &before in &self.dead[block * (BLOCK / 64)..word] {
            dead_before += before.count_ones();
        }
        let mut index = block;
        while index > 0 {
            dead_before += self.tree[index];
            index &= index - 1;
        }
        let after = self.next - 1 - slot - (self.dead_total - dead_before) as usize;
        self.dead[word] |= 1 << bit;
        self.dead_total += 1;
        let mut index = block + 1;
        while index < self.tree.len() {
            self.tree[index] += 1;
            index += index & index.wrapping_neg();
        }
        after
    }

    #[cold]
    fn close_up(&mut self) {
        let mut kept = 0;
        for slot in 0..self.next {
            if self.dead[slot / 64] >> (slot % 64) & 1 == 0 {
                let id = self.owner[slot];
                self.owner[kept] = id;
                kept += 1;
                self.slot[id as usize] = kept as u32;
            }
        }
        self.dead.fill(0);
        self.tree.fill(0);
        self.dead_total = 0;
        self.next = kept;
    }
}
