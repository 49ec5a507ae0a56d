//! The bounds of an `auto` floor, and the noise in refaults.

/// Bounds of an `auto` floor, percent of memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub least: f64,
    pub most: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            least: 2.0,
            most: 40.0,
        }
    }
}

/// Fewer refaults a second than this share of memory's pages are noise.
pub const NOISE: f64 = 0.0005;
