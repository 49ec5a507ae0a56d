//! Protection on a stock kernel: quick samples, reclaim steered by vm.swappiness, and the kill. A kernel
//! with the series gets its sysctls set, and keeps the floors itself.
//!
//! * [`Guard`]: one sample and the actions that it leads to; [`settings`]: the administrator's choices.
//! * [`steering`] and [`watermark_boost`]: knobs of a stock kernel; [`series`]: sysctls of the series.
//! * [`oom`]: from exhaustion to the kill, and the notice of it.
//! * [`mlock`]: file pages that are locked. [`cgroups`]: cgroups that are protected.
//! * [`context`]: the parts of the daemon that it lends. [`status`]: the reports.
pub mod cgroups;
pub mod context;
mod guard;
pub mod mlock;
pub mod oom;
pub mod series;
pub mod settings;
pub mod status;
pub mod steering;
pub mod watermark_boost;

pub use context::Tools;
pub use guard::Guard;
pub use settings::Settings;
