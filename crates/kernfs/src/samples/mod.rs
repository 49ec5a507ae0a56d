//! The samples file: one JSON object a line, oldest first.
//!
//! ```text
//! {"schema":"hotset.record.1","t":12.5,
//!  "machine":{"release":"6.18.44","page_size":4096,"cpus":2},
//!  "nodes":[{"id":0,"managed":6171023,"free":4711901,"min":10833,"low":16832,"high":22831,
//!            "active_anon":1370,"inactive_anon":57581,"active_file":581649,"inactive_file":351386,
//!            "blocks":[3344,6417,3943],"huge":0}],
//!  "vmstat":{"nr_free_pages":4711901},"meminfo":{"MemTotal":24684092},
//!  "psi":{"memory":{"some":{"avg10":0.0,"avg60":0.0,"avg300":0.0,"total":0}}},
//!  "knobs":{"vm.watermark_scale_factor":10}}
//! ```
//!
//! Every part but `t` may be missing. A file may end anywhere: its samples are read as far as they go.
mod reader;
mod record;

pub use crate::files::machine::Machine;
pub use reader::{ReadError, Reader};
pub use record::{Node, Pressure, PressureLine, Record};
