//! The file of a trace that is written, packed block by block.
use crate::{Error, Packer, Packing};
use outfile::{OutFile, Rules};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Plain bytes of a packed file's block. Each block unpacks by itself, so a cut between two blocks leaves a good
/// file.
const BLOCK: usize = 1 << 20;
const PLAIN_BLOCK: usize = 1 << 18;

/// A trace that is being written. Its file appears when it is finished.
pub(super) struct Output {
    /// None is standard output, or a file that is finished.
    file: Option<OutFile>,
    name: PathBuf,
    packing: Packing,
    /// Plain bytes that are not written yet, and the number of their requests.
    block: Vec<u8>,
    requests: u64,
    /// The bytes of all blocks that are written whole, and the number of their requests.
    whole: (u64, u64),
}

impl Output {
    /// `-` is standard output.
    pub fn create(path: &Path, packing: Packing, rules: Rules) -> Result<Output, Error> {
        let (file, name) = match path.as_os_str() == "-" {
            true => (None, "standard output".into()),
            false => (Some(OutFile::create(path, rules)?), path.into()),
        };
        Ok(Output {
            file,
            name,
            packing,
            block: Vec::new(),
            requests: 0,
            whole: (0, 0),
        })
    }

    /// Adds whole lines or records.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, bytes: &[u8], requests: u64) -> Result<(), Error> {
        self.block.extend_from_slice(bytes);
        self.requests += requests;
        let most = match self.packing {
            Packing::Plain => PLAIN_BLOCK,
            Packing::Zstd | Packing::Gzip => BLOCK,
        };
        match self.block.len() >= most {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Ends the file and gives it its name.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.flush()?;
        match self.file.take() {
            Some(file) => Ok(file.finish()?),
            None => Ok(()),
        }
    }

    /// Gives the file its name with the blocks that are written whole. Returns the number of their requests.
    /// Where there is no block, there is no file.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn cut(&mut self) -> Result<u64, Error> {
        let (bytes, requests) = self.whole;
        let Some(mut file) = self.file.take().filter(|_| requests > 0) else {
            return Ok(0);
        };
        file.cut(bytes)?;
        file.finish()?;
        Ok(requests)
    }

    /// Packs and writes the block.
    fn flush(&mut self) -> Result<(), Error> {
        let written = packed(self.packing, &self.block).and_then(|packed| {
            let block = packed.as_deref().unwrap_or(&self.block);
            match &mut self.file {
                Some(file) => file.write_all(block)?,
                None => {
                    let mut out = io::stdout().lock();
                    out.write_all(block)?;
                    out.flush()?;
                }
            }
            Ok(block.len() as u64)
        });
        let bytes = written.map_err(|cause| Error::written(&self.name, cause))?;
        self.whole.0 += bytes;
        self.whole.1 += std::mem::take(&mut self.requests);
        self.block.clear();
        Ok(())
    }
}

/// A block as it stands in the file. None: as it is.
fn packed(packing: Packing, block: &[u8]) -> io::Result<Option<Vec<u8>>> {
    if block.is_empty() || packing == Packing::Plain {
        return Ok(None);
    }
    let mut packer = Packer::new(Vec::new(), packing);
    packer.write_all(block)?;
    packer.finish().map(Some)
}
