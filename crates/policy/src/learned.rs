//! The numbers that one run leaves to the next.
use std::collections::BTreeMap;

/// What was learned: finite numbers of 0 or more, by name. A name has no space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learned(BTreeMap<String, f64>);

impl Learned {
    /// The number of this name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// Sets a number. NaN, infinity and negative numbers are left out.
    pub fn set(&mut self, name: impl Into<String>, number: f64) {
        if number.is_finite() && number >= 0.0 {
            self.0.insert(name.into(), number);
        }
    }

    /// All names with their numbers, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, number)| (name.as_str(), *number))
    }
}
