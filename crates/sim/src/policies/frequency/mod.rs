//! Policies that order objects by how often, or how long ago for the k-th time, they were accessed.
pub mod lfu;
pub mod lru_k;
mod lru_k_correlated;
pub mod w_tinylfu;
