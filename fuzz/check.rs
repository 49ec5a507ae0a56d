//! What must hold for whatever bytes a reader is given: nothing panics, and the same bytes are the
//! same trace however they arrive. Used by the fuzz targets and by crates/trace/tests/hostile.rs.
use std::io::{Cursor, Read};
use std::path::Path;
use trace::{
    Batch, CsvOptions, Error, Flags, Format, Names, ReadOptions, Reader, Skipped, SpcOptions,
};

/// Requests that are looked at: a request may be split into 65536.
const LIMIT: u64 = 300_000;

/// Everything that a reader said.
#[derive(Debug, Default, PartialEq)]
struct Said {
    ids: Vec<u64>,
    flags: Vec<Flags>,
    times: Vec<f64>,
    sizes: Vec<u32>,
    skipped: Skipped,
    error: Option<String>,
    malformed: bool,
}

/// Gives no more than a few bytes at a time.
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
        page_size: if bit(0) { 4096 } else { 1 << 16 },
        limit: Some(LIMIT),
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
    let strict = said(file, usize::MAX, &options);
    let lenient = ReadOptions {
        skip_bad: true,
        ..options.clone()
    };
    let skipping = said(file, usize::MAX, &lenient);
    assert!(!skipping.malformed, "{:?}", skipping.error);
    let pieces = said(file, 1 + usize::from(choice % 7), &lenient);
    let packed = file.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) || file.starts_with(&[0x1f, 0x8b]);
    if packed && skipping.error.is_some() {
        // How much of a damaged stream comes out before the damage is seen may differ.
        assert!(pieces.error.is_some());
    } else {
        assert_eq!(skipping, pieces, "in pieces");
    }
    if strict.error.is_none() {
        assert_eq!(strict, skipping);
    }
    // What was left out before a file could not be opened is not told.
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

fn said(file: &[u8], piece: usize, options: &ReadOptions) -> Said {
    let mut said = Said::default();
    let input = Dribble(Cursor::new(file.to_vec()), piece);
    let length = Some(file.len() as u64);
    let mut reader = match Reader::new(Path::new("hostile"), input, length, options) {
        Ok(reader) => reader,
        Err(error) => {
            tell(&mut said, error);
            return said;
        }
    };
    let mut batch = Batch::default();
    loop {
        match reader.fill(&mut batch) {
            Ok(true) => {
                said.ids.extend_from_slice(&batch.ids);
                said.flags.extend_from_slice(&batch.flags);
                said.times.extend_from_slice(&batch.times);
                said.sizes.extend_from_slice(&batch.sizes);
            }
            Ok(false) => break,
            Err(error) => {
                tell(&mut said, error);
                break;
            }
        }
    }
    said.skipped = reader.skipped().clone();
    said
}

fn tell(said: &mut Said, error: Error) {
    said.malformed = matches!(error, Error::Malformed { .. });
    said.error = Some(error.to_string());
}
