//! The types that all engines share.
use anyhow::Result;

use crate::content::Key;

/// Finds the record with a key, and passes the record to the second closure.
pub type Find<'a> = dyn FnMut(&Key, &mut dyn FnMut(&[u8])) -> Result<()> + 'a;

/// Observations: a name and a number each.
pub type Values = Vec<(&'static str, f64)>;
