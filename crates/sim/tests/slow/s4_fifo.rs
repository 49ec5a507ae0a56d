//! S4-FIFO by lists of objects with their hits.
use super::take;
use std::collections::HashMap;

/// The five settings, as the policy's parameters of these names.
pub struct Settings {
    pub small: f64,
    pub ghost: f64,
    pub threshold: u32,
    pub ghost_threshold: u32,
    pub skip: f64,
}

#[derive(Default)]
struct Cache {
    small: Vec<u32>,
    main: Vec<u32>,
    ghost: Vec<u32>,
    hits: HashMap<u32, u32>,
    ghost_hits: HashMap<u32, u32>,
    /// Every object that ever entered the small queue, in order.
    entered: Vec<u32>,
}

impl Cache {
    fn evict_small(&mut self, settings: &Settings, ghost_most: usize) {
        while !self.small.is_empty() {
            let oldest = self.small.remove(0);
            let hits = self.hits[&oldest];
            if hits >= settings.threshold {
                self.main.push(oldest);
                self.hits.insert(oldest, 0);
                continue;
            }
            if !self.ghost.contains(&oldest) && ghost_most > 0 {
                if self.ghost.len() == ghost_most {
                    self.ghost.remove(0);
                }
                self.ghost.push(oldest);
            }
            self.ghost_hits.insert(oldest, hits);
            return;
        }
    }

    fn evict_main(&mut self) {
        while !self.main.is_empty() {
            let oldest = self.main.remove(0);
            match self.hits[&oldest].min(3) {
                0 => return,
                hits => {
                    self.main.push(oldest);
                    self.hits.insert(oldest, hits - 1);
                }
            }
        }
    }

    /// A request finds a ghost below its threshold, or ends it. Returns whether it ended it.
    fn meet_ghost(&mut self, id: u32, settings: &Settings) -> bool {
        if !self.ghost.contains(&id) {
            return false;
        }
        if self.ghost_hits[&id] >= settings.ghost_threshold {
            return take(&mut self.ghost, id);
        }
        *self.ghost_hits.get_mut(&id).unwrap() += 1;
        false
    }
}

/// Whether each request hits.
pub fn s4_fifo(ids: &[u32], size: usize, settings: &Settings) -> Vec<bool> {
    let small_most = (size as f64 * settings.small) as usize;
    let main_most = size - small_most;
    let ghost_most = (size as f64 * settings.ghost) as usize;
    let skip = (settings.skip * small_most as f64) as usize;
    let mut cache = Cache::default();
    let mut evicted = false;
    let mut served = vec![];
    for &id in ids {
        if cache.small.contains(&id) {
            let when = cache.entered.iter().rposition(|&other| other == id);
            if cache.entered.len() - 1 - when.unwrap() >= skip {
                *cache.hits.get_mut(&id).unwrap() += 1;
            }
            served.push(true);
            continue;
        }
        let known = cache.meet_ghost(id, settings);
        if cache.main.contains(&id) {
            *cache.hits.get_mut(&id).unwrap() += 1;
            served.push(true);
            continue;
        }
        served.push(false);
        while cache.small.len() + cache.main.len() == size {
            evicted = true;
            if cache.main.len() > main_most || cache.small.is_empty() {
                cache.evict_main();
            } else {
                cache.evict_small(settings, ghost_most);
            }
        }
        cache.hits.insert(id, 0);
        if known || !evicted && cache.small.len() >= small_most {
            cache.main.push(id);
        } else {
            cache.small.push(id);
            cache.entered.push(id);
        }
    }
    served
}
