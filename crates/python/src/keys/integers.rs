//! A column of integers in memory of another library.
use crate::errors;
use pyo3::PyResult;

/// The type of an integer in memory.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    pub bytes: usize,
    pub signed: bool,
    /// The bytes are in the other order than this machine's.
    pub swapped: bool,
}

/// A column of integers: its memory is borrowed, and whoever makes the column keeps the memory alive and unchanged.
pub struct Integers {
    first: *const u8,
    length: usize,
    /// Bytes from one integer to the next. Negative in a reversed array.
    stride: isize,
    of: Type,
}

impl Integers {
    /// # Safety
    /// While the column exists, `length` integers of this type can be read at `first`, each `stride` bytes behind the
    /// one before, and nobody writes to them while [`Integers::read`] runs.
    ///
    /// # Errors
    /// There are no integers of so many bytes.
    pub unsafe fn new(
        first: *const u8,
        length: usize,
        stride: isize,
        of: Type,
    ) -> PyResult<Integers> {
        if !matches!(of.bytes, 1 | 2 | 4 | 8) {
            let bits = of.bytes * 8;
            return Err(errors::value(format!(
                "integers of {bits} bits: expected 8, 16, 32 or 64"
            )));
        }
        Ok(Integers {
            first,
            length,
            stride,
            of,
        })
    }

    /// The number of integers.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Replaces the contents of `to` by integers `from..until`. Negative ones become large: all stay distinct.
    ///
    /// # Panics
    /// `until` is beyond the end.
    pub fn read(&self, from: usize, until: usize, to: &mut Vec<u64>) {
        assert!(from <= until && until <= self.length, "beyond the column");
        to.clear();
        let range = from..until;
        match (self.of.bytes, self.of.signed) {
            (1, false) => self.each::<1>(range, to, |b| u64::from(u8::from_ne_bytes(b))),
            (1, true) => self.each::<1>(range, to, |b| i8::from_ne_bytes(b) as u64),
            (2, false) => self.each::<2>(range, to, |b| u64::from(u16::from_ne_bytes(b))),
            (2, true) => self.each::<2>(range, to, |b| i16::from_ne_bytes(b) as u64),
            (4, false) => self.each::<4>(range, to, |b| u64::from(u32::from_ne_bytes(b))),
            (4, true) => self.each::<4>(range, to, |b| i32::from_ne_bytes(b) as u64),
            _ => self.each::<8>(range, to, u64::from_ne_bytes),
        }
    }

    #[inline(always)]
    fn each<const N: usize>(
        &self,
        range: std::ops::Range<usize>,
        to: &mut Vec<u64>,
        widen: impl Fn([u8; N]) -> u64,
    ) {
        let swapped = self.of.swapped;
        to.extend(range.map(|at| {
            let place = self.first.wrapping_offset(at as isize * self.stride);
            // SAFETY: `at` is below `length`, so Integers::new's caller has promised that the bytes can be read.
            let mut bytes = unsafe { place.cast::<[u8; N]>().read_unaligned() };
            if swapped {
                bytes.reverse();
            }
            widen(bytes)
        }));
    }
}
