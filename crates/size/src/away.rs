//! Pages that are away, in the order in which they left: how many left after one of them, and are away still.
use std::collections::HashMap;
use std::hash::Hash;

/// The list. `K`: a page.
#[derive(Clone, Debug)]
pub struct Away<K> {
    /// The place in the order of leaving, from 1.
    places: HashMap<K, usize>,
    /// Weights by place, as sums over ranges (P. Fenwick, A new data structure for cumulative frequency tables, 1994).
    sums: Vec<u64>,
    weights: Vec<u64>,
    /// By place: the number of the page's return, from 1. 0: it is away still, or has no name.
    returned: Vec<u64>,
    returns: u64,
    total: u64,
}

/// A page's return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Return {
    /// The weight of what left after it and is away still.
    pub after: u64,
    /// One that had left right beside it came back just before: as in a loop, and hardly ever by chance.
    pub in_order: bool,
}

/// Reclaim takes pages by batches, and the order within one may be turned: neighbours are as near as this, on both sides.
const BESIDE: usize = 2;
/// Returns that are "just before": other programs read meanwhile. By chance one of so many had left beside the page once
/// in 64, where 2,048 are away.
const JUST_BEFORE: u64 = 8;
/// Places before the list is closed up for the first time.
const LEAST: usize = 1 << 10;

impl<K: Hash + Eq + Clone> Away<K> {
    #[must_use]
    pub fn new() -> Away<K> {
        Away {
            places: HashMap::new(),
            sums: vec![0],
            weights: vec![0],
            returned: vec![0],
            returns: 0,
            total: 0,
        }
    }

    /// The sum of all weights.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// A page leaves. One that is away already leaves anew.
    pub fn leave(&mut self, page: K, weight: u64) {
        self.remove(&page);
        let place = self.push(weight);
        self.places.insert(page, place);
    }

    /// Pages leave that nobody can name, and never come back.
    pub fn leave_unnamed(&mut self, weight: u64) {
        if weight > 0 {
            self.push(weight);
        }
    }

    /// A page comes back. `None`: it is not away.
    pub fn back(&mut self, page: &K) -> Option<Return> {
        let (place, after) = self.remove(page)?;
        self.returns += 1;
        let beside = place.saturating_sub(BESIDE)..(place + BESIDE + 1).min(self.returned.len());
        let in_order = { self.returned[beside].iter() }
            .any(|number| *number > 0 && self.returns - number <= JUST_BEFORE);
        self.returned[place] = self.returns;
        Some(Return { after, in_order })
    }

    /// Takes a page from the list: its place, and the weight of those behind it.
    fn remove(&mut self, page: &K) -> Option<(usize, u64)> {
        let place = self.places.remove(page)?;
        let after = self.total - self.sum_to(place);
        let weight = std::mem::take(&mut self.weights[place]);
        self.add(place, weight.wrapping_neg());
        self.total -= weight;
        Some((place, after))
    }

    fn push(&mut self, weight: u64) -> usize {
        if self.weights.len() > LEAST && self.weights.len() > 4 * self.places.len() {
            self.close_up();
        }
        self.append(weight)
    }

    fn sum_to(&self, mut place: usize) -> u64 {
        let mut sum = 0u64;
        while place > 0 {
            sum = sum.wrapping_add(self.sums[place]);
            place &= place - 1;
        }
        sum
    }

    fn add(&mut self, mut place: usize, weight: u64) {
        while place < self.sums.len() {
            self.sums[place] = self.sums[place].wrapping_add(weight);
            place += place & place.wrapping_neg();
        }
    }

    /// Gives the places of pages that came back to others. Unnamed pages between two named ones become one.
    fn close_up(&mut self) {
        let mut named: Vec<(usize, K)> = self
            .places
            .drain()
            .map(|(page, place)| (place, page))
            .collect();
        named.sort_unstable_by_key(|(place, _)| *place);
        let weights = std::mem::replace(&mut self.weights, vec![0]);
        self.sums = vec![0];
        self.returned = vec![0];
        self.total = 0;
        let mut from = 1;
        for (place, page) in named {
            let unnamed: u64 = weights[from..place].iter().sum();
            if unnamed > 0 {
                self.append(unnamed);
            }
            let new = self.append(weights[place]);
            self.places.insert(page, new);
            from = place + 1;
        }
        let unnamed: u64 = weights[from..].iter().sum();
        if unnamed > 0 {
            self.append(unnamed);
        }
    }

    fn append(&mut self, weight: u64) -> usize {
        let place = self.weights.len();
        self.weights.push(weight);
        self.returned.push(0);
        // The sum over the range that ends here: its own weight, and the ranges within.
        let begin = place - (place & place.wrapping_neg());
        let inside = self.sum_to(place - 1).wrapping_sub(self.sum_to(begin));
        self.sums.push(inside.wrapping_add(weight));
        self.total += weight;
        place
    }
}

impl<K: Hash + Eq + Clone> Default for Away<K> {
    fn default() -> Away<K> {
        Away::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The same as a plain list, also when it is closed up many times.
        #[test]
        fn as_a_plain_list(steps in proptest::collection::vec((0u8..4, 0u32..40, 1u64..4), 1..6000)) {
            let mut away = Away::new();
            let mut plain: Vec<(Option<u32>, u64)> = Vec::new();
            for (kind, page, weight) in steps {
                match kind {
                    0 | 1 => {
                        away.leave(page, weight);
                        plain.retain(|(one, _)| *one != Some(page));
                        plain.push((Some(page), weight));
                    }
                    2 => {
                        let at = plain.iter().position(|(one, _)| *one == Some(page));
                        let wanted = at.map(|at| plain[at + 1..].iter().map(|(_, weight)| weight).sum::<u64>());
                        prop_assert_eq!(away.back(&page).map(|back| back.after), wanted);
                        if let Some(at) = at {
                            plain.remove(at);
                        }
                    }
                    _ => {
                        away.leave_unnamed(weight % 2);
                        if weight % 2 > 0 {
                            plain.push((None, weight % 2));
                        }
                    }
                }
                prop_assert_eq!(away.total(), plain.iter().map(|(_, weight)| weight).sum::<u64>());
            }
        }
    }

    #[test]
    fn a_loop_comes_back_in_order_and_a_choice_does_not() {
        let mut away = Away::new();
        let mut in_order = |order: &mut dyn Iterator<Item = u64>| {
            // Batches of 32, each turned.
            for batch in 0..200 {
                (0..32)
                    .rev()
                    .for_each(|page| away.leave(batch * 32 + page, 1));
            }
            order
                .filter(|page| away.back(page).unwrap().in_order)
                .count()
        };
        assert!(in_order(&mut (0..6400)) > 6100);
        // 3001 has no factor in common with 6400: each page once.
        assert!(in_order(&mut (0..6400).map(|page| page * 3001 % 6400)) < 100);
    }
}
