//! How much memory does a machine need? Pages that come into the page cache and leave it in, misses with more memory
//! out.
//!
//! * [`event`]: the kernel's tracepoints of the page cache.
//! * [`sample`]: which pages are followed.
//! * [`away`]: pages that are away, in the order in which they left.
//! * [`distances`]: how far away a page was when it came back.
//! * [`curve`]: misses with more memory.
//!
//! Memory that evicts what was used least recently, and what it has evicted, are one list. A larger memory holds more
//! of the same list (R. Mattson et al., Evaluation techniques for storage hierarchies, IBM Systems Journal 9, 1970). So
//! a page that comes back from behind `d` others that are away would have stayed, had memory been `d` pages larger.
//! What a machine reads again now tells what it would read again with more memory, and nothing of less.
//!
//! Pure: no I/O and no clock.
pub mod away;
pub mod curve;
pub mod distances;
pub mod event;
pub mod sample;

pub use curve::{Curve, Estimate};
pub use distances::Distances;
pub use event::Event;
pub use sample::Sample;
