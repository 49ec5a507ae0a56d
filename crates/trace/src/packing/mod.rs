//! Packed files: `.zst` and `.gz`.
mod cut_off;
mod kind;
mod packer;
mod unpack;
mod zstd;

pub use cut_off::CutOff;
pub use kind::Packing;
pub use packer::Packer;
pub(crate) use unpack::unpack;
pub use unpack::{open_packed, open_unpacked};
pub use zstd::ZstdWriter;
