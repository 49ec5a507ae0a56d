//! Slow and simple twins of all policies. Lists are vectors, the oldest entry first, and are searched from
//! end to end. Each function takes the ids and the size, and returns
//! the misses, or whether each request hits.
pub mod adaptive;
pub mod cacheus;
pub mod clocks;
pub mod frequency;
pub mod lhd;
pub mod linux;
pub mod multi_gen;
pub mod s4_fifo;
pub mod simple;
pub mod stacks;
pub mod two_list;

/// Takes `id` out of a list. Returns whether it was there.
pub fn take(list: &mut Vec<u32>, id: u32) -> bool {
    match list.iter().position(|&other| other == id) {
        Some(at) => {
            list.remove(at);
            true
        }
        None => false,
    }
}
