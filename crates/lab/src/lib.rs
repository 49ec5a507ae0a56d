//! Experiments in, raw results out.
