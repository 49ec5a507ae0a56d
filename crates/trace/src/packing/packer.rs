//! Packs what is written.
use super::kind::Packing;
use super::zstd::ZstdWriter;
use flate2::{write::GzEncoder, Compression};
use std::io::{self, Write};

/// An output that is packed while it is written.
pub struct Packer<W: Write>(Kind<W>);

enum Kind<W: Write> {
    Plain(W),
    Gzip(GzEncoder<W>),
    Zstd(ZstdWriter<W>),
}

impl<W: Write> Packer<W> {
    pub fn new(output: W, packing: Packing) -> Self {
        Self(match packing {
            Packing::Plain => Kind::Plain(output),
            Packing::Gzip => Kind::Gzip(GzEncoder::new(output, Compression::default())),
            Packing::Zstd => Kind::Zstd(ZstdWriter::new(output)),
        })
    }

    /// Ends the last frame or member, flushes the output and returns it.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn finish(self) -> io::Result<W> {
        let mut output = match self.0 {
            Kind::Plain(output) => output,
            Kind::Gzip(output) => output.finish()?,
            Kind::Zstd(mut output) => {
                output.finish()?;
                output.into_inner()
            }
        };
        output.flush()?;
        Ok(output)
    }
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Plain(output) => output.write(bytes),
            Kind::Gzip(output) => output.write(bytes),
            Kind::Zstd(output) => output.write(bytes).map(|()| bytes.len()),
        }
    }

    /// Makes all bytes so far readable, whether or not more will follow.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Kind::Plain(output) => output.flush(),
            Kind::Gzip(output) => output.flush(),
            Kind::Zstd(output) => output.flush(),
        }
    }
}
