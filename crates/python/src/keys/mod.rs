//! The keys of requests, read where another library keeps them: NumPy's arrays, and Arrow's.
mod arrow;
mod integers;
mod numpy;
mod strings;

pub use arrow::each_array;
pub use integers::Integers;
pub use numpy::{flags_of, of_array};
pub use strings::{Strings, Words};

/// A column of keys.
pub enum Column {
    Integers(Integers),
    Strings(Strings),
}

impl Column {
    /// The number of keys.
    pub fn len(&self) -> usize {
        match self {
            Column::Integers(integers) => integers.len(),
            Column::Strings(strings) => strings.len(),
        }
    }

    /// Replaces the contents of `to` by keys `from..until`, strings by their numbers in `words`.
    pub fn read(&self, from: usize, until: usize, words: &mut Words, to: &mut Vec<u64>) {
        match self {
            Column::Integers(integers) => integers.read(from, until, to),
            Column::Strings(strings) => words.read(strings, from, until, to),
        }
    }
}
