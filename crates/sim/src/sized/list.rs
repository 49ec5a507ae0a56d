//! FIFO and LRU with sizes: one list, which a hit leaves as it is or renews.
use super::requests::SizedPolicy;
use crate::structures::huge_pages::zeroed;
use crate::structures::linked_lists::LinkedLists;

pub struct List {
    /// A hit moves its object to the young end.
    renews: bool,
    room: u64,
    used: u64,
    /// By object: its bytes in the cache; 0: not there.
    bytes: Vec<u32>,
    list: LinkedLists,
}

impl List {
    pub fn new(objects: u32, room: u64, renews: bool) -> List {
        List {
            renews,
            room,
            used: 0,
            bytes: zeroed(objects as usize),
            list: LinkedLists::new(objects, 1),
        }
    }
}

impl SizedPolicy for List {
    fn request(&mut self, id: u32, bytes: u32) -> bool {
        if self.bytes[id as usize] != 0 {
            if self.renews {
                self.list.del(id);
                self.list.add(0, id);
            }
            return true;
        }
        if u64::from(bytes) > self.room {
            return false;
        }
        while self.used + u64::from(bytes) > self.room {
            let Some(oldest) = self.list.tail(0) else {
                break;
            };
            self.list.del(oldest);
            self.used -= u64::from(std::mem::take(&mut self.bytes[oldest as usize]));
        }
        self.used += u64::from(bytes);
        self.bytes[id as usize] = bytes;
        self.list.add(0, id);
        false
    }
}
