//! Policies that shift their weight between recency and frequency during the trace.
pub mod arc;
pub mod cacheus;
pub mod car;
mod learning_rate;
pub mod lecar;
