//! LHD by a list of tags, and a table of events from which densities are summed up when they are asked for.
use random::Pcg64;
use std::collections::BTreeMap;

#[derive(Clone, Copy)]
struct Tag {
    id: u32,
    bytes: u64,
    time: usize,
    /// Ages at the last hit and at the one before.
    ages: [usize; 2],
    exempt: bool,
}

/// The policy's parameters of these names.
#[derive(Clone, Copy)]
pub struct Settings {
    pub sample: usize,
    pub early: usize,
    pub recent: usize,
    pub period: usize,
    pub ages: usize,
}

/// Hits and evictions, by class and age.
type Events = BTreeMap<(usize, usize), [f32; 2]>;

struct Model {
    ages: usize,
    shift: u32,
    updates: u32,
    objects: (f64, f64),
    events: Events,
    /// The events at the last update. None before it.
    known: Option<Events>,
}

impl Model {
    fn age(&self, requests: usize) -> usize {
        (requests >> self.shift).min(self.ages - 1)
    }

    fn class(&self, tag: &Tag) -> usize {
        let mut sum = tag.ages[0] + tag.ages[1];
        let mut class = 0;
        if sum == 0 {
            return 15;
        }
        while sum < self.ages && class < 15 {
            sum *= 2;
            class += 1;
        }
        class
    }

    fn density(&self, class: usize, age: usize) -> f32 {
        if age == self.ages - 1 {
            return f32::NEG_INFINITY;
        }
        let Some(known) = &self.known else {
            return (class + 1) as f32 / (age + 1) as f32;
        };
        let (mut hits, mut events, mut lives) = (0.0, 0.0, 0.0);
        for (&(_, later), counts) in known.range((class, age)..(class + 1, 0)) {
            let [hit, evicted] = counts.map(f64::from);
            hits += hit;
            events += hit + evicted;
            lives += (hit + evicted) * (later - age + 1) as f64;
        }
        if events > 1e-5 {
            (hits / lives) as f32
        } else {
            0.0
        }
    }

    fn count(&mut self, tag: &Tag, time: usize, kind: usize) {
        let key = (self.class(tag), self.age(time - tag.time));
        self.events.entry(key).or_default()[kind] += 1.0;
    }

    fn update(&mut self, objects: usize) {
        for counts in self.events.values_mut() {
            *counts = counts.map(|count| count * 0.9f32);
        }
        let decay = f64::from(0.9f32);
        self.objects.0 = self.objects.0 * decay + objects as f64;
        self.objects.1 = self.objects.1 * decay + 1.0;
        if self.updates == 5 || self.updates == 25 {
            let wanted = self.objects.0 / self.objects.1 / (0.01 * self.ages as f64);
            self.objects = (self.objects.0 * 8.0, self.objects.1 * 8.0);
            let shift = (1..).find(|&shift| f64::from(1u32 << shift) >= wanted);
            self.rescale(shift.unwrap());
        }
        self.known = Some(self.events.clone());
        self.updates += 1;
    }

    fn rescale(&mut self, shift: u32) {
        let last = self.ages - 1;
        let mut scaled = Events::new();
        let mut beyond: BTreeMap<usize, [f32; 2]> = BTreeMap::new();
        for (&(class, age), &counts) in &self.events {
            let mut put = |age: usize, share: f32| {
                let into = scaled.entry((class, age)).or_default();
                (0..2).for_each(|kind| into[kind] += counts[kind] * share);
            };
            if age == last {
                put(last, 1.0);
            } else if shift > self.shift {
                put(age >> (shift - self.shift), 1.0);
            } else {
                let parts = 1usize << (self.shift - shift);
                let places = age * parts..(age + 1) * parts;
                places
                    .clone()
                    .filter(|&at| at < last)
                    .for_each(|at| put(at, 1.0 / parts as f32));
                let outside = places.filter(|&at| at >= last).count();
                let sum = beyond.entry(class).or_default();
                for kind in 0..2 {
                    sum[kind] += counts[kind] * outside as f32 / parts as f32;
                }
            }
        }
        for (class, sum) in beyond {
            let into = scaled.entry((class, last)).or_default();
            (0..2).for_each(|kind| into[kind] += sum[kind]);
        }
        self.events = scaled;
        self.shift = shift;
    }
}

struct Cache {
    tags: Vec<Tag>,
    model: Model,
    random: Pcg64,
    time: usize,
    recent: Vec<u32>,
    victims: f32,
}

impl Cache {
    fn density(&self, tag: &Tag) -> f32 {
        let age = self.model.age(self.time - tag.time);
        let raised = if tag.exempt { 1.0 } else { 0.0 };
        self.model.density(self.model.class(tag), age) / tag.bytes as f32 + raised
    }

    fn evict(&mut self, settings: &Settings) {
        let sample = if self.model.updates > 50 {
            settings.sample
        } else {
            settings.early
        };
        let last = self.tags.len() as u32 - 1;
        let mut places: Vec<usize> = (0..sample)
            .map(|_| self.random.up_to(last) as usize)
            .collect();
        for &id in &self.recent {
            places.extend(self.tags.iter().position(|tag| tag.id == id));
        }
        let densities: Vec<f32> = places
            .iter()
            .map(|&place| self.density(&self.tags[place]))
            .collect();
        let least = densities.iter().copied().fold(f32::INFINITY, f32::min);
        let first = densities
            .iter()
            .position(|&density| density == least)
            .unwrap();
        self.victims = 0.9 * self.victims + (1.0 - 0.9) * least.max(0.0);
        let tag = self.tags.swap_remove(places[first]);
        self.model.count(&tag, self.time, 1);
    }

    /// Serves a hit, but for the exemption. Returns the place of the tag, as [`Cache::admit`] does.
    fn hit(&mut self, place: usize) -> usize {
        let tag = self.tags[place];
        self.model.count(&tag, self.time, 0);
        let age = self.model.age(self.time - tag.time);
        self.tags[place] = Tag {
            ages: [age, tag.ages[0]],
            time: self.time,
            exempt: false,
            ..tag
        };
        place
    }

    fn admit(&mut self, id: u32, bytes: u64, room: u64, settings: &Settings) -> usize {
        while self.tags.iter().map(|tag| tag.bytes).sum::<u64>() + bytes > room {
            self.evict(settings);
        }
        self.tags.push(Tag {
            id,
            bytes,
            time: self.time,
            ages: [0, settings.ages],
            exempt: false,
        });
        self.tags.len() - 1
    }
}

/// Whether each request hits. Request `i` is for `bytes[i]` bytes.
pub fn lhd(ids: &[u32], bytes: &[u64], room: u64, settings: &Settings) -> Vec<bool> {
    let mut cache = Cache {
        tags: vec![],
        model: Model {
            ages: settings.ages,
            shift: 10,
            updates: 0,
            objects: (0.0, 0.0),
            events: Events::new(),
            known: None,
        },
        random: Pcg64::new(1),
        time: 0,
        recent: vec![u32::MAX; settings.recent],
        victims: 0.0,
    };
    let exempt_most = (room as f64 * 0.01) as u64;
    let mut poor_ones = 0;
    let mut served = vec![];
    for (&id, &bytes) in ids.iter().zip(bytes) {
        let found = cache.tags.iter().position(|tag| tag.id == id);
        served.push(found.is_some());
        if found.is_some() || bytes <= room {
            let place = match found {
                Some(place) => cache.hit(place),
                None => cache.admit(id, bytes, room, settings),
            };
            let drawn = cache.random.up_to(31) == 0;
            let exempt = cache.tags.iter().filter(|tag| tag.exempt);
            let exempt: u64 = exempt.map(|tag| tag.bytes).sum();
            cache.tags[place].exempt = drawn && exempt < exempt_most && cache.model.updates < 50;
            let poor = !drawn && cache.density(&cache.tags[place]) < cache.victims;
            if poor && found.is_none() && settings.recent > 0 {
                cache.recent[poor_ones % settings.recent] = id;
                poor_ones += 1;
            }
        }
        cache.time += 1;
        if cache.time.is_multiple_of(settings.period) {
            cache.model.update(cache.tags.len());
        }
    }
    served
}
