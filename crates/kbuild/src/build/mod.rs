//! From a request to a bootable image.
pub mod build_tree;
pub mod config;
mod image;
mod label;
mod make;
mod objects;
pub mod package;
pub mod request;

pub(crate) use image::Recipe;
pub use image::{all, built_before, checksum, describe, ensure, key, look_up, Built, Ingredients};
