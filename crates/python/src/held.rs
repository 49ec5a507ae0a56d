//! A trace as Python holds it.
use crate::keys::{each_array, flags_of, of_array, Column, Words};
use crate::open::Options;
use crate::{errors, generate, open, rows, work};
use pyo3::exceptions::{PyMemoryError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use sim::sweep::results::TraceId;
use sim::Input;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use trace::stats::Stats;
use trace::{advise_huge, Renumber, Sample, Skipped, Trace};

/// Requests between two looks at signals, some milliseconds of work.
const STRETCH: usize = 1 << 20;

/// Keys that are read at once: they stay in the first-level cache.
const BATCH: usize = 1 << 12;

/// A decoded trace, and its identity once somebody has asked for it. It never changes.
#[pyclass(frozen, name = "Trace", module = "hotset._hotset")]
pub struct Held(pub Arc<Trace>, OnceLock<TraceId>);

impl Held {
    fn new(trace: Trace) -> PyResult<Held> {
        // What a simulation would refuse is refused here.
        if trace.is_empty() {
            return Err(errors::value("no request: a trace has one at least"));
        }
        Input::of(&trace).map_err(errors::value)?;
        Ok(Held(Arc::new(trace), OnceLock::new()))
    }
}

/// Refuses more requests than a trace may have.
fn check(requests: usize) -> PyResult<()> {
    let most = sim::error::MAX_REQUESTS;
    match requests <= most {
        true => Ok(()),
        false => Err(errors::value(format!(
            "{requests} requests: a trace has {most} at most"
        ))),
    }
}

/// An empty vector with room for so many ids. A user's array can have any length, so running out of memory is no abort.
fn room(requests: usize) -> PyResult<Vec<u32>> {
    check(requests)?;
    let mut ids = Vec::new();
    let reserved = ids.try_reserve_exact(requests);
    reserved.map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    advise_huge(&mut ids);
    Ok(ids)
}

/// Numbers keys of any size densely.
struct Numbering {
    words: Words,
    renumber: Renumber,
    ids: Vec<u32>,
}

impl Numbering {
    fn new(expected: usize) -> PyResult<Numbering> {
        Ok(Numbering {
            words: Words::default(),
            ids: room(expected)?,
            renumber: Renumber::new(expected as u64),
        })
    }

    /// Takes a column's keys. Python's lock is held while they are read, and others may have it in between.
    fn take(&mut self, py: Python<'_>, keys: &Column) -> PyResult<()> {
        let mut batch = Vec::with_capacity(BATCH);
        let mut from = 0;
        while from < keys.len() {
            let until = keys.len().min(from + BATCH);
            let before = self.ids.len();
            check(before + until - from)?;
            self.ids
                .try_reserve(until - from)
                .map_err(|error| PyMemoryError::new_err(error.to_string()))?;
            keys.read(from, until, &mut self.words, &mut batch);
            let taken = self.renumber.extend(&batch, &mut self.ids);
            taken.map_err(|_| errors::value("more than 4294967294 distinct objects"))?;
            // Of the whole trace: a column may be a small chunk of it.
            if self.ids.len() / STRETCH != before / STRETCH {
                py.check_signals()?;
                py.detach(std::thread::yield_now);
            }
            from = until;
        }
        Ok(())
    }

    fn trace(self, name: String, flags: Option<&Bound<'_, PyAny>>) -> PyResult<Held> {
        let flags = flags.map(|flags| flags_of(flags, self.ids.len()));
        Held::new(Trace {
            name,
            objects: self.renumber.objects(),
            ids: self.ids,
            flags: flags.transpose()?,
            ..Trace::default()
        })
    }
}

#[pymethods]
impl Held {
    /// The trace of an array with NumPy's array interface.
    #[staticmethod]
    fn from_array(
        py: Python<'_>,
        array: &Bound<'_, PyAny>,
        name: String,
        flags: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Held> {
        let keys = Column::Integers(of_array(array)?);
        let mut numbering = Numbering::new(keys.len())?;
        numbering.take(py, &keys)?;
        numbering.trace(name, flags)
    }

    /// The trace of an Arrow array or stream.
    #[staticmethod]
    fn from_arrow(
        py: Python<'_>,
        array: &Bound<'_, PyAny>,
        name: String,
        flags: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Held> {
        let mut numbering = Numbering::new(array.len().unwrap_or(0))?;
        each_array(array, &mut |keys| numbering.take(py, keys))?;
        numbering.trace(name, flags)
    }

    /// The trace of dense ids, in bytes of this machine's order: four a request. For pickles, and for keys that Python
    /// has numbered.
    #[staticmethod]
    fn from_ids(
        name: String,
        ids: &[u8],
        flags: Option<&Bound<'_, PyAny>>,
        about: About,
    ) -> PyResult<Held> {
        let (objects, format, malformed, writes, sample) = about;
        let words = ids.chunks_exact(4);
        if !words.remainder().is_empty() {
            return Err(errors::value("ids of four bytes each: some are missing"));
        }
        let mut numbers = room(words.len())?;
        numbers.extend(words.map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]])));
        let flags = flags.map(|flags| flags_of(flags, numbers.len()));
        Held::new(Trace {
            name,
            format: format.and_then(|name| name.parse().ok()),
            objects,
            ids: numbers,
            flags: flags.transpose()?,
            sizes: None,
            skipped: Skipped {
                malformed,
                writes,
                ..Skipped::default()
            },
            sample: sample.map(|(one_in, requests)| Sample { one_in, requests }),
            extent: None,
        })
    }

    /// Reads a file.
    #[staticmethod]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        options: Options,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Held> {
        let read = work::run(py, progress.as_ref(), move |work| {
            open::read(&path, &options, work)
        });
        let (trace, doubt) = read?;
        if let Some(doubt) = doubt {
            // Level 2 is whoever calls Trace.open.
            let text = CString::new(doubt)?;
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)?;
        }
        Held::new(trace)
    }

    /// Draws requests by a rule.
    #[staticmethod]
    fn generate(
        py: Python<'_>,
        rule: &str,
        requests: u64,
        seed: u64,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<Held> {
        let spec = generate::spec(rule, requests, options)?;
        let name = rule.to_string();
        let drawn = work::run(py, None, move |work| {
            generate::draw(&spec, &name, requests, seed, work)
        });
        Held::new(drawn?)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn about(&self) -> About {
        let trace = &self.0;
        (
            trace.objects,
            trace.format.map(|format| format.name().to_string()),
            trace.skipped.malformed,
            trace.skipped.writes,
            trace.sample.map(|sample| (sample.one_in, sample.requests)),
        )
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Whether all requests are the same, whatever their file was.
    fn same(&self, other: &Held) -> bool {
        let (mine, theirs) = (&self.0, &other.0);
        Arc::ptr_eq(mine, theirs)
            || (mine.objects == theirs.objects
                && mine.sample == theirs.sample
                && mine.ids == theirs.ids
                && mine.flags == theirs.flags)
    }

    /// Where the ids are, for NumPy: they are not copied, and the array that NumPy makes keeps this object.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let order = if cfg!(target_endian = "little") {
            '<'
        } else {
            '>'
        };
        let read_only = true;
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", format!("{order}u4"))?;
        interface.set_item("shape", (self.0.len(),))?;
        interface.set_item("data", (self.0.ids.as_ptr() as usize, read_only))?;
        Ok(interface)
    }

    /// The ids as bytes of this machine's order.
    fn id_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, self.0.len() * 4, |bytes| {
            for (four, id) in bytes.chunks_exact_mut(4).zip(&self.0.ids) {
                four.copy_from_slice(&id.to_ne_bytes());
            }
            Ok(())
        })
    }

    fn flag_bytes<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let flags = self.0.flags.as_ref()?;
        let bytes: Vec<u8> = flags.iter().map(|flags| flags.0).collect();
        Some(PyBytes::new(py, &bytes))
    }

    /// The ids of requests `from..until`, as Python's integers.
    fn ids<'py>(&self, py: Python<'py>, from: usize, until: usize) -> PyResult<Bound<'py, PyList>> {
        let until = until.min(self.0.len());
        PyList::new(py, &self.0.ids[from.min(until)..until])
    }

    /// The trace of requests `from..until`.
    fn part(&self, from: usize, until: usize) -> PyResult<Held> {
        let until = until.min(self.0.len());
        let from = from.min(until);
        let mut dense = vec![u32::MAX; self.0.objects as usize];
        let mut objects = 0;
        let mut ids = Vec::with_capacity(until - from);
        advise_huge(&mut ids);
        ids.extend(self.0.ids[from..until].iter().map(|&whole| {
            let id = &mut dense[whole as usize];
            if *id == u32::MAX {
                *id = objects;
                objects += 1;
            }
            *id
        }));
        let flags = self.0.flags.as_ref();
        Held::new(Trace {
            name: self.0.name.clone(),
            format: self.0.format,
            ids,
            objects,
            flags: flags.map(|flags| flags[from..until].to_vec()),
            ..Trace::default()
        })
    }

    /// The trace's identity: what `hotset sim` prints of it.
    fn identity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        if let Some(id) = self.1.get() {
            return rows::identity(py, id);
        }
        let trace = Arc::clone(&self.0);
        let id = work::run(py, None, move |_| {
            let input = Input::of(&trace).map_err(errors::value)?;
            let id = TraceId::of(&trace.name, &input);
            Ok(id.sampled(trace.sample).without(&trace.skipped))
        })?;
        rows::identity(py, self.1.get_or_init(|| id))
    }

    /// Statistics of the requests.
    fn stats<'py>(
        &self,
        py: Python<'py>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let trace = Arc::clone(&self.0);
        let stats = work::run(py, progress.as_ref(), move |work| {
            work.expect(trace.len() as u64);
            let mut before = 0;
            let stats = Stats::of(&trace, |done| {
                work.advance(done - before);
                before = done;
            });
            work.advance(trace.len() as u64 - before);
            Ok(stats)
        });
        rows::stats(py, &stats?)
    }
}

/// What a trace is besides its ids and flags, for pickles: objects, format, malformed requests and writes left out; of
/// a sample, that one object in so many was kept, and the requests of the whole trace.
type About = (u32, Option<String>, u64, u64, Option<(u64, u64)>);
