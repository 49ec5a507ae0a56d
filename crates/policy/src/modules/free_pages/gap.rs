//! The gap between two watermarks.

/// The kernel's gap between min and low, and between low and high, pages
/// (`__setup_per_zone_wmarks` in mm/page_alloc.c): `max(managed * factor / 10000, min / 4)`.
pub fn gap(managed: u64, min: u64, factor: u32) -> f64 {
    (managed as f64 * f64::from(factor) / 10_000.0).max(min as f64 / 4.0)
}
