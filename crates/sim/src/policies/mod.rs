//! One policy a file.
pub mod arc;
pub mod car;
pub mod clock;
pub mod fifo;
pub mod lfu;
pub mod linux_two_list;
pub mod lirs;
pub mod lru;
pub mod lru_k;
mod lru_k_correlated;
pub mod mglru;
pub mod mru;
pub mod opt;
pub mod random;
pub mod s3_fifo;
pub mod sieve;
pub mod two_q;
