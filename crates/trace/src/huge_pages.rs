//! Huge pages and prefetches, which make random accesses cheaper.
use std::mem::size_of;

/// Asks the kernel for transparent huge pages for a vector's whole capacity. Call this function before
/// filling the vector. It has no effect where the kernel has no huge pages, or the vector is smaller than
/// one.
pub fn advise_huge<T>(vector: &mut Vec<T>) {
    const HUGE: usize = 2 << 20;
    const PAGE: usize = 4096;
    let bytes = vector.capacity() * size_of::<T>();
    if bytes < HUGE || cfg!(miri) {
        return;
    }
    let address = vector.as_mut_ptr() as usize;
    let (start, end) = (
        address.next_multiple_of(PAGE),
        (address + bytes) & !(PAGE - 1),
    );
    // SAFETY: the range lies within one live allocation, and this advice changes no contents.
    let advised = unsafe {
        rustix::mm::madvise(
            start as *mut _,
            end - start,
            rustix::mm::Advice::LinuxHugepage,
        )
    };
    // The vector also works without huge pages, only slower.
    let _ = advised;
}

/// Fetches the cache line of `slice[index]` ahead of its use. Any index is allowed.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: a prefetch is a hint that never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(slice.as_ptr().wrapping_add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_changes_no_contents() {
        // Miri takes too long for megabytes.
        let sizes: &[usize] = match cfg!(miri) {
            true => &[0, 4096],
            false => &[0, 4096, (2 << 20) - 1, 2 << 20, (8 << 20) + 12_345],
        };
        for &bytes in sizes {
            let mut vector = vec![7u8; bytes];
            advise_huge(&mut vector);
            assert!(vector.iter().all(|&b| b == 7), "{bytes}");
            vector.reserve_exact(if cfg!(miri) { 4096 } else { 3 << 20 });
            advise_huge(&mut vector);
            vector.push(8);
            assert!(vector[..bytes].iter().all(|&b| b == 7), "{bytes}");
            for index in [0, bytes, usize::MAX] {
                prefetch(&vector, index);
            }
        }
    }
}
