//! Packed lines: a file of Zstandard frames (RFC 8878), one after the other.
//!
//! A frame is closed every mebibyte, so that a recording that was cut off loses no more than that.
//! Readers must go on after the end of a frame; [`open`] does, and so does zstd(1).
use anyhow::{Context, Result};
use ruzstd::encoding::{compress_to_vec, CompressionLevel};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use trace::Frames;

/// Plain bytes of a frame.
const FRAME: usize = 1 << 20;

/// By name: it ends in `.zst`.
pub fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

/// Opens a file of lines, packed or plain; `-` is standard input, plain.
///
/// # Errors
/// When it cannot be opened.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
    let file = BufReader::new(file);
    Ok(match is_packed(path) {
        true => Box::new(BufReader::new(Frames::new(file))),
        false => Box::new(file),
    })
}

/// Packs what is written.
pub struct Writer<W> {
    output: W,
    plain: Vec<u8>,
}

impl<W: Write> Writer<W> {
    pub fn new(output: W) -> Self {
        Self {
            output,
            plain: Vec::with_capacity(FRAME),
        }
    }

    /// # Errors
    /// The output's own.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.plain.extend_from_slice(bytes);
        match self.plain.len() >= FRAME {
            true => self.frame(),
            false => Ok(()),
        }
    }

    fn frame(&mut self) -> io::Result<()> {
        let packed = compress_to_vec(self.plain.as_slice(), CompressionLevel::Fastest);
        self.plain.clear();
        self.output.write_all(&packed)?;
        self.output.flush()
    }

    /// Writes the last frame.
    ///
    /// # Errors
    /// The output's own.
    pub fn finish(mut self) -> io::Result<()> {
        match self.plain.is_empty() {
            true => Ok(()),
            false => self.frame(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn unpacked(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        Frames::new(bytes).read_to_end(&mut out).map(|_| out)
    }

    #[test]
    fn several_frames_are_one_stream() {
        let mut packed = Vec::new();
        let mut writer = Writer::new(&mut packed);
        let mut plain = Vec::new();
        for n in 0..300_000u32 {
            let line = format!("{{\"n\":{n}}}\n");
            writer.write(line.as_bytes()).unwrap();
            plain.extend_from_slice(line.as_bytes());
        }
        writer.finish().unwrap();
        assert!(plain.len() > 3 * FRAME && packed.len() < plain.len() / 2);
        assert!(unpacked(&packed).unwrap() == plain);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines.zst");
        std::fs::write(&path, &packed).unwrap();
        let mut read = Vec::new();
        open(&path).unwrap().read_to_end(&mut read).unwrap();
        assert!(read == plain);
    }

    #[test]
    fn what_was_cut_off_is_an_error_and_not_an_end() {
        let mut packed = Vec::new();
        let mut writer = Writer::new(&mut packed);
        writer.write(b"one line\n").unwrap();
        writer.finish().unwrap();
        assert_eq!(unpacked(&packed).unwrap(), b"one line\n");
        for end in 1..packed.len() {
            assert!(unpacked(&packed[..end]).is_err(), "{end}");
        }
        assert_eq!(unpacked(b"").unwrap(), b"");
        assert!(unpacked(b"plain text").is_err());
    }
}
