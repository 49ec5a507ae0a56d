//! Arrays in huge pages, because most of the cost of a random access is address translation.
pub use trace::prefetch;

/// An array of `len` zeroes, in transparent huge pages where the kernel gives them.
pub fn zeroed<T: Copy + Default>(len: usize) -> Vec<T> {
    filled(len, T::default())
}

/// An array of `len` times `value`, in transparent huge pages where the kernel gives them.
pub fn filled<T: Copy>(len: usize, value: T) -> Vec<T> {
    let mut array = Vec::with_capacity(len);
    // Advice comes before the first touch: a touched page is a small page already.
    trace::advise_huge(&mut array);
    array.resize(len, value);
    array
}
