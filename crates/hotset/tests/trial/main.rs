//! `hotset trial` below a root of files, as a user runs it.
mod ends;
mod errors;
mod place;
mod results;
#[path = "../common/signals.rs"]
mod signals;
