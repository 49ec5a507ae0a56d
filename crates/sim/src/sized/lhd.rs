//! LHD with sizes: the density of an object is that of its class and age, by its bytes.
use super::requests::SizedPolicy;
use crate::policies::reuse_distance::hit_density::HitDensity;
use crate::policies::reuse_distance::lhd::{
    Settings, EARLY, EXEMPT, EXEMPT_MOST, EXEMPT_ONE_IN, SMOOTH,
};
use crate::structures::huge_pages::zeroed;
use random::Pcg64;

/// The place of an object that is not in the cache.
const NOWHERE: u32 = 0;

/// What an object in the cache is known by.
#[derive(Clone, Copy)]
struct Tag {
    id: u32,
    bytes: u32,
    /// Requests before its last one.
    time: u32,
    /// Its age at its last hit.
    last: u16,
    class: u8,
    exempt: bool,
}

pub struct Lhd {
    room: u64,
    used: u64,
    sample: usize,
    early: usize,
    period: u32,
    left: u32,
    model: HitDensity,
    random: Pcg64,
    time: u32,
    tags: Vec<Tag>,
    /// By object: where its tag is, plus 1.
    places: Vec<u32>,
    /// Bytes that may yet be exempt; the last object may overdraw them.
    exempt_left: i64,
    /// The objects admitted last that seemed poor, and where the next one goes. `u32::MAX`: none.
    recent: Vec<u32>,
    recent_next: usize,
    /// The mean density of victims, later ones more.
    victims: f32,
}

impl Lhd {
    pub fn new(objects: u32, room: u64, settings: &Settings) -> Lhd {
        Lhd {
            room,
            used: 0,
            sample: settings.sample,
            early: settings.early,
            period: settings.period,
            left: settings.period,
            model: HitDensity::new(settings.ages),
            random: Pcg64::new(u64::from(settings.seed)),
            time: 0,
            tags: Vec::new(),
            places: zeroed(objects as usize),
            exempt_left: (room as f64 * EXEMPT_MOST) as i64,
            recent: vec![u32::MAX; settings.recent],
            recent_next: 0,
            victims: 0.0,
        }
    }

    fn density(&self, tag: &Tag) -> f32 {
        let age = self.model.age(self.time - tag.time);
        let raised = if tag.exempt { EXEMPT } else { 0.0 };
        self.model.density(tag.class, age) / tag.bytes as f32 + raised
    }

    /// Evicts one object. There must be one.
    fn evict(&mut self) {
        let sample = match self.model.updates() > EARLY {
            true => self.sample,
            false => self.early,
        };
        let last = self.tags.len() as u32 - 1;
        let (mut victim, mut least) = (0, f32::INFINITY);
        for _ in 0..sample {
            let place = self.random.up_to(last) as usize;
            let density = self.density(&self.tags[place]);
            if density < least {
                (victim, least) = (place, density);
            }
        }
        for &id in self.recent.iter().filter(|&&id| id != u32::MAX) {
            let place = self.places[id as usize];
            if place == NOWHERE {
                continue;
            }
            let density = self.density(&self.tags[place as usize - 1]);
            if density < least {
                (victim, least) = (place as usize - 1, density);
            }
        }
        // The last age, below all densities, counts as none.
        self.victims = SMOOTH * self.victims + (1.0 - SMOOTH) * least.max(0.0);
        let tag = self.tags.swap_remove(victim);
        let age = self.model.age(self.time - tag.time);
        self.model.evicted(tag.class, age);
        self.end_exemption(&tag);
        self.used -= u64::from(tag.bytes);
        self.places[tag.id as usize] = NOWHERE;
        if let Some(moved) = self.tags.get(victim) {
            self.places[moved.id as usize] = victim as u32 + 1;
        }
    }

    fn end_exemption(&mut self, tag: &Tag) {
        if tag.exempt {
            self.exempt_left += i64::from(tag.bytes);
        }
    }

    /// Draws whether an object is exempt. Returns what was drawn, and what becomes of it while bytes may be.
    fn draw_exempt(&mut self, bytes: u32) -> (bool, bool) {
        let drawn = self.random.up_to(EXEMPT_ONE_IN - 1) == 0;
        let exempt = drawn && self.exempt_left > 0 && self.model.updates() < EARLY;
        if exempt {
            self.exempt_left -= i64::from(bytes);
        }
        (drawn, exempt)
    }

    fn hit(&mut self, place: usize) {
        let mut tag = self.tags[place];
        let age = self.model.age(self.time - tag.time);
        self.model.hit(tag.class, age);
        self.end_exemption(&tag);
        tag.class = self.model.class(u32::from(tag.last) + u32::from(age));
        tag.last = age;
        tag.time = self.time;
        tag.exempt = self.draw_exempt(tag.bytes).1;
        self.tags[place] = tag;
    }

    fn miss(&mut self, id: u32, bytes: u32) {
        if u64::from(bytes) > self.room {
            return;
        }
        while self.used + u64::from(bytes) > self.room {
            self.evict();
        }
        let (drawn, exempt) = self.draw_exempt(bytes);
        let tag = Tag {
            id,
            bytes,
            time: self.time,
            last: 0,
            // As of objects with the oldest hits.
            class: 0,
            exempt,
        };
        let poor = !drawn && self.density(&tag) < self.victims;
        self.used += u64::from(bytes);
        self.tags.push(tag);
        self.places[id as usize] = self.tags.len() as u32;
        if poor && !self.recent.is_empty() {
            self.recent[self.recent_next] = id;
            self.recent_next = (self.recent_next + 1) % self.recent.len();
        }
    }
}

impl SizedPolicy for Lhd {
    fn request(&mut self, id: u32, bytes: u32) -> bool {
        let place = self.places[id as usize];
        let hit = place != NOWHERE;
        match hit {
            true => self.hit(place as usize - 1),
            false => self.miss(id, bytes),
        }
        self.time += 1;
        self.left -= 1;
        if self.left == 0 {
            self.left = self.period;
            self.model.update(self.tags.len());
        }
        hit
    }
}
