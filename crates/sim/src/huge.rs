//! Arrays in huge pages: what a random access costs is mostly address translation.
pub use trace::prefetch;

/// `len` zeroes, in transparent huge pages where the kernel gives them.
pub fn zeroed<T: Copy + Default>(len: usize) -> Vec<T> {
    filled(len, T::default())
}

/// `len` times `value`.
pub fn filled<T: Copy>(len: usize, value: T) -> Vec<T> {
    let mut array = Vec::with_capacity(len);
    // Before the first touch, or small pages are there already.
    trace::advise_huge(&mut array);
    array.resize(len, value);
    array
}
