//! S4-FIFO by lists of objects with their bytes and hits.
use std::collections::HashMap;

/// The five settings, as the policy's parameters of these names.
pub struct Settings {
    pub small: f64,
    pub ghost: f64,
    pub threshold: u32,
    pub ghost_threshold: u32,
    pub skip: f64,
}

#[derive(Clone, Copy)]
struct Object {
    id: u32,
    bytes: u64,
    hits: u32,
}

struct Cache<'a> {
    settings: &'a Settings,
    ghost_most: u64,
    small: Vec<Object>,
    main: Vec<Object>,
    ghost: Vec<Object>,
    /// Bytes that entered the small queue before each object's own, at its last time, and in all.
    entered: HashMap<u32, u64>,
    entered_all: u64,
}

fn used(list: &[Object]) -> u64 {
    list.iter().map(|object| object.bytes).sum()
}

fn find(list: &mut [Object], id: u32) -> Option<&mut Object> {
    list.iter_mut().find(|object| object.id == id)
}

impl Cache<'_> {
    fn evict_small(&mut self) {
        while !self.small.is_empty() {
            let oldest = self.small.remove(0);
            if oldest.hits >= self.settings.threshold {
                self.main.push(Object { hits: 0, ..oldest });
                continue;
            }
            if let Some(ghost) = find(&mut self.ghost, oldest.id) {
                ghost.hits = oldest.hits;
            } else if oldest.bytes <= self.ghost_most {
                while used(&self.ghost) + oldest.bytes > self.ghost_most {
                    self.ghost.remove(0);
                }
                self.ghost.push(oldest);
            }
            return;
        }
    }

    fn evict_main(&mut self) {
        while !self.main.is_empty() {
            let oldest = self.main.remove(0);
            match oldest.hits.min(3) {
                0 => return,
                hits => self.main.push(Object {
                    hits: hits - 1,
                    ..oldest
                }),
            }
        }
    }

    /// A request finds a ghost below its threshold, or ends it. Returns whether it ended it.
    fn meet_ghost(&mut self, id: u32) -> bool {
        let Some(ghost) = find(&mut self.ghost, id) else {
            return false;
        };
        if ghost.hits < self.settings.ghost_threshold {
            ghost.hits += 1;
            return false;
        }
        self.ghost.retain(|ghost| ghost.id != id);
        true
    }

    fn enter(&mut self, object: Object) {
        self.small.push(object);
        self.entered_all += object.bytes;
        self.entered.insert(object.id, self.entered_all);
    }
}

/// Whether each request hits. Request `i` is for `bytes[i]` bytes.
pub fn s4_fifo(ids: &[u32], bytes: &[u64], room: u64, settings: &Settings) -> Vec<bool> {
    let small_most = (room as f64 * settings.small) as u64;
    let largest = if small_most == 0 { room } else { small_most };
    let skip = (settings.skip * small_most as f64) as u64;
    let mut cache = Cache {
        settings,
        ghost_most: (room as f64 * settings.ghost) as u64,
        small: vec![],
        main: vec![],
        ghost: vec![],
        entered: HashMap::new(),
        entered_all: 0,
    };
    let mut evicted = false;
    let mut served = vec![];
    for (&id, &bytes) in ids.iter().zip(bytes) {
        if let Some(object) = find(&mut cache.small, id) {
            if cache.entered_all - cache.entered[&id] >= skip {
                object.hits += 1;
            }
            served.push(true);
            continue;
        }
        let known = cache.meet_ghost(id);
        if let Some(object) = find(&mut cache.main, id) {
            object.hits += 1;
            served.push(true);
            continue;
        }
        served.push(false);
        if bytes > largest {
            continue;
        }
        while used(&cache.small) + used(&cache.main) + bytes > room {
            evicted = true;
            if used(&cache.main) > room - small_most || cache.small.is_empty() {
                cache.evict_main();
            } else {
                cache.evict_small();
            }
        }
        let object = Object { id, bytes, hits: 0 };
        if known || !evicted && used(&cache.small) >= small_most {
            cache.main.push(object);
        } else {
            cache.enter(object);
        }
    }
    served
}
