//! Every whole record of a file, in the order of time.
use crate::layout::{Layout, LEAST};
use crate::record::{Header, Record};
use crate::slot::{self, Damage};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The records of a file.
#[derive(Clone, Debug)]
pub struct Flight {
    pub header: Header,
    /// By time, each once.
    pub records: Vec<Record>,
    /// Slots that are not whole.
    pub torn: u64,
}

/// Why a file cannot be read at all.
#[derive(Debug)]
pub enum ReadError {
    Io(io::Error),
    /// Its first line is no header: the file is another program's, or empty.
    NoHeader,
    /// Its first line was being written.
    Torn,
    /// Of another version: its schema.
    Schema(String),
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReadError::Io(error) => write!(f, "{error}"),
            ReadError::NoHeader => f.write_str("it is no file of hotsetd's flight recorder"),
            ReadError::Torn => {
                f.write_str("its first line is damaged; hotsetd makes it anew at its next start")
            }
            ReadError::Schema(schema) => write!(
                f,
                "its schema is {schema:?}; this program reads {:?}",
                Header::SCHEMA
            ),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        ReadError::Io(error)
    }
}

/// The largest slot that is read. Bytes.
const LARGEST_SLOT: u64 = 1 << 20;

/// Reads a file. Slots that are torn or of another program are counted, and left out.
///
/// # Errors
/// The file cannot be read, or is no flight recorder's.
pub fn read(path: &Path) -> Result<Flight, ReadError> {
    let mut file = File::open(path)?;
    let header = header(&mut file)?;
    let size = header.layout.slot as usize;
    let mut bytes = vec![0; size];
    let (mut records, mut torn) = (Vec::new(), 0);
    // The rest of the header's slot was read with it.
    for _ in 1..header.layout.slots() {
        let got = read_full(&mut file, &mut bytes)?;
        if got == 0 {
            break;
        }
        match slot::text(&bytes[..got]) {
            Ok(line) => match serde_json::from_str::<Record>(line) {
                Ok(record) => records.push(record),
                Err(_) => torn += 1,
            },
            Err(Damage::Empty) => {}
            Err(Damage::Torn) => torn += 1,
        }
    }
    // A second's record is in two or three places. Kept copies say why, so they go first.
    records.sort_by(|a: &Record, b| {
        let time = a.unix_s.total_cmp(&b.unix_s);
        let same = time.then_with(|| a.number.cmp(&b.number));
        same.then_with(|| b.kept.is_some().cmp(&a.kept.is_some()))
    });
    records.dedup_by(|again, first| {
        (again.number, &again.boot) == (first.number, &first.boot)
            && again.sample.t == first.sample.t
    });
    Ok(Flight {
        header,
        records,
        torn,
    })
}

/// Reads the header's slot.
fn header(file: &mut File) -> Result<Header, ReadError> {
    let mut first = vec![0; 4096];
    let got = read_full(file, &mut first)?;
    first.truncate(got);
    if !first.starts_with(b"{\"schema\":\"hotset.flight.") {
        return Err(ReadError::NoHeader);
    }
    // The line's end lies in the slot's last byte, so the slot's size shows at the first line break.
    while !first.ends_with(b"\n") && (first.len() as u64) < LARGEST_SLOT {
        let mut more = vec![0; 4096];
        let got = read_full(file, &mut more)?;
        first.extend_from_slice(&more[..got]);
        if got == 0 {
            break;
        }
    }
    let line = slot::text(&first).map_err(|_| ReadError::Torn)?;
    let schema = serde_json::from_str::<serde_json::Value>(line)
        .ok()
        .and_then(|value| Some(value.get("schema")?.as_str()?.to_owned()))
        .ok_or(ReadError::Torn)?;
    if schema != Header::SCHEMA {
        return Err(ReadError::Schema(schema));
    }
    let header: Header = serde_json::from_str(line).map_err(|_| ReadError::Torn)?;
    match is_sound(&header.layout, first.len() as u64) {
        true => Ok(header),
        false => Err(ReadError::Torn),
    }
}

fn is_sound(layout: &Layout, slot: u64) -> bool {
    let parts = [layout.all, layout.seconds, layout.minutes, layout.kept];
    layout.slot == slot && parts.iter().all(|slots| (1..LEAST << 10).contains(slots))
}

/// Fills the buffer as far as the file goes.
fn read_full(file: &mut File, into: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < into.len() {
        match file.read(&mut into[got..]) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}
