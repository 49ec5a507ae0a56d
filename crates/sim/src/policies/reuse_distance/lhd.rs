//! LHD: evicts, of a random sample, the object with the least hit density: the hits that objects like it had
//! from its age on, by the time for which they stayed.
//!
//! Objects are alike if the sum of their ages at their last two hits is. The model is computed anew once in a
//! period, so a trace shorter than that never leaves the first one. A small share of objects is exempt from
//! eviction in the first 50 periods, so that the model learns of ages at which it would evict.
//!
//! Numbers that the paper does not fix are those of the authors' simulator (`CMU-CORGI/LHD`), whose example
//! configuration has the sample of 64; libCacheSim's default is 32. In the first 50 periods that simulator
//! samples 8. Every object has size 1 here and belongs to one application.
use super::hit_density::HitDensity;
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::{Description, Error, Parameter, Policy, Setup};
use random::Pcg64;

pub const POLICY: Description = Description {
    name: "lhd",
    paper: "N. Beckmann, H. Chen, A. Cidon, LHD: Improving Cache Hit Rate by Maximizing Hit Density, NSDI 2018: for objects of one size and one application",
    parameters: &[
        Parameter {
            name: "sample",
            default: "64",
            help: "objects among which the victim is chosen, 1 to 1024",
        },
        Parameter {
            name: "early",
            default: "8",
            help: "as sample, in the first 50 periods",
        },
        Parameter {
            name: "recent",
            default: "8",
            help: "objects admitted last that are looked at as well if they seemed poor then, 0 to 1024",
        },
        Parameter {
            name: "period",
            default: "1048576",
            help: "requests after which the model is computed anew, at least 1",
        },
        Parameter {
            name: "ages",
            default: "20000",
            help: "ages that the model tells apart, 2 to 65536",
        },
        Parameter {
            name: "seed",
            default: "1",
            help: "seed of the random numbers",
        },
    ],
    build: |setup| Ok(Box::new(Lhd::new(setup, &Settings::of(setup)?))),
};

/// The parameters, as the user wrote them.
pub(crate) struct Settings {
    pub sample: usize,
    pub early: usize,
    pub recent: usize,
    pub period: u32,
    pub ages: usize,
    pub seed: u32,
}

impl Settings {
    pub fn of(setup: &Setup) -> Result<Settings, Error> {
        Ok(Settings {
            sample: setup.value_in("sample", 1..=1024)?,
            early: setup.value_in("early", 1..=1024)?,
            recent: setup.value_in("recent", 0..=1024)?,
            period: setup.value_in("period", 1..=u32::MAX)?,
            ages: setup.value_in("ages", 2..=65_536)?,
            seed: setup.value("seed")?,
        })
    }
}

/// The first periods, in which the sample is `early` and objects are exempt.
pub(crate) const EARLY: u32 = 50;

/// One request in as many makes its object exempt.
pub(crate) const EXEMPT_ONE_IN: u32 = 32;

/// The share of the size that may be exempt.
pub(crate) const EXEMPT_MOST: f64 = 0.01;

/// What an exempt object's density is raised by: above all others.
pub(crate) const EXEMPT: f32 = 1.0;

/// The share of the earlier victims in the mean of the victims' densities.
pub(crate) const SMOOTH: f32 = 0.9;

/// The place of an object that is not in the cache.
const NOWHERE: u32 = 0;

/// What an object in the cache is known by.
#[derive(Clone, Copy)]
struct Tag {
    id: u32,
    /// Requests before its last one.
    time: u32,
    /// Its age at its last hit.
    last: u16,
    class: u8,
    exempt: bool,
}

struct Lhd {
    size: usize,
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
    /// Objects that may yet be exempt.
    exempt_left: u32,
    /// The objects admitted last that seemed poor, and where the next one goes. `u32::MAX`: none.
    recent: Vec<u32>,
    recent_next: usize,
    /// The mean density of victims, later ones more.
    victims: f32,
    drawn: Vec<u32>,
}

impl Lhd {
    fn new(setup: &Setup, settings: &Settings) -> Lhd {
        Lhd {
            size: setup.size as usize,
            sample: settings.sample,
            early: settings.early,
            period: settings.period,
            left: settings.period,
            model: HitDensity::new(settings.ages),
            random: Pcg64::new(u64::from(settings.seed)),
            time: 0,
            tags: Vec::with_capacity(setup.size as usize),
            places: zeroed(setup.input.objects() as usize),
            exempt_left: (f64::from(setup.size) * EXEMPT_MOST) as u32,
            recent: vec![u32::MAX; settings.recent],
            recent_next: 0,
            victims: 0.0,
            drawn: vec![0; settings.sample.max(settings.early)],
        }
    }

    #[inline(always)]
    fn density(&self, tag: &Tag) -> f32 {
        let age = self.model.age(self.time - tag.time);
        let raised = if tag.exempt { EXEMPT } else { 0.0 };
        self.model.density(tag.class, age) + raised
    }

    /// The place of the object to evict. The cache is full.
    #[inline(always)]
    fn victim(&mut self) -> usize {
        let sample = match self.model.updates() > EARLY {
            true => self.sample,
            false => self.early,
        };
        let last = self.tags.len() as u32 - 1;
        // Drawn first, so that the tags and then the densities arrive side by side.
        for drawn in &mut self.drawn[..sample] {
            *drawn = self.random.up_to(last);
            prefetch(&self.tags, *drawn as usize);
        }
        for &place in &self.drawn[..sample] {
            let tag = &self.tags[place as usize];
            self.model
                .prefetch(tag.class, self.model.age(self.time - tag.time));
        }
        let (mut victim, mut least) = (self.drawn[0] as usize, f32::INFINITY);
        let mut consider = |place: usize| {
            let density = self.density(&self.tags[place]);
            if density < least {
                (victim, least) = (place, density);
            }
        };
        for &place in &self.drawn[..sample] {
            consider(place as usize);
        }
        for &id in self.recent.iter().filter(|&&id| id != u32::MAX) {
            let place = self.places[id as usize];
            if place != NOWHERE {
                consider(place as usize - 1);
            }
        }
        // The last age, below all densities, counts as none.
        self.victims = SMOOTH * self.victims + (1.0 - SMOOTH) * least.max(0.0);
        victim
    }

    #[inline(always)]
    fn evict(&mut self) {
        let place = self.victim();
        let tag = self.tags.swap_remove(place);
        self.model
            .evicted(tag.class, self.model.age(self.time - tag.time));
        self.exempt_left += u32::from(tag.exempt);
        self.places[tag.id as usize] = NOWHERE;
        if let Some(moved) = self.tags.get(place) {
            self.places[moved.id as usize] = place as u32 + 1;
        }
    }

    /// Draws whether an object that was accessed just now is exempt. Returns what was drawn, and what becomes
    /// of it while objects may be exempt.
    #[inline(always)]
    fn draw_exempt(&mut self) -> (bool, bool) {
        let drawn = self.random.up_to(EXEMPT_ONE_IN - 1) == 0;
        let exempt = drawn && self.exempt_left > 0 && self.model.updates() < EARLY;
        self.exempt_left -= u32::from(exempt);
        (drawn, exempt)
    }

    #[inline(always)]
    fn hit(&mut self, place: usize) {
        let mut tag = self.tags[place];
        let age = self.model.age(self.time - tag.time);
        self.model.hit(tag.class, age);
        self.exempt_left += u32::from(tag.exempt);
        tag.class = self.model.class(u32::from(tag.last) + u32::from(age));
        tag.last = age;
        tag.time = self.time;
        tag.exempt = self.draw_exempt().1;
        self.tags[place] = tag;
    }

    #[inline(always)]
    fn miss(&mut self, id: u32) {
        if self.tags.len() == self.size {
            self.evict();
        }
        let (drawn, exempt) = self.draw_exempt();
        let tag = Tag {
            id,
            time: self.time,
            last: 0,
            // As of objects with the oldest hits.
            class: 0,
            exempt,
        };
        self.tags.push(tag);
        self.places[id as usize] = self.tags.len() as u32;
        let poor = !drawn && self.model.density(0, 0) < self.victims;
        if poor && !self.recent.is_empty() {
            self.recent[self.recent_next] = id;
            self.recent_next = (self.recent_next + 1) % self.recent.len();
        }
    }
}

impl Policy for Lhd {
    #[inline(always)]
    fn request(&mut self, id: u32, _at: usize) -> bool {
        let place = self.places[id as usize];
        let hit = place != NOWHERE;
        match hit {
            true => self.hit(place as usize - 1),
            false => self.miss(id),
        }
        self.time += 1;
        self.left -= 1;
        if self.left == 0 {
            self.left = self.period;
            self.model.update(self.tags.len());
        }
        hit
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.places, id as usize);
    }

    #[inline(always)]
    fn prefetch_soon(&self, id: u32) {
        let place = self.places[id as usize].wrapping_sub(1);
        prefetch(&self.tags, place as usize);
    }

    fn bytes(&self) -> usize {
        let tags = self.tags.capacity() * size_of::<Tag>();
        let lists = (self.places.len() + self.recent.len() + self.drawn.len()) * 4;
        tags + lists + self.model.bytes()
    }
}
