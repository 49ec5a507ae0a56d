//! Tables in Parquet files: columns of text, counts and reals, uncompressed. The same rows make the same bytes.
mod columns;
mod read;
mod rows;
mod write;

pub use columns::Column;
pub use read::{of, read, Read};
pub use rows::{Row, RESULTS};
pub use write::{bytes, Writer};
