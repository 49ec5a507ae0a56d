//! The last few points of a time series.

/// A ring of `(t, x)` of fixed capacity, oldest first. Time must grow: a point that is not later
/// than the last one, or is not finite, is refused.
#[derive(Clone, Debug)]
pub struct Window {
    points: Vec<(f64, f64)>,
    capacity: usize,
}

impl Window {
    /// Makes room for `capacity` points, at least 2.
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.max(2);
        Window {
            points: Vec::with_capacity(capacity),
            capacity,
        }
    }

    /// Adds a point, and drops the oldest where the window is full. Returns whether it was taken.
    pub fn push(&mut self, t: f64, x: f64) -> bool {
        let later = self.points.last().is_none_or(|&(last, _)| t > last);
        if !later || !t.is_finite() || !x.is_finite() {
            return false;
        }
        if self.points.len() == self.capacity {
            self.points.remove(0);
        }
        self.points.push((t, x));
        true
    }

    /// Keeps only the last `count` points, because the earlier ones belong to another regime.
    pub fn keep_last(&mut self, count: usize) {
        let drop = self.points.len().saturating_sub(count);
        self.points.drain(..drop);
    }

    pub fn clear(&mut self) {
        self.points.clear();
    }

    /// The points, oldest first.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    pub fn last(&self) -> Option<(f64, f64)> {
        self.points.last().copied()
    }

    /// The change a second between the `back`th point before the last and its successor; 0 is the
    /// newest interval.
    pub fn rate(&self, back: usize) -> Option<f64> {
        let newer = self.points.len().checked_sub(back + 1)?;
        let older = newer.checked_sub(1)?;
        let ((t0, x0), (t1, x1)) = (self.points[older], self.points[newer]);
        Some((x1 - x0) / (t1 - t0))
    }
}
