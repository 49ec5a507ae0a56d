//! Counts and sizes in a campaign's file: numbers of TOML, or text as the command line has it.
use serde::{Deserialize, Serialize};

/// A number as it was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    Whole(u64),
    /// `1e6` is no whole number in TOML.
    Real(f64),
    /// `"20e3"`, `"4K"`
    Text(String),
}

impl Number {
    /// The number as a count of requests.
    ///
    /// # Errors
    /// It is no whole number; the message quotes it.
    pub fn count(&self) -> Result<u64, String> {
        match self {
            Number::Whole(number) => Ok(*number),
            Number::Real(real) => whole(*real),
            Number::Text(text) => units::parse_count(text),
        }
    }

    /// The number as bytes.
    ///
    /// # Errors
    /// As [`Number::count`], or a unit is unknown.
    pub fn bytes(&self) -> Result<u64, String> {
        match self {
            Number::Text(text) => units::parse_bytes(text),
            number => number.count(),
        }
    }
}

fn whole(real: f64) -> Result<u64, String> {
    match real.fract() == 0.0 && (0.0..1e15).contains(&real) {
        true => Ok(real as u64),
        false => Err(format!("{real} is no whole number")),
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn a_count_may_be_written_in_three_ways() {
        let text = |text: &str| Number::Text(text.into());
        for number in [Number::Whole(20_000), Number::Real(2e4), text("20e3")] {
            assert_eq!(number.count(), Ok(20_000));
        }
        assert_eq!(text("4K").bytes(), Ok(4096));
        for wrong in [Number::Real(0.5), Number::Real(-1.0), text("4K")] {
            assert!(wrong.count().is_err(), "{wrong:?}");
        }
    }
}
