//! The file of a knob: its place, its value, and a write that a kill cannot tear.
use crate::actuate::error::Error;
use crate::actuate::journal::Value;
use crate::os::fixed_string::Text;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::path::Path;

/// The file of a knob below `root`: `vm.swappiness` is `proc/sys/vm/swappiness`. A dot within a name
/// is written as a slash, as in sysctl(8). A name that begins with a slash is a path.
pub fn place(root: &Path, knob: &str) -> Text<512> {
    let mut place = Text::new();
    place.put(format_args!("{}/", root.display()));
    if knob.starts_with('/') {
        place.put(format_args!("{}", knob.trim_start_matches('/')));
        return place;
    }
    place.put(format_args!("proc/sys/"));
    for letter in knob.chars() {
        let letter = match letter {
            '.' => '/',
            '/' => '.',
            other => other,
        };
        place.put(format_args!("{letter}"));
    }
    place
}

/// The value in the file.
///
/// # Errors
/// There is no such file, or it cannot be read.
pub(super) fn read(place: &Text<512>) -> Result<Value, Error> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(place.as_str(), flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Err(Error::Missing),
        Err(errno) => return Err(Error::Read(errno)),
    };
    let mut bytes = [0; 256];
    let length = rustix::io::read(file, &mut bytes).map_err(Error::Read)?;
    // Only the first line counts: a file on a disk may hold the rest of an older,
    // longer value behind it.
    let line = bytes[..length].split(|&byte| byte == b'\n').next();
    let line = std::str::from_utf8(line.unwrap_or_default()).unwrap_or_default();
    let value = canonical(chosen(line));
    match value.as_bytes() {
        b"" => Err(Error::Read(Errno::NODATA)),
        _ => Ok(value),
    }
}

/// Writes the file in one piece, without O_TRUNC. Truncated, a file on a disk would be
/// empty for a moment, and a kill would lose the value.
///
/// # Errors
/// As open(2) and write(2).
pub(super) fn write(place: &Text<512>, value: &Value) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::open(place.as_str(), flags, Mode::empty())?;
    let line = Text::<160>::of(format_args!("{value}\n"));
    let written = loop {
        match rustix::io::write(&file, line.as_bytes()) {
            Err(Errno::INTR) => {}
            done => break done?,
        }
    };
    if written != line.as_bytes().len() {
        return Err(Errno::IO);
    }
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode);
    if kind == FileType::RegularFile && !in_the_kernel(&file) {
        rustix::fs::ftruncate(&file, written as u64)?;
    }
    Ok(())
}

/// Whether the file is in procfs, sysfs or cgroupfs, whose files cannot be truncated.
fn in_the_kernel(file: &rustix::fd::OwnedFd) -> bool {
    const PROC: i64 = 0x9fa0;
    const SYSFS: i64 = 0x6265_6572;
    const CGROUP2: i64 = 0x6367_7270;
    rustix::fs::fstatfs(file).is_ok_and(|fs| [PROC, SYSFS, CGROUP2].contains(&fs.f_type))
}

/// The selected value of a list such as `always [madvise] never`. Only that value can be written.
fn chosen(line: &str) -> &str {
    line.split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'))
        .map_or(line, |(chosen, _)| chosen)
}

/// The text with single spaces, and numbers without leading zeros: as the kernel shows them.
pub(super) fn canonical(text: &str) -> Value {
    let mut value = Value::new();
    for (number, word) in text.split_ascii_whitespace().enumerate() {
        let space = if number > 0 { " " } else { "" };
        match word.parse::<i64>() {
            Ok(integer) => value.put(format_args!("{space}{integer}")),
            Err(_) => value.put(format_args!("{space}{word}")),
        }
    }
    value
}
