//! Opens a trace, finds out how it is packed and what format it has.
use super::{csv, lackey, oracle, spc, text};
use crate::options::Progress;
use crate::pack::{unpack, Packing};
use crate::{Error, Flags, Format, Place, ReadOptions};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

/// Requests of one batch; a request that is split may make it longer.
const BATCH: usize = 8192;

/// Bytes that the format is guessed from.
const START: usize = 4096;

/// Requests, column by column. Columns beside `ids` are as long or, where the format does not tell,
/// empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// As the file has them; strings are numbered in order of first appearance.
    pub ids: Vec<u64>,
    pub flags: Vec<Flags>,
    /// Seconds, from the file's own beginning.
    pub times: Vec<f64>,
    /// Bytes.
    pub sizes: Vec<u32>,
}

impl Batch {
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.flags.clear();
        self.times.clear();
        self.sizes.clear();
    }

    fn truncate(&mut self, requests: usize) {
        self.ids.truncate(requests);
        self.flags.truncate(requests);
        self.times.truncate(requests);
        self.sizes.truncate(requests);
    }
}

/// What was left out of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Malformed lines or records.
    pub malformed: u64,
    /// The first of them, in words.
    pub first: Option<String>,
    /// Writes that were to be dropped.
    pub writes: u64,
}

/// How many requests there will be.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// Known from the file's length.
    pub exact: Option<u64>,
    /// An upper bound that is rarely wrong.
    pub guess: u64,
}

/// A format's own half.
pub(crate) trait Source: Send {
    /// Appends some requests to the empty `batch`; false at the end.
    fn fill(&mut self, context: &mut Context, batch: &mut Batch) -> Result<bool, Error>;
    /// Does the format tell [`Flags`]?
    fn has_flags(&self) -> bool;
}

/// Whose file it is and what happens to malformed lines.
pub(crate) struct Context {
    pub file: PathBuf,
    pub skip_bad: bool,
    pub skipped: Skipped,
    /// Requests to be read at once: what lies behind the limit is none of our business.
    pub room: usize,
}

impl Context {
    /// Something is malformed: an error, or counted and left out.
    pub fn bad(&mut self, place: Place, expected: &str, found: &[u8]) -> Result<(), Error> {
        self.malformed(place, expected, quoted(found))
    }

    /// Likewise; `found` is in words already.
    pub fn malformed(&mut self, place: Place, expected: &str, found: String) -> Result<(), Error> {
        let error = Error::Malformed {
            file: self.file.clone(),
            place,
            expected: expected.to_string(),
            found,
        };
        if !self.skip_bad {
            return Err(error);
        }
        self.skipped.malformed += 1;
        if self.skipped.first.is_none() {
            self.skipped.first = Some(error.to_string());
        }
        Ok(())
    }

    pub fn io(&self, cause: io::Error) -> Error {
        Error::Io {
            file: self.file.clone(),
            behind: None,
            cause,
        }
    }

    /// Likewise, behind what could be read.
    pub fn io_behind(&self, place: Place, cause: io::Error) -> Error {
        let (Place::Line(number) | Place::Record(number)) = place;
        Error::Io {
            file: self.file.clone(),
            behind: (number > 0).then_some(place),
            cause,
        }
    }

    pub fn file(&self, problem: impl Into<String>) -> Error {
        Error::File {
            file: self.file.clone(),
            problem: problem.into(),
        }
    }
}

/// A malformed line for a person: short, and nothing that a terminal would act upon.
fn quoted(bytes: &[u8]) -> String {
    const LONGEST: usize = 60;
    let (shown, more) = match bytes.len() > LONGEST {
        true => (&bytes[..LONGEST], "..."),
        false => (bytes, ""),
    };
    match shown.is_empty() {
        true => "nothing".to_string(),
        false => format!("\"{}\"{more}", shown.escape_ascii()),
    }
}

/// A trace being read.
pub struct Reader {
    context: Context,
    name: String,
    format: Format,
    packing: Packing,
    source: Box<dyn Source>,
    expected: Expected,
    left: u64,
}

impl Reader {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// When it cannot be read, its format cannot be told, or its header is wrong.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Reader, Error> {
        let failed = |cause| Error::Io {
            file: path.to_path_buf(),
            behind: None,
            cause,
        };
        if path.as_os_str() == "-" {
            return Reader::new(Path::new("standard input"), io::stdin(), None, options);
        }
        let file = File::open(path).map_err(failed)?;
        let about = file.metadata().map_err(failed)?;
        if about.is_dir() {
            return Err(Error::File {
                file: path.to_path_buf(),
                problem: "a folder; name a trace in it".into(),
            });
        }
        let length = about.is_file().then_some(about.len());
        Reader::new(path, file, length, options)
    }

    /// Reads from anything; `path` is what errors call it and tells the format. `length` is in bytes,
    /// packed.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn new(
        path: &Path,
        input: impl Read + Send + 'static,
        length: Option<u64>,
        options: &ReadOptions,
    ) -> Result<Reader, Error> {
        let context = Context {
            file: path.to_path_buf(),
            skip_bad: options.skip_bad,
            skipped: Skipped::default(),
            room: BATCH,
        };
        if !options.page_size.is_power_of_two() {
            let size = options.page_size;
            return Err(context.file(format!("page size {size}: a power of two is needed")));
        }
        let counted = Counted {
            input,
            read: 0,
            told: 0,
            length,
            progress: options.progress.clone(),
        };
        let (mut unpacked, packing) = unpack(counted).map_err(|e| context.io(e))?;
        let mut start = Vec::new();
        let read = unpacked.by_ref().take(START as u64).read_to_end(&mut start);
        read.map_err(|e| context.io(e))?;
        let format = options
            .format
            .or_else(|| Format::of_name(path))
            .or_else(|| Format::of_contents(&start));
        let format = match format {
            Some(format) => format,
            None if start.is_empty() => return Err(context.file("empty: no trace")),
            None => {
                return Err(context
                    .file("neither its name nor its contents tell the format; --format does"))
            }
        };
        let expected = Expected {
            exact: match (format, packing) {
                (Format::OracleGeneral, Packing::Plain) => {
                    length.map(|l| l / oracle::RECORD as u64)
                }
                _ => None,
            },
            guess: length.unwrap_or(1 << 16) / if packing == Packing::Plain { 4 } else { 1 },
        };
        let delimiter = options
            .csv
            .delimiter
            .unwrap_or_else(|| csv::delimiter_of(&start));
        let input: Box<dyn Read + Send> = Box::new(Cursor::new(start).chain(unpacked));
        let mut context = context;
        let source: Box<dyn Source> = match format {
            Format::OracleGeneral => Box::new(oracle::Oracle::new(input)),
            Format::Spc => Box::new(spc::Spc::new(input, options)),
            Format::Csv => Box::new(csv::Csv::new(input, options, delimiter, &mut context)?),
            Format::Text => Box::new(text::Text::new(input, options)),
            Format::Lackey => Box::new(lackey::Lackey::new(input, options)),
        };
        Ok(Reader {
            name: short_name(path),
            context,
            format,
            packing,
            source,
            expected,
            left: options.limit.unwrap_or(u64::MAX),
        })
    }

    /// Replaces the contents of `batch` by the next requests; false at the end.
    ///
    /// # Errors
    /// What cannot be read, and what is malformed unless that is to be skipped.
    pub fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        loop {
            batch.clear();
            self.context.room = self.left.min(BATCH as u64) as usize;
            if self.left == 0 || !self.source.fill(&mut self.context, batch)? {
                batch.clear();
                return Ok(false);
            }
            if batch.ids.len() as u64 > self.left {
                batch.truncate(self.left as usize);
            }
            self.left -= batch.ids.len() as u64;
            if !batch.ids.is_empty() {
                return Ok(true);
            }
        }
    }

    /// The file's name without folder and endings.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn path(&self) -> &Path {
        &self.context.file
    }

    pub fn format(&self) -> Format {
        self.format
    }

    pub fn packing(&self) -> Packing {
        self.packing
    }

    pub fn expected(&self) -> Expected {
        self.expected
    }

    /// Does the format tell [`Flags`]?
    pub fn has_flags(&self) -> bool {
        self.source.has_flags()
    }

    /// What was left out so far.
    pub fn skipped(&self) -> &Skipped {
        &self.context.skipped
    }
}

fn short_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy();
    let mut name = name.as_ref();
    let endings = [
        ".zst",
        ".gz",
        ".bin",
        ".oracleGeneral",
        ".csv",
        ".tsv",
        ".txt",
        ".spc",
        ".lackey",
        ".trace",
    ];
    for ending in endings {
        name = name.strip_suffix(ending).unwrap_or(name);
    }
    match name.is_empty() {
        true => "trace".to_string(),
        false => name.to_string(),
    }
}

/// Tells of progress.
struct Counted<R> {
    input: R,
    read: u64,
    told: u64,
    length: Option<u64>,
    progress: Option<Progress>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.input.read(buffer)?;
        if let Some(progress) = &self.progress {
            self.read += got as u64;
            if self.read - self.told >= 1 << 20 {
                self.told = self.read;
                progress(self.read, self.length);
            }
        }
        Ok(got)
    }
}
