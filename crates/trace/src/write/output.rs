//! A file that is there whole or not at all, packed as its name says.
use crate::{Error, Packing};
use flate2::{write::GzEncoder, Compression};
use ruzstd::encoding::{compress_to_vec, CompressionLevel};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Plain bytes of a Zstandard frame.
const FRAME: usize = 1 << 20;

enum Packer {
    Plain(BufWriter<Box<dyn Write>>),
    Gzip(Box<GzEncoder<Box<dyn Write>>>),
    /// What is still to be packed.
    Zstd(Box<dyn Write>, Vec<u8>),
}

/// Written under another name beside its own, and renamed when it is finished: an interrupted
/// conversion leaves no half trace, and a trace may be converted onto itself.
pub(super) struct Output {
    packer: Packer,
    /// Standard output when none.
    file: Option<PathBuf>,
    partial: PathBuf,
    finished: bool,
}

impl Output {
    /// `-` is standard output.
    pub fn create(path: &Path, packing: Packing) -> Result<Output, Error> {
        let (to, file, partial): (Box<dyn Write>, _, _) = match path.as_os_str() == "-" {
            true => (Box::new(io::stdout()), None, PathBuf::new()),
            false => {
                let mut partial = path.as_os_str().to_owned();
                partial.push(format!(".{}.partial", std::process::id()));
                let partial = PathBuf::from(partial);
                let created = File::create(&partial).map_err(|cause| Error::Io {
                    behind: None,
                    file: path.to_path_buf(),
                    cause,
                })?;
                (Box::new(created), Some(path.to_path_buf()), partial)
            }
        };
        let packer = match packing {
            Packing::Plain => Packer::Plain(BufWriter::with_capacity(1 << 18, to)),
            Packing::Gzip => Packer::Gzip(Box::new(GzEncoder::new(to, Compression::default()))),
            Packing::Zstd => Packer::Zstd(to, Vec::with_capacity(FRAME)),
        };
        Ok(Output {
            packer,
            file,
            partial,
            finished: false,
        })
    }

    /// # Errors
    /// The file's own.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = match &mut self.packer {
            Packer::Plain(to) => to.write_all(bytes),
            Packer::Gzip(to) => to.write_all(bytes),
            Packer::Zstd(to, plain) => {
                plain.extend_from_slice(bytes);
                match plain.len() >= FRAME {
                    true => frame(to, plain),
                    false => Ok(()),
                }
            }
        };
        written.map_err(|e| self.error(e))
    }

    /// Gives the file its name.
    pub fn finish(mut self) -> Result<(), Error> {
        let flushed = match &mut self.packer {
            Packer::Plain(to) => to.flush(),
            Packer::Gzip(to) => to.try_finish().and_then(|()| to.get_mut().flush()),
            Packer::Zstd(to, plain) => frame(to, plain).and_then(|()| to.flush()),
        };
        flushed.map_err(|e| self.error(e))?;
        if let Some(file) = &self.file {
            fs::rename(&self.partial, file).map_err(|e| self.error(e))?;
        }
        self.finished = true;
        Ok(())
    }

    fn error(&self, cause: io::Error) -> Error {
        let output = || PathBuf::from("standard output");
        Error::Io {
            behind: None,
            file: self.file.clone().unwrap_or_else(output),
            cause,
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if !self.finished && self.file.is_some() {
            // Whatever ended it has been told; there may be nothing to remove.
            let _ = fs::remove_file(&self.partial);
        }
    }
}

fn frame(to: &mut Box<dyn Write>, plain: &mut Vec<u8>) -> io::Result<()> {
    if plain.is_empty() {
        return Ok(());
    }
    let packed = compress_to_vec(plain.as_slice(), CompressionLevel::Fastest);
    plain.clear();
    to.write_all(&packed)
}
