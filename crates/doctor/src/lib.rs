//! The files of a machine in, findings out: what the kernel allows, what would be better, and the command for it.
//!
//! Nothing is written, and nothing needs root. A file that cannot be read is a finding of its own or none.
//!
//! * [`kernel`]: what the kernel was built and booted with.
//! * [`memory`]: swap, and settings that change how memory runs out.
//! * [`services`]: hotsetd, and others that do its work.
mod finding;
mod kernel;
mod machine;
mod memory;
mod read;
mod services;

pub use finding::{Finding, State};
pub use machine::Machine;

use kernfs::Root;

/// All findings about the machine below `root`, in an order that does not change.
#[must_use]
pub fn examine(root: &Root) -> Vec<Finding> {
    let groups = [
        kernel::findings(root),
        memory::findings(root),
        services::findings(root),
    ];
    groups.into_iter().flatten().collect()
}
