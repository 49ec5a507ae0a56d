//! The file of the flight recorder: a file of fixed size in which hotsetd keeps what it sees.
//!
//! * [`Layout`]: slots of equal size, and which record goes where.
//! * [`slot`]: a record is one line of JSON, closed by a sum, in a slot of its own. A slot that was being written
//!   when the machine stopped is known by its sum, and harms no other.
//! * [`Record`]: what a line holds: a sample as of `hotset record`, and who had the memory, who waited, what was done.
//! * [`read()`]: every whole record of a file, in the order of time.
//!
//! Slots are lines of text, so `grep` and `tail` read the file too.
mod layout;
mod reading;
mod record;
pub mod slot;

pub use layout::{Layout, EVENTS, LEAST};
pub use reading::{read, Flight, ReadError};
pub use record::{Cgroup, Deed, Group, Header, Kept, Process, Record};
