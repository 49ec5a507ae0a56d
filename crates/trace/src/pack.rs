//! `.zst` and `.gz`: found out by their first bytes, unpacked on the way.
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    Plain,
    /// Zstandard frames (RFC 8878), one after the other.
    Zstd,
    /// gzip members (RFC 1952), one after the other.
    Gzip,
}

impl Packing {
    /// By the name's end.
    pub fn of_name(path: &Path) -> Packing {
        match path.extension().and_then(|e| e.to_str()) {
            Some("zst") => Packing::Zstd,
            Some("gz") => Packing::Gzip,
            _ => Packing::Plain,
        }
    }

    /// By the first bytes.
    pub fn of_contents(start: &[u8]) -> Packing {
        match start {
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            [0x1f, 0x8b, ..] => Packing::Gzip,
            _ => Packing::Plain,
        }
    }
}

/// Unpacks as the first bytes say.
///
/// # Errors
/// The input's own.
pub fn unpack(
    mut input: impl Read + Send + 'static,
) -> io::Result<(Box<dyn Read + Send>, Packing)> {
    // A pipe may give fewer bytes at first than there are to be looked at.
    let mut start = Vec::new();
    input.by_ref().take(4).read_to_end(&mut start)?;
    let packing = Packing::of_contents(&start);
    let input = BufReader::with_capacity(1 << 16, Cursor::new(start).chain(input));
    Ok((
        match packing {
            Packing::Plain => Box::new(input),
            Packing::Zstd => Box::new(Frames::new(input)),
            Packing::Gzip => Box::new(BufReader::new(MultiGzDecoder::new(input))),
        },
        packing,
    ))
}

/// Reads all Zstandard frames as one stream. What is cut off is an error and no end.
pub struct Frames<R> {
    input: R,
    decoder: FrameDecoder,
    /// Within a frame.
    open: bool,
}

impl<R: BufRead> Frames<R> {
    /// From the start of a frame.
    pub fn new(input: R) -> Self {
        Self {
            input,
            decoder: FrameDecoder::new(),
            open: false,
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let invalid = |error: &dyn std::fmt::Display| {
            io::Error::new(io::ErrorKind::InvalidData, format!("zstd: {error}"))
        };
        loop {
            if !self.open {
                if self.input.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                let reset = self.decoder.reset(&mut self.input);
                reset.map_err(|error| invalid(&error))?;
                self.open = true;
            }
            let got = self.decoder.read(buffer)?;
            if got > 0 || buffer.is_empty() {
                return Ok(got);
            }
            if self.decoder.is_finished() {
                self.open = false;
                continue;
            }
            let strategy = BlockDecodingStrategy::UptoBytes(1 << 20);
            let decoded = self.decoder.decode_blocks(&mut self.input, strategy);
            decoded.map_err(|error| invalid(&error))?;
        }
    }
}
