//! Programs that a command starts: found before they run, and ended with all that they started.
pub mod descendants;
pub mod program;
