//! Rows and figures as Python's dictionaries.
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sim::sweep::results::{Row, TraceId};
use trace::stats::{Histogram, Stats};

/// A row as `hotset sim --csv` names its columns, and the policy's own counters.
pub fn row<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    made.set_item("policy", &row.policy)?;
    made.set_item("size_objects", row.size)?;
    made.set_item("requests", row.requests)?;
    made.set_item("misses", row.misses)?;
    made.set_item("miss_ratio", row.miss_ratio)?;
    let ends = row.miss_ratio_95;
    made.set_item("miss_ratio_low_95", ends.map(|[low, _]| low))?;
    made.set_item("miss_ratio_high_95", ends.map(|[_, high]| high))?;
    made.set_item("not_available", row.not_available.as_ref())?;
    let counters = PyDict::new(py);
    for (name, count) in &row.counters {
        counters.set_item(name, count)?;
    }
    made.set_item("counters", counters)?;
    Ok(made)
}

/// All rows, in order.
pub fn rows<'py>(py: Python<'py>, rows: &[Row]) -> PyResult<Bound<'py, PyList>> {
    let made: Vec<_> = rows
        .iter()
        .map(|one| row(py, one))
        .collect::<PyResult<_>>()?;
    PyList::new(py, made)
}

/// The trace of the rows.
pub fn identity<'py>(py: Python<'py>, id: &TraceId) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    made.set_item("name", &id.name)?;
    made.set_item("requests", id.requests)?;
    made.set_item("objects", id.objects)?;
    made.set_item("digest", &id.digest)?;
    made.set_item("objects_estimated", id.objects_estimated)?;
    made.set_item("sampled_share", id.sampled_share)?;
    made.set_item("malformed_left_out", id.malformed_left_out)?;
    made.set_item("writes_left_out", id.writes_left_out)?;
    Ok(made)
}

/// Statistics of a trace.
pub fn stats<'py>(py: Python<'py>, stats: &Stats) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    made.set_item("requests", stats.requests)?;
    made.set_item("objects", stats.objects)?;
    made.set_item("compulsory_miss_ratio", stats.compulsory_miss_ratio)?;
    made.set_item("one_hit_wonders", stats.popularity.one_hit_wonders)?;
    let zipf = stats.popularity.zipf;
    made.set_item("zipf_alpha", zipf.map(|fit| fit.alpha))?;
    made.set_item("zipf_distance", zipf.map(|fit| fit.distance))?;
    made.set_item("reuse_time_median", quantile(&stats.reuse_time))?;
    made.set_item("reuse_distance_median", quantile(&stats.reuse_distance))?;
    Ok(made)
}

fn quantile(histogram: &Histogram) -> Option<u64> {
    histogram.quantile(0.5)
}
