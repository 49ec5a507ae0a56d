//! Reads and writes the kernel's files below /proc and /sys.
use anyhow::{Context, Result};
use std::io::{ErrorKind, Read};

/// Reads a file whole, so that counters which stand together are of one moment.
///
/// # Errors
/// When it cannot be read, naming it.
pub fn read(path: &str) -> Result<String> {
    std::fs::File::open(path)
        .and_then(whole)
        .with_context(|| format!("reading {path}"))
}

/// The kernel counts /proc/vmstat anew for each read(2). The standard library begins with reads of 32 bytes, and
/// switching lru_gen moves thousands of pages from one list's line to another's between two of them. A read of this
/// size takes as much as the kernel gives at once: a page, in which all sizes of lists stand.
const CHUNK: usize = 16 << 10;

fn whole(mut file: impl Read) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    let mut filled = 0;
    loop {
        bytes.resize(filled + CHUNK, 0);
        match file.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    String::from_utf8(bytes).map_err(|error| std::io::Error::new(ErrorKind::InvalidData, error))
}

/// Writes a value.
///
/// # Errors
/// When the kernel refuses it, naming the file and the value.
pub fn write(path: &str, value: &str) -> Result<()> {
    std::fs::write(path, value).with_context(|| format!("writing {value:?} to {path}"))
}

/// The value of one field of /proc/vmstat.
pub fn vmstat_field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        line.strip_prefix(name)?
            .strip_prefix(' ')?
            .trim()
            .parse()
            .ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Like /proc/vmstat: at most a page for each read, and each is of another moment.
    struct Counted(u32);

    impl Read for Counted {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            self.0 += 1;
            if self.0 > 2 {
                return Ok(0);
            }
            let page = format!("moment {}\n", self.0).repeat(4096 / 9);
            let length = page.len().min(into.len());
            into[..length].copy_from_slice(&page.as_bytes()[..length]);
            Ok(length)
        }
    }

    #[test]
    fn a_page_of_counters_is_of_one_moment() {
        let text = whole(Counted(0)).unwrap();
        let of = |moment| text.lines().filter(|line| *line == moment).count();
        assert_eq!((of("moment 1"), of("moment 2")), (4096 / 9, 4096 / 9));
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = read("/proc/no/such").unwrap_err();
        assert!(format!("{error:#}").contains("/proc/no/such"), "{error:#}");
    }
}
