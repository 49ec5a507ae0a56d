//! Protection on a stock kernel: quick looks, reclaim steered by vm.swappiness, and the kill. On a
//! kernel with the series the sysctls are set, and it does the rest.
//!
//! * [`Guard`]: one look and what it leads to; [`eyes`]: the look.
//! * `sentence`: from exhaustion to the kill. [`steer`]: vm.swappiness; [`kill`]: the kill, of [`processes`] that [`marks`] allow.
//! * [`locker`], [`resident`]: file pages that are locked, [`data`] among them, by its [`reads`]; [`slices`]: cgroups that are protected.
//! * [`herald`]: who is told; [`rivals`]: who else kills; [`realtime`]: being there in time.
pub mod boost;
pub mod data;
pub mod eyes;
mod guard;
pub mod herald;
pub mod kill;
pub mod locker;
pub mod marks;
pub mod processes;
pub mod reads;
pub mod realtime;
pub mod resident;
pub mod rivals;
mod sentence;
pub mod settings;
pub mod slices;
pub mod steer;
mod told;

pub use guard::{Guard, Tools};
pub use settings::Settings;
