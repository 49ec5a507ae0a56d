//! The file of a recording: it has its own name from the start, grows, and is readable wherever it ends.
use anyhow::{anyhow, Context, Result};
use kernfs::samples::Record;
use names::{io_error, shown};
use std::fs::File;
use std::io::{self, ErrorKind, Seek, Write};
use std::path::Path;
use trace::{Packer, Packing};

/// An output, line by line.
pub struct Output {
    /// None once it failed.
    packer: Option<Packer<Box<dyn Write>>>,
    packing: Packing,
    name: String,
    /// The same open file as the packer's. None is an output that cannot be made shorter: a pipe.
    file: Option<File>,
    /// Samples that were written.
    samples: u64,
    /// Samples and bytes that are readable whatever happens next.
    kept: (u64, u64),
}

impl Output {
    /// Creates the file; `-` is standard output.
    ///
    /// # Errors
    /// The file exists and may not be replaced, cannot be created, or has a name of an unknown packing.
    pub fn create(path: &Path, force: bool) -> Result<Self> {
        let new = |to: Box<dyn Write>, packing, name: String, file| Self {
            packer: Some(Packer::new(to, packing)),
            packing,
            name,
            file,
            samples: 0,
            kept: (0, 0),
        };
        if path.as_os_str() == "-" {
            let stdout = Box::new(io::stdout().lock());
            return Ok(new(stdout, Packing::Plain, "standard output".into(), None));
        }
        let file = open(path, force)?;
        let regular = file.metadata().is_ok_and(|about| about.is_file());
        let same = match regular {
            true => file.try_clone().ok(),
            false => None,
        };
        let name = shown(path).to_string();
        Ok(new(Box::new(file), Packing::of_name(path), name, same))
    }

    /// The file, safe for a terminal.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// Writes a sample. With `keep`, it and all samples before it are readable even if the program is killed.
    ///
    /// # Errors
    /// The output cannot be written. The error tells the number of samples that it keeps.
    pub fn write(&mut self, record: &Record, keep: bool) -> Result<()> {
        let mut line = serde_json::to_vec(record).context("writing a sample as JSON")?;
        line.push(b'\n');
        let Some(packer) = &mut self.packer else {
            return Err(anyhow!("{}: an earlier write failed", self.name));
        };
        let written = packer.write_all(&line);
        self.samples += 1;
        // One line in each write of plain text, so that a reader at the other end sees whole samples.
        let keep = keep || self.packing == Packing::Plain;
        let kept = written.and_then(|()| match keep {
            true => packer.flush(),
            false => Ok(()),
        });
        kept.map_err(|cause| self.failed(&cause))?;
        if keep {
            self.keep();
        }
        Ok(())
    }

    /// Ends the file, and returns the number of its samples.
    ///
    /// # Errors
    /// As [`Output::write`].
    pub fn finish(mut self) -> Result<u64> {
        if let Some(packer) = self.packer.take() {
            packer.finish().map_err(|cause| self.failed(&cause))?;
        }
        Ok(self.samples)
    }

    fn keep(&mut self) {
        let length = self.file.as_mut().map(Seek::stream_position);
        match length.transpose() {
            Ok(length) => self.kept = (self.samples, length.unwrap_or(0)),
            Err(_) => self.file = None,
        }
    }

    /// The error of a write. The file is cut back to the last sample that it holds whole.
    fn failed(&mut self, cause: &io::Error) -> anyhow::Error {
        // Encoders write more when they are dropped. That must not be behind the end.
        self.packer = None;
        let (samples, length) = self.kept;
        if let Some(file) = &self.file {
            // Without it the file ends within a sample, and its reader finds the same samples.
            let _ = file.set_len(length);
        }
        anyhow!(
            "{}: cannot write: {}; the {samples} samples before are kept",
            self.name,
            io_error(cause)
        )
    }
}

fn open(path: &Path, force: bool) -> Result<File> {
    let mut options = File::options();
    options.write(true);
    let old = path.metadata();
    match old {
        // Devices and pipes are there to be written to.
        Ok(old) if !old.is_file() => {}
        _ if force => drop(options.create(true).truncate(true)),
        _ => drop(options.create_new(true)),
    }
    let opened = options.open(path);
    Ok(opened.map_err(|cause| match cause.kind() {
        ErrorKind::AlreadyExists => outfile::Error::Exists(path.into()),
        _ => outfile::Error::Io {
            path: path.into(),
            cause,
        },
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernfs::samples::Reader;

    #[test]
    fn a_sample_that_is_kept_is_read_while_the_file_grows() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.jsonl", "a.zst", "a.gz"] {
            let path = dir.path().join(name);
            let mut output = Output::create(&path, false).unwrap();
            for n in 0..200u32 {
                let record = Record {
                    t: f64::from(n),
                    ..Record::default()
                };
                output.write(&record, n % 3 == 0).unwrap();
                let found = Reader::new(trace::open_unpacked(&path).unwrap());
                let found = found.map(Result::unwrap).count() as u32;
                assert!(found > n - n % 3 && found <= n + 1, "{name} {n}: {found}");
            }
            assert_eq!(output.finish().unwrap(), 200);
        }
    }

    /// A disk whose quota is used up after some bytes. It writes what fits, as file systems do.
    struct Quota(File, usize);

    impl Write for Quota {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.1 == 0 {
                return Err(io::Error::from_raw_os_error(libc::EDQUOT));
            }
            let fits = bytes.len().min(self.1);
            self.1 -= fits;
            self.0.write_all(&bytes[..fits])?;
            Ok(fits)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_quota_that_is_used_up_keeps_what_fits() {
        let dir = tempfile::tempdir().unwrap();
        for (name, packing) in [
            ("a", Packing::Plain),
            ("a.zst", Packing::Zstd),
            ("a.gz", Packing::Gzip),
        ] {
            let path = dir.path().join(name);
            let file = File::create(&path).unwrap();
            let disk = Quota(file.try_clone().unwrap(), 5000);
            let mut output = Output {
                packer: Some(Packer::new(Box::new(disk), packing)),
                packing,
                name: name.into(),
                file: Some(file),
                samples: 0,
                kept: (0, 0),
            };
            let mut error = None;
            for n in 0..2000u32 {
                let record = Record {
                    t: f64::from(n) / 7.0,
                    ..Record::default()
                };
                error = output.write(&record, true).err();
                if error.is_some() {
                    break;
                }
            }
            let error = error.unwrap().to_string();
            let found = Reader::new(trace::open_unpacked(&path).unwrap());
            let found = found.map(Result::unwrap).count();
            assert!(found > 5, "{name}: {found}");
            assert!(error.contains(&format!("the {found} samples")), "{error}");
            assert!(error.contains("quota"), "{error}");
        }
    }
}
