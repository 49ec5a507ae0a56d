//! Policies that try new objects in a queue of their own before they reach the main one.
pub mod s3_fifo;
pub mod s4_fifo;
pub mod two_q;
