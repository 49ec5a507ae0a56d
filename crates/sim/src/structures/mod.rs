//! The building blocks of policies: sets, lists and queues of dense ids in flat arrays.
pub mod bitset;
pub mod chunked_deques;
pub mod frequency_lists;
pub mod huge_pages;
pub mod lazy_queue;
pub mod linked_lists;
pub mod recency_bitmap;
