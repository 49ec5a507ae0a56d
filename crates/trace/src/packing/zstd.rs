//! Zstandard (RFC 8878): files of frames, one after the other, read as one stream and written a
//! mebibyte a frame.
use std::io::{self, BufRead, Write};
use zstd::stream::{read::Decoder, write::Encoder};

/// Plain bytes after which a frame ends. The checksum lies at a frame's end: of longer frames, more would be
/// unchecked after a crash; shorter frames have less to refer to, and compress worse.
const FRAME: usize = 1 << 20;

/// Of an hour of samples, each flushed, level 1 makes 4% of the plain bytes. Level 3 makes a sixth more, and level 9
/// a quarter less in five times the time.
const LEVEL: i32 = 1;

/// Reads all frames as one stream.
pub(super) fn decoder<R: BufRead>(input: R) -> io::Result<Decoder<'static, R>> {
    Decoder::with_buffer(input)
}

/// Writes Zstandard frames. A file that was cut off is readable up to the last [`ZstdWriter::flush`], or to
/// the last whole block of 128 KiB.
pub struct ZstdWriter<W> {
    output: W,
    /// The frame that has begun. Its bytes go to memory first, so that an output that fails leaves no
    /// encoder in an unknown state.
    frame: Option<Encoder<'static, Vec<u8>>>,
    /// Plain bytes of the frame.
    plain: usize,
}

impl<W: Write> ZstdWriter<W> {
    pub fn new(output: W) -> Self {
        Self {
            output,
            frame: None,
            plain: 0,
        }
    }

    /// Adds plain bytes, and ends the frame when it is long enough.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let frame = match &mut self.frame {
            Some(frame) => frame,
            None => {
                let mut frame = Encoder::new(Vec::new(), LEVEL)?;
                frame.include_checksum(true)?;
                self.frame.insert(frame)
            }
        };
        frame.write_all(bytes)?;
        self.plain += bytes.len();
        match self.plain >= FRAME {
            true => self.end_frame(),
            false => self.pass_on(),
        }
    }

    /// Makes all bytes so far readable: ends the block, not the frame, and flushes the output. Later blocks
    /// still refer to earlier ones, which samples need: they resemble each other. A flush after each sample adds a
    /// third to the file; a frame for each would make it twelve times as long.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        if let Some(frame) = &mut self.frame {
            frame.flush()?;
        }
        self.pass_on()?;
        self.output.flush()
    }

    /// Ends the last frame and flushes the output.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(&mut self) -> io::Result<()> {
        self.end_frame()?;
        self.output.flush()
    }

    /// The output. Bytes that were not finished are lost.
    pub fn into_inner(self) -> W {
        self.output
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.plain = 0;
        match self.frame.take() {
            Some(frame) => self.output.write_all(&frame.finish()?),
            None => Ok(()),
        }
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let Some(frame) = &mut self.frame else {
            return Ok(());
        };
        let packed = std::mem::take(frame.get_mut());
        self.output.write_all(&packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn unpacked(bytes: &[u8]) -> (Vec<u8>, bool) {
        let mut out = Vec::new();
        let whole = decoder(bytes).unwrap().read_to_end(&mut out).is_ok();
        (out, whole)
    }

    #[test]
    fn several_frames_are_one_stream() {
        let mut writer = ZstdWriter::new(Vec::new());
        let mut plain = Vec::new();
        for n in 0..300_000u32 {
            let line = format!("{{\"n\":{n}}}\n");
            writer.write(line.as_bytes()).unwrap();
            plain.extend_from_slice(line.as_bytes());
        }
        writer.finish().unwrap();
        let packed = writer.into_inner();
        assert!(plain.len() > 3 * FRAME && packed.len() < plain.len() / 2);
        let magic = [0x28, 0xb5, 0x2f, 0xfd];
        let frames = packed.windows(4).filter(|bytes| *bytes == magic).count();
        assert!(frames > 3);
        assert!(unpacked(&packed) == (plain, true));
    }

    #[test]
    fn whatever_was_flushed_is_read_without_the_rest() {
        let mut writer = ZstdWriter::new(Vec::new());
        let mut plain = Vec::new();
        for n in 0..400u32 {
            let line = format!("{n} {}\n", "a line of a sample ".repeat(300));
            writer.write(line.as_bytes()).unwrap();
            writer.flush().unwrap();
            plain.extend_from_slice(line.as_bytes());
            if n % 20 == 0 || plain.len() % FRAME < 10_000 {
                assert!(unpacked(&writer.output).0 == plain, "{n}");
            }
        }
        assert!(plain.len() > 2 * FRAME);
        // Blocks of a frame refer to each other, so each line alone would be many times as long.
        assert!(writer.output.len() < 400 * 60);
    }

    #[test]
    fn nothing_is_written_of_nothing() {
        let mut writer = ZstdWriter::new(Vec::new());
        writer.flush().unwrap();
        writer.finish().unwrap();
        assert!(writer.into_inner().is_empty());
    }
}
