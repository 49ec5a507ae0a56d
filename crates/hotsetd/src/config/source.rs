//! The bytes of a configuration file, which may be any file by mistake.
use crate::config::check::Problem;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Most bytes of a configuration.
const MOST: u64 = 4 << 20;

/// The bytes of a file; `None`: there is no such file.
///
/// # Errors
/// The file cannot be read, or is too long for a configuration.
pub fn bytes(path: &Path) -> Result<Option<Vec<u8>>, Problem> {
    let mut bytes = Vec::new();
    // A device has no end, so no more is read than a configuration may have.
    match File::open(path).and_then(|file| file.take(MOST + 1).read_to_end(&mut bytes)) {
        Ok(length) if length as u64 > MOST => {
            let message = "more than 4 MiB, which no configuration has; name another file";
            Err(Problem::of(path, message.into()))
        }
        Ok(_) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Problem::unreadable(path, &error)),
    }
}

/// The text of a file; `None`: there is no such file.
///
/// # Errors
/// As [`bytes`], or the file is not UTF-8.
pub fn text(path: &Path) -> Result<Option<String>, Problem> {
    let Some(bytes) = bytes(path)? else {
        return Ok(None);
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let ends = good.iter().filter(|&&byte| byte == b'\n').count();
            let message = "bytes that are not UTF-8; is the file a configuration?";
            Err(Problem {
                line: 1 + ends,
                ..Problem::of(path, message.into())
            })
        }
    }
}
