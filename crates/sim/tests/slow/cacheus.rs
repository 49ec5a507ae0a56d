//! CACHEUS by lists, the oldest object first, and a table of what is known of each object.
use super::take;
use random::Pcg64;
use std::collections::HashMap;

#[derive(Clone, Copy)]
struct Known {
    count: u32,
    time: usize,
    demoted: bool,
    new: bool,
}

struct Cache {
    size: usize,
    history_most: usize,
    s_most: usize,
    s: Vec<u32>,
    r: Vec<u32>,
    /// What SR-LRU evicted, and CR-LFU.
    gone: [Vec<u32>; 2],
    known: HashMap<u32, Known>,
    /// The weights of SR-LRU and CR-LFU.
    weights: [f64; 2],
    random: Pcg64,
}

impl Cache {
    fn demoted(&self) -> usize {
        let resident = self.s.iter().chain(&self.r);
        resident.filter(|id| self.known[id].demoted).count()
    }

    fn new_gone(&self) -> usize {
        self.gone[0].iter().filter(|id| self.known[id].new).count()
    }

    fn full(&self) -> bool {
        self.s.len() + self.r.len() == self.size
    }

    fn step(over: usize, under: usize) -> usize {
        ((over as f64 / under.max(1) as f64 + 0.5) as usize).max(1)
    }

    fn grow_s(&mut self) {
        let step = Cache::step(self.new_gone(), self.demoted());
        self.s_most = (self.s_most + step).min(self.size - 1);
    }

    /// `new`: the new objects in SR-LRU's history, without the one that came back.
    fn grow_r(&mut self, new: usize) {
        let step = Cache::step(self.demoted(), new);
        let r_most = (self.size - self.s_most + step).min(self.size - 1);
        self.s_most = self.size - r_most;
    }

    fn demote(&mut self) {
        let oldest = self.s.remove(0);
        self.known.get_mut(&oldest).unwrap().demoted = true;
        self.r.push(oldest);
    }

    fn shrink_s(&mut self) {
        while !self.s.is_empty() && self.s.len() >= self.s_most {
            self.demote();
        }
    }

    fn evict(&mut self) {
        let expert = usize::from(self.random.unit() >= self.weights[0]);
        let lru = *self.r.first().unwrap_or_else(|| &self.s[0]);
        let resident = self.s.iter().chain(&self.r).copied();
        let order = |id: &u32| (self.known[id].count, usize::MAX - self.known[id].time);
        let lfu = resident.min_by_key(order).unwrap();
        let victim = [lru, lfu][expert];
        let _ = take(&mut self.s, victim) || take(&mut self.r, victim);
        self.known.get_mut(&victim).unwrap().demoted = false;
        if lru != lfu {
            self.gone[expert].push(victim);
            if self.gone[expert].len() > self.history_most {
                self.gone[expert].remove(0);
            }
        }
    }

    /// Whether the object is in the cache, which then moves it to the young end of S.
    fn hit(&mut self, id: u32, time: usize) -> bool {
        if self.r.contains(&id) {
            if self.known[&id].demoted {
                self.grow_s();
                self.known.get_mut(&id).unwrap().demoted = false;
            }
            take(&mut self.r, id);
            if self.s.len() >= self.s_most && !self.s.is_empty() {
                self.demote();
            }
        } else if !take(&mut self.s, id) {
            return false;
        }
        let known = self.known.get_mut(&id).unwrap();
        (known.count, known.time) = (known.count + 1, time);
        self.s.push(id);
        true
    }

    fn miss(&mut self, id: u32, time: usize) {
        let to_s = self.s.len() < self.s_most && self.r.is_empty();
        let to_room = !self.full() && self.r.len() < self.size - self.s_most;
        let new = !to_s && !to_room;
        if new && self.full() {
            self.evict();
        }
        let known = Known {
            count: 1,
            time,
            demoted: false,
            new,
        };
        self.known.insert(id, known);
        if to_s {
            self.s.push(id);
        } else {
            self.r.push(id);
        }
        if new {
            self.shrink_s();
        }
    }

    fn regret(&mut self, id: u32, expert: usize, rate: f64, time: usize) {
        if expert == 0 && self.known[&id].new {
            self.grow_r(self.new_gone());
        }
        self.weights[expert] *= (-rate).exp();
        let sum = self.weights[0] + self.weights[1];
        self.weights = self.weights.map(|weight| weight / sum);
        if self.weights[0] > 0.99 {
            self.weights = [0.99, 1.0 - 0.99];
        } else if self.weights[0] < 1.0 - 0.99 {
            self.weights = [1.0 - 0.99, 0.99];
        }
        if self.full() {
            self.evict();
        }
        let known = self.known.get_mut(&id).unwrap();
        (known.new, known.time) = (false, time);
        self.s.push(id);
        self.shrink_s();
    }
}

/// The learning rate: now, before, at first; the hit ratio before; and the failures in a row.
struct Rate {
    now: f64,
    before: f64,
    first: f64,
    hit_ratio: f64,
    idle: u32,
    falls: u32,
}

fn rounded(value: f64) -> f64 {
    format!("{value:.3}").parse().unwrap()
}

impl Rate {
    fn turn(&mut self, hits: usize, size: usize, random: &mut Pcg64) {
        let hit_ratio = rounded(hits as f64 / size as f64);
        let gain = rounded(hit_ratio - self.hit_ratio);
        let step = rounded(self.now) - rounded(self.before);
        let mut next = self.now;
        if step != 0.0 && gain != 0.0 {
            let up = (step > 0.0) == (gain > 0.0);
            let change = (self.now * step).abs();
            next += if up { change } else { -change };
            next = if up { next.min(1.0) } else { next.max(0.001) };
            (self.idle, self.falls) = (0, 0);
        } else if gain < 0.0 {
            self.idle += 1;
            self.falls += 1;
            if self.idle >= 10 {
                (next, self.idle) = (self.first, 0);
            } else if self.falls >= 10 {
                (next, self.falls) = (self.first, 0);
            } else if self.now >= 1.0 {
                next = 0.9;
            } else if self.now <= 0.001 {
                next = 0.005;
            } else if random.unit() < 0.5 {
                next = (next * 1.25).min(1.0);
            } else {
                next = (next * 0.75).max(0.001);
            }
        } else if gain == 0.0 && hit_ratio == 0.0 {
            self.idle += 1;
            if self.idle >= 10 {
                (next, self.idle) = (self.first, 0);
            }
        }
        (self.before, self.now, self.hit_ratio) = (self.now, next, hit_ratio);
    }
}

/// Whether each request hits.
pub fn cacheus(ids: &[u32], size: usize) -> Vec<bool> {
    let r_first = ((0.01 * size as f64 + 0.5) as usize).max(1);
    let mut cache = Cache {
        size,
        history_most: size / 2,
        s_most: size - r_first,
        s: vec![],
        r: vec![],
        gone: [vec![], vec![]],
        known: HashMap::new(),
        weights: [0.5; 2],
        random: Pcg64::new(1),
    };
    let first = (2.0 * 2f64.ln() / size as f64).sqrt();
    let mut rate = Rate {
        now: first,
        before: 0.0,
        first: first.clamp(0.001, 1.0),
        hit_ratio: 0.0,
        idle: 0,
        falls: 0,
    };
    let mut hits = 0;
    let mut served = vec![];
    for (at, &id) in ids.iter().enumerate() {
        let time = at + 1;
        if time.is_multiple_of(size) {
            rate.turn(hits, size, &mut cache.random);
            hits = 0;
        }
        let hit = cache.hit(id, time);
        hits += usize::from(hit);
        served.push(hit);
        if hit {
            continue;
        }
        match (0..2).find(|&expert| take(&mut cache.gone[expert], id)) {
            Some(expert) => cache.regret(id, expert, rate.now, time),
            None => cache.miss(id, time),
        }
    }
    served
}
