//! The jobs of a sweep, and its parts, which can run on several machines.
use crate::registry::Choice;

/// One policy at one size.
#[derive(Clone)]
pub struct Job {
    /// The number of the job in the whole sweep, from 0.
    pub number: usize,
    pub choice: Choice,
    /// The size of the cache in objects.
    pub size: u64,
}

/// All jobs of a sweep: each policy with all sizes in objects, policy by policy. Equal sizes are one job.
pub fn jobs(choices: &[Choice], sizes: &[u64]) -> Vec<Job> {
    let mut distinct: Vec<u64> = Vec::new();
    for &size in sizes {
        if !distinct.contains(&size) {
            distinct.push(size);
        }
    }
    let pairs = choices
        .iter()
        .flat_map(|choice| distinct.iter().map(move |&size| (choice, size)));
    pairs
        .enumerate()
        .map(|(number, (choice, size))| Job {
            number,
            choice: choice.clone(),
            size,
        })
        .collect()
}

/// A part of a sweep: `2/8` is the second of eight. Job `n` (from 0) is in part `n % of + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    pub part: usize,
    pub of: usize,
}

impl Shard {
    /// Is the job with this number in the part?
    pub fn has(self, number: usize) -> bool {
        number % self.of == self.part - 1
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((part, of)) if 1 <= part && part <= of => Ok(Shard { part, of }),
            _ => Err(format!(
                "{text:?}: expected I/N with I from 1 to N, such as 2/8"
            )),
        }
    }
}
