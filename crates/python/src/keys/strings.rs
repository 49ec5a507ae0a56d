//! A column of strings in memory of Arrow.
use std::collections::HashMap;
use std::ffi::c_void;

/// Where an array has its strings.
#[derive(Clone, Copy, Debug)]
pub enum Layout {
    /// Offsets of 32 bits into one buffer.
    Offsets,
    /// Offsets of 64 bits.
    LargeOffsets,
    /// 16 bytes each: the length, and either the string or its buffer and offset.
    Views,
}

/// A column of strings: its memory is borrowed, and whoever makes the column keeps the memory alive and unchanged.
pub struct Strings {
    layout: Layout,
    buffers: *const *const c_void,
    offset: usize,
    length: usize,
}

impl Strings {
    /// # Safety
    /// `buffers` are those of an Arrow array of this layout, offset and length, which outlives the column and does not
    /// change.
    pub unsafe fn new(
        layout: Layout,
        buffers: *const *const c_void,
        offset: usize,
        length: usize,
    ) -> Strings {
        Strings {
            layout,
            buffers,
            offset,
            length,
        }
    }

    /// The number of strings.
    pub fn len(&self) -> usize {
        self.length
    }

    /// # Panics
    /// `at` is beyond the end.
    fn get(&self, at: usize) -> &[u8] {
        assert!(at < self.length, "beyond the column");
        let at = at + self.offset;
        // SAFETY: Strings::new's caller has promised that the buffers are those of the layout.
        let (begin, length) = unsafe {
            match self.layout {
                Layout::Offsets => {
                    let offsets = self.buffer(1).cast::<i32>();
                    let from = offsets.add(at).read_unaligned() as usize;
                    let until = offsets.add(at + 1).read_unaligned() as usize;
                    (self.buffer(2).wrapping_add(from), until - from)
                }
                Layout::LargeOffsets => {
                    let offsets = self.buffer(1).cast::<i64>();
                    let from = offsets.add(at).read_unaligned() as usize;
                    let until = offsets.add(at + 1).read_unaligned() as usize;
                    (self.buffer(2).wrapping_add(from), until - from)
                }
                Layout::Views => {
                    let view = self.buffer(1).add(at * 16);
                    let word = |at: usize| view.cast::<i32>().add(at).read_unaligned() as usize;
                    match word(0) {
                        short if short <= 12 => (view.add(4), short),
                        long => (self.buffer(2 + word(2)).add(word(3)), long),
                    }
                }
            }
        };
        if length == 0 {
            // The buffer may be missing then.
            return &[];
        }
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(begin, length) }
    }

    /// # Safety
    /// The array has a buffer of this number.
    unsafe fn buffer(&self, number: usize) -> *const u8 {
        // SAFETY: the caller's promise.
        unsafe { *self.buffers.add(number) }.cast()
    }
}

/// Gives each string a number.
#[derive(Default)]
pub struct Words(HashMap<Box<[u8]>, u64>);

impl Words {
    /// Replaces the contents of `to` by the numbers of strings `from..until`.
    pub fn read(&mut self, strings: &Strings, from: usize, until: usize, to: &mut Vec<u64>) {
        to.clear();
        for at in from..until {
            let word = strings.get(at);
            let number = match self.0.get(word) {
                Some(&number) => number,
                None => {
                    let number = self.0.len() as u64;
                    self.0.insert(word.into(), number);
                    number
                }
            };
            to.push(number);
        }
    }
}
