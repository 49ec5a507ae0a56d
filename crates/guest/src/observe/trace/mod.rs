//! Records the events of the kernel's tracepoints.
mod event;
mod pages;
mod reclaim;
mod tracer;

pub use tracer::Tracer;
