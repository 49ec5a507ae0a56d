//! The time at which a line meets a threshold.
use crate::Slope;

/// Seconds from now until a falling quantity is at its threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// At the expected slope; `None`: the quantity does not fall.
    pub expected_s: Option<f64>,
    /// At the steepest fall of the interval; `None`: no slope of the interval falls.
    pub earliest_s: Option<f64>,
    /// Whether the whole interval falls.
    pub certain: bool,
}

/// The seconds until a quantity that is `above` its threshold is down at it. `fall`: units a second,
/// positive downwards. At or below the threshold the result is 0 s.
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
