//! Published tables, run again: the paper's value, or a reference, beside the simulator's.
mod authors_trace;
mod lru_k;
mod runs;
mod table;

pub use authors_trace::{arc, lirs, s3_fifo};
pub use lru_k::lru_k;
pub use table::{Beside, Cell, Table};
