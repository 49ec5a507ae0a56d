//! Reads of files, those of pages in memory too.
//!
//! The source is the kernel's tracepoint `mm_filemap_get_pages` (Linux 6.11 on), in a trace instance of the
//! daemon's own. It gives a few lines for each megabyte that is read. The tracepoint's filter lets an
//! eighth of the reads through.
//!
//! fanotify is no alternative: its events name files, not parts of files, and they slow every open(2) and
//! read(2) of the machine.
use policy::stack_distance::{Part, PART};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const TRACEFS: [&str; 2] = ["sys/kernel/tracing", "sys/kernel/debug/tracing"];
const INSTANCE: &str = "instances/hotset";
const EVENT: &str = "events/filemap/mm_filemap_get_pages";
/// Lets reads through that begin in the first 128 KiB of a part. A program that reads less than a part at a
/// time begins there.
const FILTER: &str = "!(index & 224)";
/// KiB of the buffer of each CPU. A line has some 70 bytes. When the buffer is full, the oldest lines are
/// lost.
const BUFFER_KB: &str = "64";

/// A read of a part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadEvent {
    /// The thread that read.
    pub tid: u32,
    pub part: Part,
}

/// The trace instance. Dropping it removes the instance.
pub struct ReadEvents {
    pipe: File,
    instance: PathBuf,
    text: Vec<u8>,
    /// Bytes of a line whose end is still to come.
    rest: usize,
}

/// Removes the trace instance that a killed daemon has left.
pub fn remove_stale_instance(root: &Path) {
    for tracefs in TRACEFS {
        let _ = std::fs::remove_dir(root.join(tracefs).join(INSTANCE));
    }
}

impl ReadEvents {
    /// Sets up the trace instance below `root`.
    ///
    /// # Errors
    /// Where tracefs is not mounted or may not be written, or the kernel has no such tracepoint.
    pub fn open(root: &Path) -> io::Result<ReadEvents> {
        let mut places = TRACEFS.iter().map(|tracefs| root.join(tracefs));
        let tracefs = places.find(|place| place.join(EVENT).is_dir());
        let tracefs = tracefs.ok_or_else(|| {
            let message = format!(
                "/{}/{EVENT} is missing: it needs Linux 6.11 and a mounted tracefs",
                TRACEFS[0]
            );
            io::Error::new(io::ErrorKind::NotFound, message)
        })?;
        let instance = tracefs.join(INSTANCE);
        let _ = std::fs::remove_dir(&instance);
        match std::fs::create_dir(&instance) {
            // Another reader keeps the instance busy, so it could not be removed. The daemon uses it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
        let opened = ReadEvents::set_up(&instance);
        if opened.is_err() {
            let _ = std::fs::remove_dir(&instance);
        }
        Ok(ReadEvents {
            pipe: opened?,
            instance,
            text: vec![0; 16 << 10],
            rest: 0,
        })
    }

    fn set_up(instance: &Path) -> io::Result<File> {
        let put = |file: &str, value: &str| {
            let path = instance.join(file);
            let named = |error| io::Error::other(format!("{}: {error}", path.display()));
            std::fs::write(&path, value).map_err(named)
        };
        put("buffer_size_kb", BUFFER_KB)?;
        put(&format!("{EVENT}/filter"), FILTER)?;
        put(&format!("{EVENT}/enable"), "1")?;
        let mut options = std::fs::OpenOptions::new();
        options.read(true).custom_flags(libc::O_NONBLOCK);
        options.open(instance.join("trace_pipe"))
    }

    /// Hands the reads since the last call to `observe`. Waits for nothing.
    pub fn drain(&mut self, mut observe: impl FnMut(ReadEvent)) {
        // The bound ends the loop when programs read faster than this thread parses.
        for _ in 0..64 {
            let Ok(length @ 1..) = self.pipe.read(&mut self.text[self.rest..]) else {
                return;
            };
            let end = self.rest + length;
            let lines = self.text[..end].iter().rposition(|&byte| byte == b'\n');
            let whole = lines.map_or(0, |at| at + 1);
            for line in self.text[..whole].split(|&byte| byte == b'\n') {
                if let Some(event) = std::str::from_utf8(line).ok().and_then(parse) {
                    observe(event);
                }
            }
            self.text.copy_within(whole..end, 0);
            self.rest = end - whole;
            if self.rest == self.text.len() {
                self.rest = 0;
            }
        }
    }
}

impl Drop for ReadEvents {
    fn drop(&mut self) {
        // An open pipe keeps the instance busy. If it cannot be removed now, the next start removes it.
        let _ = std::fs::write(self.instance.join(EVENT).join("enable"), "0");
        if let Ok(null) = File::open("/dev/null") {
            self.pipe = null;
        }
        let _ = std::fs::remove_dir(&self.instance);
    }
}

/// Parses a line such as
/// `  name-123  [000] .....  12.3: mm_filemap_get_pages: dev=98:0 ino=c ofs=1048576-1179647`. The name may
/// hold any character.
fn parse(line: &str) -> Option<ReadEvent> {
    let (before, after) = line.rsplit_once("mm_filemap_get_pages: ")?;
    let (task, _) = before.rsplit_once('[')?;
    let (_, tid) = task.trim_end().rsplit_once('-')?;
    let mut fields = after.split_ascii_whitespace();
    let (major, minor) = fields.next()?.strip_prefix("dev=")?.split_once(':')?;
    let inode = fields.next()?.strip_prefix("ino=")?;
    let (offset, _) = fields.next()?.strip_prefix("ofs=")?.split_once('-')?;
    Some(ReadEvent {
        tid: tid.parse().ok()?,
        part: Part {
            device: (major.parse().ok()?, minor.parse().ok()?),
            inode: u64::from_str_radix(inode, 16).ok()?,
            at: offset.parse::<u64>().ok()? / PART,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = " my [1] prog-38   [000] .....  3.456: mm_filemap_get_pages: \
                        dev=98:16 ino=1f ofs=3145728-3276799\n";

    fn event() -> ReadEvent {
        ReadEvent {
            tid: 38,
            part: Part {
                device: (98, 16),
                inode: 31,
                at: 3,
            },
        }
    }

    #[test]
    fn only_lines_of_the_tracepoint_are_parsed() {
        assert_eq!(parse(LINE.trim_end()), Some(event()));
        assert_eq!(parse("CPU:0 [LOST 12 EVENTS]"), None);
        assert_eq!(
            parse("mm_filemap_get_pages: dev=98:16 ino=1f ofs=0-1"),
            None
        );
    }

    #[test]
    fn a_line_in_two_pieces_is_one_event() {
        let root = tempfile::tempdir().unwrap();
        let pipe = root.path().join("pipe");
        let put = |text: &str| std::fs::write(&pipe, text).unwrap();
        let mut found = Vec::new();
        put(&LINE[..40]);
        let mut reads = ReadEvents {
            pipe: File::open(&pipe).unwrap(),
            instance: root.path().join("none"),
            text: vec![0; 256],
            rest: 0,
        };
        reads.drain(|event| found.push(event));
        assert!(found.is_empty());
        put(&format!("{LINE}{LINE}"));
        reads.drain(|event| found.push(event));
        assert_eq!(found, [event(), event()]);
    }

    #[test]
    fn without_the_tracepoint_the_error_names_it() {
        let root = tempfile::tempdir().unwrap();
        let error = ReadEvents::open(root.path()).err().unwrap();
        assert!(
            error.to_string().contains("mm_filemap_get_pages"),
            "{error}"
        );
    }
}
