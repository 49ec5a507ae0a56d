//! The robust slope of a series, with its uncertainty.

/// A slope with an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slope {
    /// Units of x a second.
    pub slope: f64,
    /// The lower bound of the interval that holds the slope with the chosen confidence.
    pub lower: f64,
    /// The upper bound of the same interval.
    pub upper: f64,
    pub points: usize,
}

impl Slope {
    /// Half the interval's width.
    pub fn error(&self) -> f64 {
        (self.upper - self.lower) / 2.0
    }
}

/// Theil-Sen: the median of the slopes of all pairs of points. Up to 29% of the points may lie
/// anywhere without carrying the median away. One such point carries least squares away.
///
/// Theil, "A rank-invariant method of linear and polynomial regression analysis" (1950); Sen,
/// "Estimates of the regression coefficient based on Kendall's tau", JASA 63 (1968). The interval
/// is Sen's nonparametric one: the pair slopes of rank (N -+ z sqrt(n(n-1)(2n+5)/18)) / 2.
#[derive(Clone, Debug)]
pub struct TheilSen {
    slopes: Vec<f64>,
    z: f64,
}

impl TheilSen {
    /// Makes room for windows of up to `points` points. `z` is the normal deviate of the interval's
    /// confidence: 1.645 for 90%.
    pub fn new(points: usize, z: f64) -> Self {
        TheilSen {
            slopes: Vec::with_capacity(points * points.saturating_sub(1) / 2),
            z,
        }
    }

    /// The slope of `points`, whose times must grow. `None` with fewer than 3.
    pub fn slope(&mut self, points: &[(f64, f64)]) -> Option<Slope> {
        let n = points.len();
        if n < 3 {
            return None;
        }
        self.slopes.clear();
        for (index, &(t1, x1)) in points.iter().enumerate() {
            for &(t0, x0) in &points[..index] {
                self.slopes.push((x1 - x0) / (t1 - t0));
            }
        }
        self.slopes.sort_unstable_by(f64::total_cmp);
        let pairs = self.slopes.len();
        let middle = match pairs % 2 {
            1 => self.slopes[pairs / 2],
            _ => (self.slopes[pairs / 2 - 1] + self.slopes[pairs / 2]) / 2.0,
        };
        let n = n as f64;
        let spread = self.z * (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
        // With few points the ranks lie outside. The interval then spans all slopes.
        let lower = ((pairs as f64 - spread) / 2.0).floor().max(0.0) as usize;
        let upper = (((pairs as f64 + spread) / 2.0).ceil() as usize).min(pairs - 1);
        Some(Slope {
            slope: middle,
            lower: self.slopes[lower],
            upper: self.slopes[upper],
            points: points.len(),
        })
    }
}
