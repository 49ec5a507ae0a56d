//! The sentences of a report, made from the data.
pub mod figure;
pub mod headline;
pub mod promise;
pub mod run;
pub mod setting;
