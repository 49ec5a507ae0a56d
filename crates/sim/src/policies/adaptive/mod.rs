//! Policies that shift their weight between recency and frequency during the trace.
pub mod arc;
pub mod car;
pub mod lecar;
