//! How many other objects were accessed since an object's last access, for every request.
//!
//! Each access takes the next slot; the slot of the object's access before dies. What lies between
//! is the slots after it less the dead ones, which are counted in blocks of a bitmap and a Fenwick
//! tree (P. M. Fenwick, 1994) over blocks. When slots run out, the dead are closed up.
use crate::engine::{AHEAD, STRETCH};
use crate::huge::{prefetch, zeroed};

/// Slots of a block: 8 words, one cache line.
const BLOCK: usize = 512;

/// Slots for one object, on average: closing up moves one object in `ROOM - 1` requests.
const ROOM: usize = 4;

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

/// `histogram[d]`: requests that had d other objects between them and the access before.
pub fn histogram(ids: &[u32], objects: u32, progress: &mut dyn FnMut(u64)) -> Vec<u32> {
    let mut slots = Slots::new(ids.len(), objects as usize);
    let mut histogram = zeroed::<u32>(objects as usize);
    let mut from = 0;
    while from < ids.len() {
        let to = ids.len().min(from + STRETCH);
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has been asked.
            unsafe { slots.stretch_popcnt(ids, from, to, &mut histogram) };
            progress((to - from) as u64);
            from = to;
            continue;
        }
        slots.stretch(ids, from, to, &mut histogram);
        progress((to - from) as u64);
        from = to;
    }
    histogram
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

    /// Where counting bits is one instruction.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt")]
    fn stretch_popcnt(&mut self, ids: &[u32], from: usize, to: usize, histogram: &mut [u32]) {
        self.stretch(ids, from, to, histogram);
    }

    #[inline(always)]
    fn stretch(&mut self, ids: &[u32], from: usize, to: usize, histogram: &mut [u32]) {
        for at in from..to {
            // In two steps: the slot must be there before its block can be asked for.
            if let Some(&later) = ids.get(at + 2 * AHEAD) {
                prefetch(&self.slot, later as usize);
            }
            if let Some(&later) = ids.get(at + AHEAD) {
                prefetch(&self.dead, self.slot[later as usize] as usize / 64);
            }
            let id = ids[at] as usize;
            let slot = self.slot[id] as usize;
            if slot != 0 {
                let between = self.kill(slot - 1);
                histogram[between] += 1;
            }
            if self.next == self.owner.len() {
                self.close_up();
            }
            self.owner[self.next] = ids[at];
            self.next += 1;
            self.slot[id] = self.next as u32;
        }
    }

    /// The slot dies; returns how many live ones come after it.
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
