//! Workers that take memory that no file backs.
pub mod anon;
pub mod beat;
pub mod huge;
pub mod outside;
pub mod pipes;
