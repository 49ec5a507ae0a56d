//! Errors that the user cures with another command line or campaign file, and errors that a run cures itself.

/// What was asked cannot be done; the message says what to ask instead.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// A file of the campaign is not what was written. Made again, it is.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Damaged(pub String);

/// An [`anyhow::Error`] that is a [`Refused`].
macro_rules! refused {
    ($($text:tt)*) => { anyhow::Error::from($crate::error::Refused(format!($($text)*))) };
}

pub(crate) use refused;
