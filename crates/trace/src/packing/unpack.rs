//! Unpacks `.zst` and `.gz` while they are read. The first bytes identify the packing.
use super::cut_off::CutOff;
use super::kind::Packing;
use super::zstd::decoder;
use crate::Error;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::Path;

/// Opens a file, packed or plain, to read its plain contents. `-` is standard input.
///
/// A packed file that was cut off is read as far as it goes; then reading fails with [`CutOff`].
///
/// # Errors
/// The file cannot be opened or read, or has a packing other than those of [`Packing`].
pub fn open_unpacked(path: &Path) -> Result<Box<dyn BufRead>, Error> {
    Ok(open_packed(path)?.0)
}

/// As [`open_unpacked`], with the packing.
///
/// # Errors
/// As [`open_unpacked`].
pub fn open_packed(path: &Path) -> Result<(Box<dyn BufRead>, Packing), Error> {
    let opened = match path.as_os_str() == "-" {
        true => unpack(io::stdin()),
        false => File::open(path).and_then(unpack),
    };
    match opened {
        Ok((input, packing)) => Ok((Box::new(BufReader::new(input)), packing)),
        Err(cause) => Err(Error::Io {
            file: match path.as_os_str() == "-" {
                true => "standard input".into(),
                false => path.to_path_buf(),
            },
            behind: None,
            cause,
        }),
    }
}

/// Unpacks `input` by its first bytes, and returns the packing.
///
/// # Errors
/// The input cannot be read, or has a packing that is not supported.
pub fn unpack(
    mut input: impl Read + Send + 'static,
) -> io::Result<(Box<dyn Read + Send>, Packing)> {
    // The first read from a pipe may return fewer bytes than the check needs.
    let mut start = Vec::new();
    let most = Packing::START as u64;
    input.by_ref().take(most).read_to_end(&mut start)?;
    if let Some(name) = Packing::unsupported_contents(&start) {
        let message =
            format!("compressed as .{name}; decompress it first, or pack it as .zst or .gz");
        return Err(io::Error::new(ErrorKind::InvalidData, message));
    }
    let packing = Packing::of_contents(&start);
    // An end that was found is kept: what a growing file gains later is no longer what was identified.
    let rest = match (start.len() as u64) < most {
        true => 0,
        false => u64::MAX,
    };
    let input = Cursor::new(start).chain(input.take(rest));
    let input = BufReader::with_capacity(1 << 16, input);
    Ok((
        match packing {
            Packing::Plain => Box::new(input),
            Packing::Zstd => Box::new(Unpacked::new(".zst", decoder(input)?)),
            Packing::Gzip => {
                let members = Unpacked::new(".gz", MultiGzDecoder::new(input));
                Box::new(BufReader::new(members))
            }
        },
        packing,
    ))
}

/// A decoder whose errors a user can act upon. Incomplete files are common.
struct Unpacked<R> {
    decoder: R,
    kind: &'static str,
    cut_off: bool,
}

impl<R> Unpacked<R> {
    fn new(kind: &'static str, decoder: R) -> Self {
        Self {
            decoder,
            kind,
            cut_off: false,
        }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A reader that took the bytes before the cut must find the cut again.
        if self.cut_off {
            return Err(CutOff.into());
        }
        self.decoder.read(buffer).map_err(|error| {
            // Only errors of the file system have an OS error number.
            if error.raw_os_error().is_some() || error.kind() == ErrorKind::Interrupted {
                return error;
            }
            if error.kind() == ErrorKind::UnexpectedEof {
                self.cut_off = true;
                return CutOff.into();
            }
            let why = error.to_string().to_lowercase();
            let message = format!("the {} is damaged: {why}", self.kind);
            io::Error::new(ErrorKind::InvalidData, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An input that ends, and goes on when it is read again, as a file does that is being written.
    struct Growing(Vec<&'static [u8]>);

    impl Read for Growing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.pop() {
                Some(part) => (&mut &*part).read(buffer),
                None => Ok(0),
            }
        }
    }

    #[test]
    fn what_a_file_gains_after_its_first_bytes_were_looked_for_is_not_read() {
        for start in [&b""[..], b"one\n"] {
            let (mut input, packing) = unpack(Growing(vec![b"more\n", b"", start])).unwrap();
            let mut found = Vec::new();
            input.read_to_end(&mut found).unwrap();
            assert_eq!((found.as_slice(), packing), (start, Packing::Plain));
        }
    }
}
