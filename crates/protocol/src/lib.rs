//! The files and messages between guest, lab and report.
//!
//! * [`spec`]: the orders that the lab hands to a guest (`/hotset/spec.json` in its initramfs).
//! * [`work`]: the kinds of work that these orders can name.
//! * [`size`]: amounts of memory, in bytes or as a share of the machine's.
//! * [`wire`]: the lines that a guest writes to its channel, each one JSON object.
//! * [`pages`]: the pages that came into the page cache and left it, as `wire` carries them.
//! * [`record`]: the files of a finished run, from which a report can be made at any later time.
//! * [`plan`]: the tables, charts and promises of an experiment file.
//! * [`comparison`]: an experiment file's comparison with published measurements.
//! * [`metric`]: the metrics that a guest records, whatever its workers do.
//! * [`statistic`]: the functions that make one number of a scene's values.
//!
//! This crate does no I/O. Its functions only (de)serialise, and derive values from one value. Guest, lab
//! and report can therefore be built, tested and versioned apart.
pub mod comparison;
pub mod metric;
pub mod pages;
pub mod plan;
pub mod record;
pub mod size;
pub mod spec;
pub mod statistic;
pub mod wire;
pub mod work;
