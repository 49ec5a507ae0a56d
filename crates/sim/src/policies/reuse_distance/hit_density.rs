//! LHD's model: the hit density that objects of a class have at each age, learned from hits and evictions.
use crate::structures::huge_pages::prefetch;

/// Classes of objects, by the sum of their ages at their last two hits.
pub const CLASSES: usize = 16;

/// What is left of older events when new ones are added up.
const DECAY: f32 = 0.9;

/// The share of the number of objects that one step of age should be.
const COARSENESS: f64 = 0.01;

/// The first step of age, as a power of two.
const FIRST_SHIFT: u32 = 10;

/// The largest step of age: a trace has fewer requests.
const LAST_SHIFT: u32 = 31;

/// The updates after which the step of age is set anew.
const RESCALED: [u32; 2] = [5, 25];

/// How much more the numbers of objects up to such an update weigh than later ones.
const RESCALED_WEIGHT: f64 = 8.0;

/// Ages by which a row grows.
const STEP: usize = 64;

/// Fewer events than this at an age and later say nothing of it.
const LEAST_EVENTS: f64 = 1e-5;

/// A number for each age of a class, up to the last age that had one.
type Row = Vec<f32>;

/// Hits and evictions by class and age, and what follows from them.
pub struct HitDensity {
    ages: usize,
    /// Ages are in steps of two to the power of this many requests.
    shift: u32,
    updates: u32,
    /// Sum and weight of the number of objects at updates.
    objects: (f64, f64),
    hits: [Row; CLASSES],
    evictions: [Row; CLASSES],
    densities: [Row; CLASSES],
}

/// Adds an event to a row, which grows as far as needed: most classes never see most ages.
#[inline(always)]
fn count(row: &mut Row, age: u16) {
    match row.get_mut(usize::from(age)) {
        Some(events) => *events += 1.0,
        None => extend(row, age),
    }
}

#[cold]
fn extend(row: &mut Row, age: u16) {
    let len = (usize::from(age) + 1).next_multiple_of(STEP);
    row.reserve_exact(len - row.len());
    row.resize(len, 0.0);
    row[usize::from(age)] = 1.0;
}

impl HitDensity {
    /// The first model: denser the younger, and the shorter the last ages at hits.
    pub fn new(ages: usize) -> HitDensity {
        HitDensity {
            ages,
            shift: FIRST_SHIFT,
            updates: 0,
            objects: (0.0, 0.0),
            hits: Default::default(),
            evictions: Default::default(),
            densities: Default::default(),
        }
    }

    /// Updates so far.
    #[inline(always)]
    pub fn updates(&self) -> u32 {
        self.updates
    }

    /// The class of objects whose last two ages at hits have this sum: 0 for old ones, more for younger ones,
    /// one for each halving.
    #[inline(always)]
    pub fn class(&self, sum: u32) -> u8 {
        if sum == 0 {
            return (CLASSES - 1) as u8;
        }
        let times = (self.ages as u32 - 1) / sum;
        (u32::BITS - times.leading_zeros()).min(CLASSES as u32 - 1) as u8
    }

    /// The age of an object that was accessed `requests` requests ago. All that is older is one age.
    #[inline(always)]
    pub fn age(&self, requests: u32) -> u16 {
        ((requests >> self.shift) as usize).min(self.ages - 1) as u16
    }

    /// The hit density of a class at an age. At the last age it is below all others.
    #[inline(always)]
    pub fn density(&self, class: u8, age: u16) -> f32 {
        let known = self.densities[usize::from(class)].get(usize::from(age));
        match known {
            Some(&density) => density,
            None => self.density_without_events(class, age),
        }
    }

    #[inline(always)]
    fn density_without_events(&self, class: u8, age: u16) -> f32 {
        if usize::from(age) == self.ages - 1 {
            f32::NEG_INFINITY
        } else if self.updates == 0 {
            (f32::from(class) + 1.0) / (f32::from(age) + 1.0)
        } else {
            0.0
        }
    }

    /// Prefetches a density.
    #[inline(always)]
    pub fn prefetch(&self, class: u8, age: u16) {
        prefetch(&self.densities[usize::from(class)], usize::from(age));
    }

    /// Counts a hit.
    #[inline(always)]
    pub fn hit(&mut self, class: u8, age: u16) {
        count(&mut self.hits[usize::from(class)], age);
    }

    /// Counts an eviction.
    #[inline(always)]
    pub fn evicted(&mut self, class: u8, age: u16) {
        count(&mut self.evictions[usize::from(class)], age);
    }

    /// Computes the densities from the events so far; `objects` are in the cache.
    pub fn update(&mut self, objects: usize) {
        for row in self.hits.iter_mut().chain(&mut self.evictions) {
            row.iter_mut().for_each(|events| *events *= DECAY);
        }
        self.rescale(objects);
        let rows = self.hits.iter().zip(&self.evictions);
        for ((hits, evictions), densities) in rows.zip(&mut self.densities) {
            let at = |row: &Row, age: usize| f64::from(row.get(age).copied().unwrap_or(0.0));
            let len = hits.len().max(evictions.len()).min(self.ages);
            // The last age has no density of its own.
            let kept = len.min(self.ages - 1);
            densities.clear();
            densities.reserve_exact(kept);
            densities.resize(kept, 0.0);
            let (mut later_hits, mut later) = (0.0, 0.0);
            // The sum of what is left of each later life: of each event, the steps from this age to it.
            let mut lives = 0.0;
            for age in (0..len).rev() {
                later_hits += at(hits, age);
                later += at(hits, age) + at(evictions, age);
                lives += later;
                if age < kept && later > LEAST_EVENTS {
                    densities[age] = (later_hits / lives) as f32;
                }
            }
        }
        self.updates += 1;
    }

    /// Twice, sets the step of age by the number of objects, and takes the events along.
    fn rescale(&mut self, objects: usize) {
        let (sum, weight) = &mut self.objects;
        *sum = *sum * f64::from(DECAY) + objects as f64;
        *weight = *weight * f64::from(DECAY) + 1.0;
        if !RESCALED.contains(&self.updates) {
            return;
        }
        let wanted = *sum / *weight / (COARSENESS * self.ages as f64);
        *sum *= RESCALED_WEIGHT;
        *weight *= RESCALED_WEIGHT;
        let mut shift = 1;
        while shift < LAST_SHIFT && f64::from(1u32 << shift) < wanted {
            shift += 1;
        }
        for row in self.hits.iter_mut().chain(&mut self.evictions) {
            row.resize(self.ages, 0.0);
            match shift > self.shift {
                true => compress(row, shift - self.shift),
                false => stretch(row, self.shift - shift),
            }
            let used = row.iter().rposition(|&events| events != 0.0);
            row.truncate(used.map_or(0, |last| last + 1));
            row.shrink_to_fit();
        }
        self.shift = shift;
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        let rows = self.hits.iter().chain(&self.evictions);
        let rows = rows.chain(&self.densities);
        rows.map(|row| row.capacity() * 4).sum()
    }
}

/// Puts the events of each 2^`by` ages into one. The last age, which is all that is older, keeps its own.
fn compress(row: &mut [f32], by: u32) {
    let last = row.len() - 1;
    for age in 0..last {
        let from = (age << by).min(last);
        let to = ((age + 1) << by).min(last);
        row[age] = row[from..to].iter().sum();
    }
}

/// Spreads the events of each age over 2^`by` ages. What comes to lie at the last age or beyond is its own.
fn stretch(row: &mut [f32], by: u32) {
    let last = row.len() - 1;
    let parts = 1usize << by;
    let beyond = |age: usize| ((age + 1) << by).saturating_sub(last).min(parts);
    let moved: f32 = (0..last)
        .map(|age| row[age] * beyond(age) as f32 / parts as f32)
        .sum();
    row[last] += moved;
    for age in (0..last).rev() {
        row[age] = row[age >> by] / parts as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rescaling_loses_no_event() {
        let row: Vec<f32> = (0..50).map(|age| (age * 7 % 11) as f32).collect();
        let all: f32 = row.iter().sum();
        for by in 0..9 {
            for change in [compress, stretch] {
                let mut row = row.clone();
                change(&mut row, by);
                let left: f32 = row.iter().sum();
                assert!((left - all).abs() < 0.01, "{left} of {all} after {by}");
            }
        }
        let mut there_and_back = row.clone();
        compress(&mut there_and_back, 2);
        assert_eq!(there_and_back[3], row[12..16].iter().sum::<f32>());
        stretch(&mut there_and_back, 2);
        assert_eq!(there_and_back[14], row[12..16].iter().sum::<f32>() / 4.0);
    }

    #[test]
    fn classes_halve() {
        let model = HitDensity::new(20_000);
        for (sum, class) in [
            (0, 15),
            (1, 15),
            (2, 14),
            (9_999, 2),
            (10_000, 1),
            (19_999, 1),
        ] {
            assert_eq!(model.class(sum), class, "{sum}");
        }
        assert_eq!(model.class(20_000), 0);
    }

    #[test]
    fn density_is_hits_by_the_life_that_is_left() {
        let mut model = HitDensity::new(100);
        for _ in 0..3 {
            model.hit(4, 2);
        }
        model.evicted(4, 5);
        model.update(10);
        // From age 0: three lives of three steps and one of six; from age 3: one of three, without a hit.
        assert!((model.density(4, 0) - 3.0 / 15.0).abs() < 1e-6);
        assert!((model.density(4, 2) - 3.0 / 7.0).abs() < 1e-6);
        assert_eq!(model.density(4, 3), 0.0);
        assert_eq!(model.density(4, 99), f32::NEG_INFINITY);
    }
}
