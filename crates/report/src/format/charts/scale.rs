//! Scales and their ticks, and the thinning of long lines.

/// A map from values to places in drawing units.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    low: f64,
    high: f64,
    log: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// A linear scale from `low` to `high`, drawn from `from` to `to`.
    pub fn linear(low: f64, high: f64, from: f64, to: f64) -> Scale {
        // A single value needs room too.
        let high = if high > low {
            high
        } else {
            low + low.abs().max(1.0)
        };
        Scale {
            low,
            high,
            log: false,
            from,
            to,
        }
    }

    /// A logarithmic scale; `low` must be above zero.
    pub fn log(low: f64, high: f64, from: f64, to: f64) -> Scale {
        let low = low.max(f64::MIN_POSITIVE);
        let (low, high) = match high > low * 1.01 {
            true => (low, high),
            false => (low / 2.0, low * 2.0),
        };
        Scale {
            low,
            high,
            log: true,
            from,
            to,
        }
    }

    pub fn is_log(&self) -> bool {
        self.log
    }

    /// The place of a value. Values beyond the scale land on its ends.
    pub fn at(&self, value: f64) -> f64 {
        let place = if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + place.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Whether a linear scale begins above zero.
    pub fn starts_above_zero(&self) -> bool {
        !self.log && self.low > 0.0
    }

    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// About `wanted` round values on the scale.
    pub fn ticks(&self, wanted: usize) -> Vec<f64> {
        if !self.log {
            return linear_ticks(self.low, self.high, wanted);
        }
        let decades = (self.high / self.low).log10();
        if decades < 0.7 {
            return linear_ticks(self.low, self.high, wanted);
        }
        if decades < wanted as f64 / 2.0 {
            return self.steps_of_one_two_five();
        }
        let step = (decades / wanted as f64).ceil().max(1.0) as i32;
        let first = (self.low.log10() - 1e-9).ceil() as i32;
        let last = (self.high.log10() + 1e-9).floor() as i32;
        (first..=last)
            .step_by(step as usize)
            .map(|e| 10f64.powi(e))
            .collect()
    }
}

impl Scale {
    fn steps_of_one_two_five(&self) -> Vec<f64> {
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        (first..=last)
            .flat_map(|e| [1.0, 2.0, 5.0].map(|k| k * 10f64.powi(e)))
            .filter(|&v| self.holds(v))
            .collect()
    }
}

fn linear_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let step = round_step((high - low) / wanted.max(1) as f64);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|k| k as f64 * step).collect()
}

/// The smallest of 1, 2, 5 times a power of ten that is not below `x`.
pub fn round_step(x: f64) -> f64 {
    let power = 10f64.powf(x.log10().floor());
    let found = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|k| k * power >= x * (1.0 - 1e-9));
    found.unwrap_or(10.0) * power
}

/// Keeps the first, last, lowest and highest point of each of `buckets` equal stretches of time. A
/// line of that many pixels shows no more, and no peak is lost.
pub fn thin(points: &[(f64, f64)], buckets: usize) -> Vec<(f64, f64)> {
    if points.len() <= 4 * buckets {
        return points.to_vec();
    }
    let (start, end) = (points[0].0, points[points.len() - 1].0);
    let bucket = |t: f64| ((t - start) / (end - start) * buckets as f64) as usize;
    let mut out = Vec::new();
    for chunk in points.chunk_by(|a, b| bucket(a.0) == bucket(b.0)) {
        let places = 0..chunk.len();
        let low = places
            .clone()
            .min_by(|&a, &b| chunk[a].1.total_cmp(&chunk[b].1));
        let high = places.max_by(|&a, &b| chunk[a].1.total_cmp(&chunk[b].1));
        let mut keep = vec![0, low.unwrap_or(0), high.unwrap_or(0), chunk.len() - 1];
        keep.sort_unstable();
        keep.dedup();
        out.extend(keep.into_iter().map(|k| chunk[k]));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(
            Scale::linear(0.0, 100.0, 0.0, 1.0).ticks(4),
            [0.0, 50.0, 100.0]
        );
        assert_eq!(
            Scale::linear(0.0, 10.0, 0.0, 1.0).ticks(5),
            [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
        );
        assert_eq!(
            Scale::log(1.0, 1000.0, 0.0, 1.0).ticks(5),
            [1.0, 10.0, 100.0, 1000.0]
        );
        assert_eq!(
            Scale::log(15.0, 600.0, 0.0, 1.0).ticks(5),
            [20.0, 50.0, 100.0, 200.0, 500.0]
        );
        assert_eq!(round_step(0.3), 0.5);
        assert_eq!(round_step(7.0), 10.0);
    }

    #[test]
    fn values_have_their_places_and_ends_are_kept() {
        let scale = Scale::linear(0.0, 10.0, 100.0, 0.0);
        assert_eq!(
            (scale.at(0.0), scale.at(5.0), scale.at(99.0)),
            (100.0, 50.0, 0.0)
        );
        let log = Scale::log(1.0, 100.0, 0.0, 10.0);
        assert!((log.at(10.0) - 5.0).abs() < 1e-9);
        assert_eq!(log.at(0.0), 0.0);
        assert!(Scale::linear(3.0, 3.0, 0.0, 1.0).at(3.0).is_finite());
        assert!(Scale::log(3.0, 3.0, 0.0, 1.0).at(3.0).is_finite());
    }

    #[test]
    fn thinning_keeps_the_peaks() {
        let mut points: Vec<(f64, f64)> = (0..10_000).map(|i| (f64::from(i), 1.0)).collect();
        points[5003].1 = 99.0;
        points[7001].1 = -5.0;
        let thinned = thin(&points, 100);
        assert!(thinned.len() <= 404, "{}", thinned.len());
        assert!(thinned.contains(&(5003.0, 99.0)) && thinned.contains(&(7001.0, -5.0)));
        assert_eq!(thinned.last(), points.last());
    }
}
