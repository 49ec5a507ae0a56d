//! Opens a trace, and finds out its packing and its format.
use super::source::{Batch, Context, Skipped, Source};
use super::{csv, detect, lackey, oracle, spc, text};
use crate::options::Progress;
use crate::packing::{unpack, Packing};
use crate::{CutOff, Error, Format, ReadOptions};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// Requests of one batch. A request that is split into pages may make it longer.
const BATCH: usize = 8192;

/// Bytes from which the format is guessed.
const START: usize = 4096;

/// The expected number of requests in a file.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The exact number, where the file's length determines it.
    pub exact: Option<u64>,
    /// An estimate that is rarely too low.
    pub guess: u64,
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
    /// Requests that were returned.
    requests: u64,
}

impl Reader {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// The file cannot be read, its format is unknown, or its header is wrong.
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
                problem: "is a folder; name a trace in the folder".into(),
            });
        }
        let length = about.is_file().then_some(about.len());
        Reader::new(path, file, length, options)
    }

    /// Reads from any input. Errors name the input `path`, whose ending determines the format. `length` is
    /// the length of the packed input in bytes.
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
            return Err(context.file(format!(
                "a page size of {size} bytes: expected a power of two"
            )));
        }
        // Blocks of no bytes would all begin at address 0.
        let size = options.spc.block_size;
        if !(1..=1 << 31).contains(&size) {
            return Err(context.file(format!(
                "a block size of {size} bytes: expected 1 to 2147483648"
            )));
        }
        let counted = Counted {
            input,
            read: 0,
            reported: 0,
            length,
            progress: options.progress.clone(),
        };
        let (mut unpacked, packing) = unpack(counted).map_err(|e| context.io(e))?;
        let (start, cut_off) = start_of(&mut unpacked).map_err(|e| context.io(e))?;
        let known = options.format.or_else(|| Format::of_name(path)).is_some();
        if cut_off && start.is_empty() && !known {
            return Err(context.cut_off());
        }
        let format = format_of(&start, options, &context)?;
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
            name: file_name(path),
            context,
            format,
            packing,
            source,
            expected,
            requests: 0,
            left: options.limit.unwrap_or(u64::MAX),
        })
    }

    /// Replaces the contents of `batch` by the next requests. Returns false at the end.
    ///
    /// # Errors
    /// The file cannot be read, or a line is malformed and malformed lines are not skipped.
    pub fn fill(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        loop {
            batch.clear();
            self.context.room = self.left.min(BATCH as u64) as usize;
            let behind = self.requests;
            let mut more = || match self.source.fill(&mut self.context, batch) {
                Err(Error::CutOff { file, .. }) => Err(Error::CutOff {
                    file,
                    requests: behind + batch.ids.len() as u64,
                }),
                filled => filled,
            };
            if self.left == 0 || !more()? {
                batch.clear();
                return Ok(false);
            }
            if batch.ids.len() as u64 > self.left {
                batch.truncate(self.left as usize);
            }
            self.left -= batch.ids.len() as u64;
            self.requests += batch.ids.len() as u64;
            if !batch.ids.is_empty() {
                return Ok(true);
            }
        }
    }

    /// The name of the file without its folder.
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

    /// Does the format have [`crate::Flags`]?
    pub fn has_flags(&self) -> bool {
        self.source.has_flags()
    }

    /// The number of objects so far whose names are strings: their keys are numbers in order of first appearance.
    pub fn names(&self) -> u64 {
        self.source.names()
    }

    /// What each column of CSV is taken for (object, op, time, size, kind, via), with its name or its number
    /// from 1. Empty for other formats.
    pub fn columns(&self) -> Vec<(&'static str, String)> {
        self.source.columns()
    }

    /// A choice that was made without an option, and that its user may not have meant.
    pub fn doubt(&self) -> Option<String> {
        self.source.doubt()
    }

    /// The counts of requests left out so far.
    pub fn skipped(&self) -> &Skipped {
        &self.context.skipped
    }
}

/// The first bytes, and whether the file is cut off within them. The source finds the cut again, behind the requests
/// before it.
fn start_of(input: &mut impl Read) -> io::Result<(Vec<u8>, bool)> {
    let mut start = Vec::new();
    match input.take(START as u64).read_to_end(&mut start) {
        Ok(_) => Ok((start, false)),
        Err(cause) if CutOff::is(&cause) => Ok((start, true)),
        Err(cause) => Err(cause),
    }
}

/// The format of a file that begins with `start`.
fn format_of(start: &[u8], options: &ReadOptions, context: &Context) -> Result<Format, Error> {
    if let Some(format) = options.format {
        return Ok(format);
    }
    let problem = match Format::of_name(&context.file).or_else(|| detect::format_of(start)) {
        _ if detect::is_markup(start) => {
            "a page of HTML or XML, not a trace; --format text reads it as lines"
        }
        Some(format) => return Ok(format),
        None if start.is_empty() => "empty: no trace",
        None => {
            "unknown format: the name says nothing and the contents are binary; \
            --format oracleGeneral reads records of 24 bytes, --format text reads lines"
        }
    };
    Err(context.file(problem))
}

/// The name of a file without its folder, safe for a terminal.
pub fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    names::shown(Path::new(name)).to_string()
}

/// Counts the bytes that are read, and reports progress.
struct Counted<R> {
    input: R,
    read: u64,
    reported: u64,
    length: Option<u64>,
    progress: Option<Progress>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.input.read(buffer)?;
        if let Some(progress) = &self.progress {
            self.read += got as u64;
            if self.read - self.reported >= 1 << 20 {
                self.reported = self.read;
                progress(self.read, self.length);
            }
        }
        Ok(got)
    }
}
