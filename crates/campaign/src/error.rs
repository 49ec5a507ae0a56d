//! Errors that a run cures itself.

/// A file of the campaign is not what was written. Made again, it is.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Damaged(pub String);
