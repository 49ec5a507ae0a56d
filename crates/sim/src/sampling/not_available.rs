//! The rules by which a sample is too small for an estimate.
use std::fmt;

/// Fewest objects of the sample that a cache must hold. In a smaller cache one object that the sample
/// has or lacks by chance decides the result, and no interval can tell.
pub const LEAST_IN_CACHE: u64 = 10;

/// Fewest objects that must decide the result, in effect: fewer degrees of freedom give no variance.
pub const LEAST_DECISIVE: f64 = 5.0;

/// Why a sample gives no estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAvailable {
    /// The cache holds fewer objects of the sample than [`LEAST_IN_CACHE`].
    Cache,
    /// Fewer objects of the sample decide the result, in effect, than [`LEAST_DECISIVE`].
    Objects,
    /// This policy behaves differently in a smaller cache.
    Policy(&'static str),
}

impl fmt::Display for NotAvailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAvailable::Cache => write!(
                f,
                "fewer than {LEAST_IN_CACHE} objects of the sample fit the cache"
            ),
            NotAvailable::Objects => write!(
                f,
                "fewer than {LEAST_DECISIVE} objects of the sample decide the result"
            ),
            NotAvailable::Policy(name) => write!(
                f,
                "{name} behaves differently in the smaller cache of a sample; simulate the whole trace"
            ),
        }
    }
}
