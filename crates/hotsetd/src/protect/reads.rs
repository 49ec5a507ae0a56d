//! Which files are read, those in memory too: the kernel's tracepoint `mm_filemap_get_pages` (6.11
//! on), in a trace instance of the daemon's own, as a few lines for each megabyte.
//!
//! Not by fanotify: its events tell of files, not of their parts, and cost every open(2) and read(2)
//! of the machine, where the tracepoint's filter lets an eighth of the reads through.
use policy::hot::{Part, PART};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const TRACEFS: [&str; 2] = ["sys/kernel/tracing", "sys/kernel/debug/tracing"];
const INSTANCE: &str = "instances/hotset";
const EVENT: &str = "events/filemap/mm_filemap_get_pages";
/// Reads that begin in the first 128 KiB of a part: whoever reads by less than a part begins there.
const FILTER: &str = "!(index & 224)";
/// For each CPU. Some 70 bytes a line; what does not fit is lost, the oldest first.
const BUFFER_KB: &str = "64";

/// A read that was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Thread that read.
    pub tid: u32,
    pub part: Part,
}

/// Listens. The trace instance goes with it.
pub struct Reads {
    pipe: File,
    instance: PathBuf,
    text: Vec<u8>,
    /// Begin of a line whose end is still to come.
    rest: usize,
}

/// The trace instance that a daemon which was killed has left is removed.
pub fn tidy(root: &Path) {
    for tracefs in TRACEFS {
        let _ = std::fs::remove_dir(root.join(tracefs).join(INSTANCE));
    }
}

impl Reads {
    /// # Errors
    /// Where tracefs is not mounted or may not be written, or the kernel has no such tracepoint.
    pub fn open(root: &Path) -> io::Result<Reads> {
        let mut places = TRACEFS.iter().map(|tracefs| root.join(tracefs));
        let tracefs = places.find(|place| place.join(EVENT).is_dir());
        let tracefs = tracefs.ok_or_else(|| {
            let words = format!("no {}/{EVENT} (Linux 6.11 with tracefs)", TRACEFS[0]);
            io::Error::new(io::ErrorKind::NotFound, words)
        })?;
        let instance = tracefs.join(INSTANCE);
        let _ = std::fs::remove_dir(&instance);
        match std::fs::create_dir(&instance) {
            // Somebody else reads it, and it could not be removed: it does as it is.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
        let opened = Reads::set_up(&instance);
        if opened.is_err() {
            let _ = std::fs::remove_dir(&instance);
        }
        Ok(Reads {
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

    /// Hands on what was read since the last time; waits for nothing.
    pub fn drain(&mut self, mut hand: impl FnMut(Seen)) {
        // A bound: whoever reads faster than this thread listens is not followed for ever.
        for _ in 0..64 {
            let Ok(length @ 1..) = self.pipe.read(&mut self.text[self.rest..]) else {
                return;
            };
            let end = self.rest + length;
            let lines = self.text[..end].iter().rposition(|&byte| byte == b'\n');
            let whole = lines.map_or(0, |at| at + 1);
            for line in self.text[..whole].split(|&byte| byte == b'\n') {
                if let Some(seen) = std::str::from_utf8(line).ok().and_then(parse) {
                    hand(seen);
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

impl Drop for Reads {
    fn drop(&mut self) {
        // The pipe keeps the instance busy: it is removed once that is closed, or by the next start.
        let _ = std::fs::write(self.instance.join(EVENT).join("enable"), "0");
        if let Ok(null) = File::open("/dev/null") {
            self.pipe = null;
        }
        let _ = std::fs::remove_dir(&self.instance);
    }
}

/// `  name-123  [000] .....  12.3: mm_filemap_get_pages: dev=98:0 ino=c ofs=1048576-1179647`; the
/// name may hold anything.
fn parse(line: &str) -> Option<Seen> {
    let (before, after) = line.rsplit_once("mm_filemap_get_pages: ")?;
    let (task, _) = before.rsplit_once('[')?;
    let (_, tid) = task.trim_end().rsplit_once('-')?;
    let mut words = after.split_ascii_whitespace();
    let (major, minor) = words.next()?.strip_prefix("dev=")?.split_once(':')?;
    let inode = words.next()?.strip_prefix("ino=")?;
    let (offset, _) = words.next()?.strip_prefix("ofs=")?.split_once('-')?;
    Some(Seen {
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

    fn seen() -> Seen {
        Seen {
            tid: 38,
            part: Part {
                device: (98, 16),
                inode: 31,
                at: 3,
            },
        }
    }

    #[test]
    fn lines() {
        assert_eq!(parse(LINE.trim_end()), Some(seen()));
        assert_eq!(parse("CPU:0 [LOST 12 EVENTS]"), None);
        assert_eq!(
            parse("mm_filemap_get_pages: dev=98:16 ino=1f ofs=0-1"),
            None
        );
    }

    #[test]
    fn a_line_may_come_in_two_pieces() {
        let root = tempfile::tempdir().unwrap();
        let pipe = root.path().join("pipe");
        let put = |text: &str| std::fs::write(&pipe, text).unwrap();
        let mut found = Vec::new();
        put(&LINE[..40]);
        let mut reads = Reads {
            pipe: File::open(&pipe).unwrap(),
            instance: root.path().join("none"),
            text: vec![0; 256],
            rest: 0,
        };
        reads.drain(|seen| found.push(seen));
        assert!(found.is_empty());
        put(&format!("{LINE}{LINE}"));
        reads.drain(|seen| found.push(seen));
        assert_eq!(found, [seen(), seen()]);
    }

    #[test]
    fn without_the_tracepoint_it_says_so() {
        let root = tempfile::tempdir().unwrap();
        let error = Reads::open(root.path()).err().unwrap();
        assert!(
            error.to_string().contains("mm_filemap_get_pages"),
            "{error}"
        );
    }
}
