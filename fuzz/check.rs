//! The check that any input of a reader must pass: the reader does not panic, and the same bytes give the
//! same trace whatever the sizes of the reads. The fuzz targets and crates/trace/tests/hostile.rs use it.
use std::io::{Cursor, Read};
use std::path::Path;
use trace::{
    Batch, CsvOptions, Error, Flags, Format, Names, ReadOptions, Reader, Skipped, SpcOptions,
};

/// The most requests that are read: one line may become 65536 requests.
const LIMIT: u64 = 300_000;

/// Everything that a reader returned.
#[derive(Debug, Default, PartialEq)]
struct Output {
    ids: Vec<u64>,
    flags: Vec<Flags>,
    times: Vec<f64>,
    sizes: Vec<u32>,
    skipped: Skipped,
    error: Option<String>,
    malformed: bool,
}

/// A reader that returns at most a few bytes at a time.
struct Dribble(Cursor<Vec<u8>>, usize);

impl Read for Dribble {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = buffer.len().min(self.1);
        self.0.read(&mut buffer[..most])
    }
}

/// The first byte chooses the reader's options, the rest is the file.
pub fn check(format: Option<Format>, data: &[u8]) {
    let Some((&choice, file)) = data.split_first() else {
        return;
    };
    let bit = |n: u8| choice >> n & 1 == 1;
    let options = ReadOptions {
        format,
        skip_bad: false,
        flags: true,
        sizes: true,
        page_size: if bit(0) { 4096 } else { 1 << 16 },
        limit: Some(LIMIT),
        short_times: bit(3),
        budget: None,
        spc: SpcOptions {
            writes: bit(1),
            unit_spaces: bit(2),
            split: bit(3),
            block_size: 512,
        },
        csv: CsvOptions {
            header: bit(4),
            addresses: bit(5),
            writes: bit(1),
            ..CsvOptions::default()
        },
        names: match (bit(6), bit(7)) {
            (true, true) => Names::Numbers,
            (true, false) => Names::Strings,
            _ => Names::Auto,
        },
        progress: None,
    };
    let strict = read(file, usize::MAX, &options);
    let lenient = ReadOptions {
        skip_bad: true,
        ..options.clone()
    };
    let skipping = read(file, usize::MAX, &lenient);
    assert!(!skipping.malformed, "{:?}", skipping.error);
    let pieces = read(file, 1 + usize::from(choice % 7), &lenient);
    let packed = file.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || file.starts_with(&[0x1f, 0x8b]);
    if packed && skipping.error.is_some() {
        // Readers may return more or less of a damaged stream before they notice the damage.
        assert!(pieces.error.is_some());
    } else {
        assert_eq!(skipping, pieces, "in pieces");
    }
    if strict.error.is_none() {
        assert_eq!(strict, skipping);
    }
    // A file that cannot be opened has no count of left-out requests.
    if strict.malformed && skipping.error.is_none() && (skipping.ids.len() as u64) < LIMIT {
        assert!(skipping.skipped.malformed > 0);
        assert!(skipping.skipped.first == strict.error);
    }
    assert!(skipping.ids.len() as u64 <= LIMIT);
    let whole = |column: usize| column == 0 || column == skipping.ids.len();
    assert!(whole(skipping.flags.len()));
    assert!(whole(skipping.times.len()));
    assert!(whole(skipping.sizes.len()));
    assert!(skipping.times.iter().all(|t| t.is_finite() && *t >= 0.0));
}

fn read(file: &[u8], piece: usize, options: &ReadOptions) -> Output {
    let mut output = Output::default();
    let input = Dribble(Cursor::new(file.to_vec()), piece);
    let length = Some(file.len() as u64);
    let mut reader = match Reader::new(Path::new("hostile"), input, length, options) {
        Ok(reader) => reader,
        Err(error) => {
            record(&mut output, error);
            return output;
        }
    };
    let mut batch = Batch::default();
    loop {
        match reader.fill(&mut batch) {
            Ok(true) => {
                output.ids.extend_from_slice(&batch.ids);
                output.flags.extend_from_slice(&batch.flags);
                output.times.extend_from_slice(&batch.times);
                output.sizes.extend_from_slice(&batch.sizes);
            }
            Ok(false) => break,
            Err(error) => {
                record(&mut output, error);
                break;
            }
        }
    }
    output.skipped = reader.skipped().clone();
    output
}

fn record(output: &mut Output, error: Error) {
    output.malformed = matches!(error, Error::Malformed { .. });
    output.error = Some(error.to_string());
}
