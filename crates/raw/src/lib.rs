//! What guest, lab and report say to each other.
//!
//! * [`spec`]: the orders that the lab hands to a guest (`/hotset/spec.json` in its initramfs).
//! * [`wire`]: the lines that a guest writes to its channel, one JSON object a line.
//! * [`record`]: the files of a finished run, which a report can be made from again years later.
//! * [`size`]: amounts of memory, in bytes or as a share of the machine's.
//! * [`access`]: orders for a worker that accesses pages by rule.
//! * [`apps`]: orders for the app-cycle workload, which are many.
//! * [`database`]: orders for workers that use a real database.
//! * [`comparison`]: what it says of somebody else's measurements.
//! * [`pages`]: what comes into the page cache and goes from it.
//! * [`plan`]: what an experiment file says of its tables and its promises.
//!
//! No I/O and no behaviour beyond (de)serialising lives here, so that guest, lab and report can be
//! built, tested and versioned apart.
pub mod access;
pub mod apps;
pub mod comparison;
pub mod database;
pub mod pages;
pub mod plan;
pub mod record;
pub mod size;
pub mod spec;
pub mod wire;
