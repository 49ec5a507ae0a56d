//! The keys of requests, read where another library keeps them: NumPy's arrays, and Arrow's.
mod arrow;
mod integers;
mod numpy;
mod strings;

pub use arrow::each_array;
pub use integers::Integers;
pub use numpy::{flags_of, of_array};
pub use strings::{Strings, Words};

use std::cell::OnceCell;

/// A column of keys.
pub enum Column {
    Integers(Integers),
    Strings(Strings),
    /// Places in a dictionary of keys.
    Encoded(Encoded),
}

/// A column of places in a dictionary.
pub struct Encoded {
    places: Integers,
    dictionary: Box<Column>,
    /// The dictionary's keys, read once.
    keys: OnceCell<Vec<u64>>,
}

impl Encoded {
    pub fn new(places: Integers, dictionary: Column) -> Encoded {
        Encoded {
            places,
            dictionary: Box::new(dictionary),
            keys: OnceCell::new(),
        }
    }

    fn read(&self, from: usize, until: usize, words: &mut Words, to: &mut Vec<u64>) {
        let keys = self.keys.get_or_init(|| {
            let mut keys = Vec::new();
            let all = self.dictionary.len();
            self.dictionary.read(0, all, words, &mut keys);
            keys
        });
        self.places.read(from, until, to);
        for key in to {
            *key = keys[*key as usize];
        }
    }
}

impl Column {
    /// The number of keys.
    pub fn len(&self) -> usize {
        match self {
            Column::Integers(integers) => integers.len(),
            Column::Strings(strings) => strings.len(),
            Column::Encoded(encoded) => encoded.places.len(),
        }
    }

    /// Replaces the contents of `to` by keys `from..until`, strings by their numbers in `words`.
    pub fn read(&self, from: usize, until: usize, words: &mut Words, to: &mut Vec<u64>) {
        match self {
            Column::Integers(integers) => integers.read(from, until, to),
            Column::Strings(strings) => words.read(strings, from, until, to),
            Column::Encoded(encoded) => encoded.read(from, until, words, to),
        }
    }
}
