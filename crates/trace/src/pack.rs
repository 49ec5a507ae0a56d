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
            Packing::Gzip => Box::new(BufReader::new(Members(MultiGzDecoder::new(input)))),
        },
        packing,
    ))
}

/// What a person makes of it: half a download is common, and the decoder's words for it are not.
fn damaged(rest: &mut impl BufRead, error: &dyn std::fmt::Display) -> io::Error {
    let words = error.to_string();
    // The decoder has no error of its own for it, only the reader's within one of many.
    let ended = ["UnexpectedEof", "fill whole buffer"];
    let ended = ended.iter().any(|end| words.contains(end));
    let words = match rest.fill_buf() {
        Ok([]) if ended => CUT_OFF.to_string(),
        _ => format!("the .zst is damaged: {words}"),
    };
    io::Error::new(io::ErrorKind::InvalidData, words)
}

const CUT_OFF: &str = "the packed file is cut off; get the whole of it";

/// All gzip members, with errors as [`Frames`] has them.
struct Members<R>(MultiGzDecoder<R>);

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::new(io::ErrorKind::InvalidData, CUT_OFF),
            // The file system's own have a number.
            _ if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted => {
                error
            }
            _ => io::Error::new(error.kind(), format!("the .gz is damaged: {error}")),
        })
    }
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

impl<R> Frames<R> {
    /// Of a frame that ended: a changed bit within it may unpack without any other complaint.
    fn check(&self) -> io::Result<()> {
        let kept = self.decoder.get_checksum_from_data();
        if kept.is_some() && kept != self.decoder.get_calculated_checksum() {
            let words = "the .zst is damaged: its contents are not what its checksum is of";
            return Err(io::Error::new(io::ErrorKind::InvalidData, words));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.open {
                if self.input.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                let reset = self.decoder.reset(&mut self.input);
                reset.map_err(|error| damaged(&mut self.input, &error))?;
                self.open = true;
            }
            let got = self.decoder.read(buffer)?;
            if got > 0 || buffer.is_empty() {
                return Ok(got);
            }
            if self.decoder.is_finished() {
                self.open = false;
                self.check()?;
                continue;
            }
            let strategy = BlockDecodingStrategy::UptoBytes(1 << 20);
            let decoded = self.decoder.decode_blocks(&mut self.input, strategy);
            decoded.map_err(|error| damaged(&mut self.input, &error))?;
        }
    }
}
