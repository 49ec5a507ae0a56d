//! A list whose elements keep their allocations.
use std::ops::{Deref, DerefMut};

/// Like a `Vec`, but [`Reused::clear`] drops nothing: the next [`Reused::grow`] hands out an element
/// that still owns its buffers.
#[derive(Clone, Debug)]
pub struct Reused<T> {
    all: Vec<T>,
    live: usize,
}

impl<T> Default for Reused<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            live: 0,
        }
    }
}

impl<T: Default> Reused<T> {
    pub fn clear(&mut self) {
        self.live = 0;
    }

    /// Adds an element. It may hold the values of an earlier one: the caller overwrites them.
    pub fn grow(&mut self) -> &mut T {
        if self.live == self.all.len() {
            self.all.push(T::default());
        }
        self.live += 1;
        &mut self.all[self.live - 1]
    }

    /// Takes the last element back.
    pub fn shrink(&mut self) {
        self.live = self.live.saturating_sub(1);
    }
}

impl<T> Deref for Reused<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.all[..self.live]
    }
}

impl<T> DerefMut for Reused<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.all[..self.live]
    }
}

impl<'a, T> IntoIterator for &'a Reused<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_keep_their_buffers() {
        let mut list: Reused<Vec<u8>> = Reused::default();
        list.grow().extend([0; 100]);
        let before = list[0].as_ptr();
        list.clear();
        assert!(list.is_empty());
        let again = list.grow();
        again.clear();
        assert_eq!(again.as_ptr(), before);
        assert!(again.capacity() >= 100);
    }
}
