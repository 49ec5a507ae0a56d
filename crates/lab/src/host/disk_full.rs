//! Errors of a full disk, with advice.
use rustix::io::Errno;

/// The same I/O error; with advice where the disk, the quota or the file size limit is exhausted.
pub fn explained(error: std::io::Error) -> std::io::Error {
    let full = [Errno::NOSPC, Errno::DQUOT, Errno::FBIG];
    match Errno::from_io_error(&error) {
        Some(errno) if full.contains(&errno) => std::io::Error::new(
            error.kind(),
            format!("{error}: make room on that disk; files that were complete stay intact"),
        ),
        _ => error,
    }
}
