//! A whole trace, decoded and renumbered.
use crate::dense_ids::{Extent, Sample, Sampler};
use crate::{advise_huge, Batch, Error, Flags, Format, ReadOptions, Reader, Renumber, Skipped};
use std::path::Path;

/// Requests of a trace, its objects numbered densely in order of first appearance.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The name of the file without its folder.
    pub name: String,
    /// The format that the file was read as. None for a trace that was not read.
    pub format: Option<Format>,
    /// The object of each request, below `objects`. The array is in huge pages where the kernel has them.
    pub ids: Vec<u32>,
    /// The number of distinct objects: the footprint.
    pub objects: u32,
    /// The flags of each request, as many as `ids`. None where the format has none or
    /// [`ReadOptions::flags`] is off.
    pub flags: Option<Vec<Flags>>,
    /// The size of each request in bytes, as many as `ids`. None where the format has none or
    /// [`ReadOptions::sizes`] is off.
    pub sizes: Option<Vec<u32>>,
    /// The counts of requests left out ([`ReadOptions::skip_bad`]).
    pub skipped: Skipped,
    /// The sample that the trace was cut down to for [`ReadOptions::budget`]; none for a whole trace.
    pub sample: Option<Sample>,
    /// What larger samples would take; none for a whole trace.
    pub extent: Option<Extent>,
}

impl Trace {
    /// Renumbers requests that are in memory already.
    ///
    /// # Panics
    /// With more than `u32::MAX - 1` distinct objects.
    pub fn from_keys(name: &str, keys: &[u64]) -> Trace {
        let mut renumber = Renumber::new(keys.len() as u64);
        let mut ids = Vec::with_capacity(keys.len());
        advise_huge(&mut ids);
        let taken = renumber.extend(keys, &mut ids);
        assert!(taken.is_ok(), "more objects than 32 bits can number");
        Trace {
            name: name.to_string(),
            format: None,
            ids,
            objects: renumber.objects(),
            flags: None,
            sizes: None,
            skipped: Skipped::default(),
            sample: None,
            extent: None,
        }
    }

    /// The number of requests.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Is there no request?
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The share of requests that are the first of their object, which no cache can hit. 0 when empty.
    pub fn compulsory_miss_ratio(&self) -> f64 {
        match self.ids.len() {
            0 => 0.0,
            n => f64::from(self.objects) / n as f64,
        }
    }
}

/// Decodes and renumbers a trace. `-` is standard input.
///
/// Memory: 4 bytes a request, one more with flags and 4 more with sizes; while reading also 22 to 43 bytes an object, or 4 for
/// objects whose numbers are below the number of requests.
///
/// # Errors
/// The file cannot be read, or a line or record is malformed. A trace without any request is an error
/// too: it is a wrong file or a wrong format.
pub fn open(path: &Path, options: &ReadOptions) -> Result<Trace, Error> {
    load(Reader::open(path, options)?, options)
}

/// As [`open`], from a reader that was opened with the same options.
///
/// # Errors
/// As [`open`].
pub fn load(mut reader: Reader, options: &ReadOptions) -> Result<Trace, Error> {
    let with_flags = options.flags && reader.has_flags();
    if let Some(budget) = options.budget {
        let mut sampler = Sampler::new(budget, with_flags);
        let mut batch = Batch::default();
        while reader.fill(&mut batch)? {
            sampler.take(&batch).map_err(|_| too_many(&reader))?;
        }
        if let Some(least) = sampler.too_small() {
            return Err(Error::Budget {
                file: reader.path().to_path_buf(),
                bytes: budget.bytes,
                least,
                extent: Box::new(sampler.extent),
            });
        }
        let objects = sampler.objects();
        let mut trace = finish(&reader, sampler.ids, objects, sampler.flags, with_flags)?;
        trace.sample = (sampler.one_in > 1).then_some(Sample {
            one_in: sampler.one_in,
            requests: sampler.requests,
        });
        trace.extent = trace.sample.map(|_| sampler.extent);
        return Ok(trace);
    }
    let known = reader.expected();
    let mut renumber = Renumber::new(known.exact.unwrap_or(known.guess));
    let mut ids: Vec<u32> = Vec::new();
    let mut flags: Vec<Flags> = Vec::new();
    let mut sizes: Vec<u32> = Vec::new();
    // An exact size saves copies. A guess from the length of a packed file is not reserved.
    let room = known.exact.unwrap_or(0).min(1 << 32) as usize;
    let reserved = ids.try_reserve_exact(room);
    if reserved.is_ok() {
        advise_huge(&mut ids);
    }
    let mut batch = Batch::default();
    while reader.fill(&mut batch)? {
        if ids.capacity() - ids.len() < batch.ids.len() {
            ids.reserve(batch.ids.len());
            advise_huge(&mut ids);
        }
        renumber
            .extend(&batch.ids, &mut ids)
            .map_err(|_| too_many(&reader))?;
        if with_flags {
            flags.extend_from_slice(&batch.flags);
        }
        if options.sizes {
            sizes.extend_from_slice(&batch.sizes);
        }
    }
    let mut trace = finish(&reader, ids, renumber.objects(), flags, with_flags)?;
    // A format without sizes leaves their column empty.
    trace.sizes = (options.sizes && sizes.len() == trace.ids.len()).then_some(sizes);
    Ok(trace)
}

fn too_many(reader: &Reader) -> Error {
    Error::File {
        file: reader.path().to_path_buf(),
        problem: "more than 4294967294 distinct objects: 32 bits cannot number them".into(),
    }
}

fn finish(
    reader: &Reader,
    ids: Vec<u32>,
    objects: u32,
    flags: Vec<Flags>,
    with_flags: bool,
) -> Result<Trace, Error> {
    if ids.is_empty() && reader.skipped().cut_off {
        return Err(Error::CutOff {
            file: reader.path().to_path_buf(),
            requests: 0,
        });
    }
    if ids.is_empty() {
        let left_out = reader.skipped().malformed + reader.skipped().writes;
        return Err(Error::File {
            file: reader.path().to_path_buf(),
            problem: match left_out {
                0 => format!("no request in the file, read as {}", reader.format().name()),
                n => format!("no request left: all {n} were left out"),
            },
        });
    }
    Ok(Trace {
        name: reader.name().to_string(),
        format: Some(reader.format()),
        ids,
        objects,
        flags: with_flags.then_some(flags),
        sizes: None,
        skipped: reader.skipped().clone(),
        sample: None,
        extent: None,
    })
}
