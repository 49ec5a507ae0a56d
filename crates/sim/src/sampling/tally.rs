//! Counts for each object of a sample, in three caches of different sizes.
use super::sizes::Sizes;
use super::student::t_975;

/// What one object did.
#[derive(Clone, Copy, Debug, Default)]
struct Object {
    /// In the middle cache.
    misses: u32,
    requested: bool,
    /// [`Tally::gained`] at its last request.
    last: [i64; 2],
    /// How much of [`Tally::gained`] came while the middle cache held it.
    resident: [i64; 2],
}

/// Counts for each object, in caches of [`Sizes::simulated`].
pub struct Tally {
    objects: Vec<Object>,
    requests: u64,
    /// Requests that the middle cache hits and the smaller one misses, and that the larger one hits and
    /// the middle one misses; less the opposite ones, which policies other than stacks have.
    gained: [i64; 2],
}

/// An object's part in the misses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// In the middle cache.
    pub misses: f64,
    /// Hits that a cache gains, if it is one object larger, while it holds this object: between the
    /// smaller and the middle cache, and between the middle and the larger one.
    pub held: [f64; 2],
}

impl Tally {
    /// Bytes for each object.
    pub const BYTES: u64 = std::mem::size_of::<Object>() as u64;

    /// For objects with dense ids.
    pub fn new(objects: usize) -> Tally {
        Tally {
            objects: vec![Object::default(); objects],
            requests: 0,
            gained: [0; 2],
        }
    }

    /// Takes a request, and whether it hit in the smaller, the middle and the larger cache.
    #[inline]
    pub fn request(&mut self, id: u32, [smaller, middle, larger]: [bool; 3]) {
        let object = &mut self.objects[id as usize];
        self.requests += 1;
        match middle && object.requested {
            // It has been resident since its last request.
            true => {
                for side in 0..2 {
                    object.resident[side] += self.gained[side] - object.last[side];
                }
            }
            false => object.misses += 1,
        }
        object.requested = true;
        object.last = self.gained;
        self.gained[0] += i64::from(middle) - i64::from(smaller);
        self.gained[1] += i64::from(larger) - i64::from(middle);
    }

    /// Requests of the sample so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Misses of the middle cache.
    pub fn misses(&self) -> u64 {
        self.objects.iter().map(|o| u64::from(o.misses)).sum()
    }

    /// Hits that a cache gains by one more object, below the middle size and above it.
    pub(super) fn slopes(&self, sizes: &Sizes) -> [f64; 2] {
        [0, 1].map(|side| self.gained[side] as f64 / sizes.spread[side])
    }

    /// Sizes as near as this first count allows: where a trace has phases, objects of other phases neither
    /// help nor harm. `rate` is that of sampling.
    pub fn nearer(&self, sizes: &Sizes, rate: f64) -> Sizes {
        let spread = [0, 1].map(|side| {
            let slope = self.slopes(sizes)[side].abs();
            let squares: f64 = self.parts(sizes).map(|part| part.held[side].powi(2)).sum();
            let nearer = t_975(f64::INFINITY) * ((1.0 - rate) * squares).sqrt() / slope;
            match slope > 0.0 {
                true => nearer.min(sizes.spread[side]),
                false => sizes.spread[side],
            }
        });
        Sizes::within(sizes.exact, spread)
    }

    /// The parts of all objects that were requested.
    pub(super) fn parts(&self, sizes: &Sizes) -> impl Iterator<Item = Part> + '_ {
        let slopes = self.slopes(sizes);
        let middle = sizes.simulated[1] as f64;
        let misses = self.misses().max(1) as f64;
        // A full cache holds `middle` objects at each gained hit. Those that are not seen to be resident
        // are on their way out, each for as long as any other.
        let share = [0, 1].map(|side| {
            let gained = self.gained[side] as f64;
            let seen: i64 = self.objects.iter().map(|o| o.resident[side]).sum();
            let unseen = (middle * gained.abs() - seen as f64 * gained.signum()).max(0.0);
            unseen * gained.signum() / misses
        });
        let scale = [0, 1].map(|side| match self.gained[side] {
            0 => 0.0,
            gained => slopes[side] / gained as f64,
        });
        let requested = self.objects.iter().filter(|object| object.requested);
        requested.map(move |object| {
            let misses = f64::from(object.misses);
            let held = [0, 1]
                .map(|side| scale[side] * (object.resident[side] as f64 + share[side] * misses));
            Part { misses, held }
        })
    }
}
