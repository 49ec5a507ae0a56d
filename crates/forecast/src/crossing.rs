//! When a line meets a threshold.
use crate::Slope;

/// Seconds from now until a falling quantity is at its threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// At the expected slope; `None`: it does not fall.
    pub expected_s: Option<f64>,
    /// At the interval's steepest fall; `None`: not even that falls.
    pub earliest_s: Option<f64>,
    /// Does the whole interval fall?
    pub certain: bool,
}

/// `above` is how far the quantity is above the threshold now, `fall` how fast it falls (positive is
/// down). Already at or below it: 0 s.
pub fn time_to(above: f64, fall: &Slope) -> Crossing {
    let at = |rate: f64| -> Option<f64> {
        if above <= 0.0 {
            return Some(0.0);
        }
        (rate > 0.0).then(|| above / rate)
    };
    Crossing {
        expected_s: at(fall.slope),
        earliest_s: at(fall.upper),
        certain: fall.lower > 0.0,
    }
}
