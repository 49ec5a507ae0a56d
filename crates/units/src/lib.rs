//! Sizes in bytes and counts, as users write them and as programs print them.
//!
//! Units have one meaning everywhere: K, M, G and T, alone or followed by B or iB, are powers of
//! 1024 bytes. The kernel's `memparse` and systemd read them alike. A count has no unit.
mod bytes;
mod count;

pub use bytes::{format_bytes, parse_bytes, parse_size};
pub use count::{counted, parse_count};
