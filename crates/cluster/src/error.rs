//! Errors that the user cures.

/// What was asked cannot be done; the message says what to ask instead.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// An [`anyhow::Error`] that is a [`Refused`].
#[macro_export]
macro_rules! refused {
    ($($text:tt)*) => { ::anyhow::Error::from($crate::Refused(format!($($text)*))) };
}
