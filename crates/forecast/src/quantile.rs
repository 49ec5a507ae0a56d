//! A quantile of a stream whose past fades.

/// Steps of the scale in an octave. A step is a factor of 2^(1/8), 9%, so that a quantile is known to
/// within 4.5%.
const STEPS_PER_OCTAVE: f64 = 8.0;
/// Bins for values from 1 to 2^48. Smaller values count as 0, larger ones as the largest.
const BINS: usize = 48 * 8 + 2;

/// A histogram on a logarithmic scale, whose weights halve every `half_life_s`. Constant memory and
/// time; the result is at most one step from the exact weighted quantile.
///
/// The decay is forward: instead of shrinking old weights, new ones grow. See Cormode, Shkapenyuk,
/// Srivastava and Xu, "Forward Decay: A Practical Time Decay Model for Streaming Systems", ICDE 2009.
#[derive(Clone, Debug)]
pub struct DecayingQuantile {
    weights: Vec<f64>,
    half_life_s: f64,
    /// The time whose weight is 1.
    landmark_s: Option<f64>,
}

impl DecayingQuantile {
    /// A quantile without values. `half_life_s`: seconds, more than 0.
    pub fn new(half_life_s: f64) -> Self {
        DecayingQuantile {
            weights: vec![0.0; BINS],
            half_life_s: half_life_s.max(f64::MIN_POSITIVE),
            landmark_s: None,
        }
    }

    /// Adds `value` of the moment `now_s`. A negative value and NaN count as 0.
    pub fn add(&mut self, now_s: f64, value: f64) {
        self.add_weighted(now_s, value, 1.0);
    }

    /// As [`DecayingQuantile::add`], `weight` times.
    pub fn add_weighted(&mut self, now_s: f64, value: f64, weight: f64) {
        let landmark = *self.landmark_s.get_or_insert(now_s);
        let mut halvings = (now_s - landmark) / self.half_life_s;
        if halvings > 60.0 {
            let shrink = (-halvings).exp2();
            self.weights.iter_mut().for_each(|weight| *weight *= shrink);
            self.landmark_s = Some(now_s);
            halvings = 0.0;
        }
        self.weights[bin(value)] += weight * halvings.exp2();
    }

    /// The value that the share `q` (0 to 1) of the weight does not exceed: the upper edge of its
    /// step. 0 before the first value.
    pub fn quantile(&self, q: f64) -> f64 {
        let total: f64 = self.weights.iter().sum();
        if total <= 0.0 {
            return 0.0;
        }
        let wanted = total * q.clamp(0.0, 1.0);
        let mut sum = 0.0;
        for (index, weight) in self.weights.iter().enumerate() {
            sum += weight;
            if *weight > 0.0 && sum >= wanted * (1.0 - 1e-12) {
                return edge(index);
            }
        }
        edge(BINS - 1)
    }

    /// The weight of all values at `now_s`; a value of that moment weighs 1.
    pub fn weight(&self, now_s: f64) -> f64 {
        let landmark = self.landmark_s.unwrap_or(now_s);
        self.weights.iter().sum::<f64>() * (-(now_s - landmark) / self.half_life_s).exp2()
    }
}

fn bin(value: f64) -> usize {
    if value.is_nan() || value < 1.0 {
        return 0;
    }
    ((value.log2() * STEPS_PER_OCTAVE) as usize + 1).min(BINS - 1)
}

/// A value of the highest step whose upper edge is `value` or less: of an upper edge, its own step.
pub(crate) fn below(value: f64) -> f64 {
    value * (1e-9 - 1.0 / STEPS_PER_OCTAVE).exp2()
}

fn edge(bin: usize) -> f64 {
    match bin {
        0 => 0.0,
        _ => (bin as f64 / STEPS_PER_OCTAVE).exp2(),
    }
}
