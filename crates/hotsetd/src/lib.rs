//! The daemon: measures, forecasts, decides, acts, and gives back what it changed.
//!
//! * [`run`]: the loop; [`daemon`]: one round of it; [`act`]: what a decision does.
//! * [`knobs`]: the only code that writes knobs, and [`journal`]: how each write can be undone.
//! * [`worker`]: the two writes that take long.
//! * [`observe`] and [`machine`]: what the policy is shown.
//! * [`protect`]: floors on a stock kernel, and the kill.
//! * [`cli`], [`config`], [`load`], [`import`]: what the administrator chose.
//! * [`log`], [`state`], [`tell`], [`serve`], [`notify`]: what is told, and to whom.
pub mod act;
pub mod cli;
pub mod config;
pub mod daemon;
pub mod harden;
pub mod import;
pub mod instance;
pub mod journal;
pub mod knobs;
pub mod kswapd;
pub mod load;
mod load_protect;
pub mod log;
pub mod machine;
pub mod notify;
pub mod observe;
pub mod protect;
pub mod run;
pub mod serve;
pub mod state;
pub mod tell;
pub mod text;
pub mod wake;
pub mod worker;
