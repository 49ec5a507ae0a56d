//! A kernel's log in, the story of its kills out: for machines without a record.
//!
//! * [`line`]: a line without the time, the host and the program before it; [`stamp`]: the time.
//! * [`draft`], [`fields`]: the lines of one report of the OOM killer.
//! * [`kills`]: kills by programs, and tasks that hang.
//! * [`gather`]: all lines in, all reports out; [`incident`]: those that belong together.
//! * [`judge`]: what kind of shortage it was, and whose; [`words`]: the story in sentences.
//!
//! Kernels 4.18 to 7.3. Pure: no I/O and no clock.
mod draft;
mod fields;
pub mod gather;
pub mod incident;
pub mod judge;
pub mod kills;
mod line;
pub mod report;
pub mod stamp;
pub mod words;
