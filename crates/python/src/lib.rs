//! The compiled part of the Python package `hotset`: traces, runs and curves of the crates `trace` and `sim`, for the
//! package's modules in `python/hotset`, which document them for users.
//!
//! Every function that may take longer than a moment works without Python's lock and ends at Ctrl-C.
mod errors;
mod generate;
mod held;
mod keys;
mod open;
mod rows;
mod simulate;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _hotset {
    #[pymodule_export]
    use super::held::Held;
    #[pymodule_export]
    use super::simulate::{curve, policies, policy, simulate, sizes};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
