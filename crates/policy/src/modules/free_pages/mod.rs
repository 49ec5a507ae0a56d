//! Free pages: how many the machine needs, and when.
mod ceiling;
mod gap;
pub mod headroom;
pub mod node;
