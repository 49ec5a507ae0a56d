//! The kernel's events of the page cache, by a tracing instance of its own.
use anyhow::{anyhow, Context, Result};
use names::shown;
use size::event::{CAME, LEFT};
use size::Sample;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where the kernel's tracing lies: since 4.1, and before.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// KiB of the kernel's buffer a CPU. An event takes some 60 bytes, so that 8,000 fit between two reads.
const BUFFER_KB: &str = "512";

/// The longest that one look takes.
const LONGEST: Duration = Duration::from_millis(200);

/// An instance's name: this, and the number of the process.
const PREFIX: &str = "hotset-size-";

/// An instance that goes when this is dropped. Other users of tracing are not disturbed.
pub struct Tracefs {
    instance: PathBuf,
    pipe: File,
    buffer: Vec<u8>,
    /// Bytes of a line that has begun.
    kept: usize,
}

impl Tracefs {
    /// Begins, with events of these pages.
    ///
    /// # Errors
    /// There is no tracing, no right to it, or no such events.
    pub fn start(sample: Sample) -> Result<Tracefs> {
        let place = PLACES
            .iter()
            .map(Path::new)
            .find(|place| place.join("instances").is_dir() || is_denied(&place.join("instances")));
        let place = place
            .ok_or_else(|| anyhow!("{}: no tracing (mount -t tracefs tracefs {0})", PLACES[0]))?;
        remove_old(&place.join("instances"));
        let instance = place.join(format!("instances/{PREFIX}{}", std::process::id()));
        fs::create_dir(&instance).with_context(|| match is_denied(&place.join("instances")) {
            true => format!("{}: root alone may trace; use sudo", place.display()),
            false => format!("making {}", shown(&instance)),
        })?;
        let begun = begin(&instance, sample);
        if begun.is_err() {
            // It must not stay behind.
            let _ = fs::remove_dir(&instance);
        }
        Ok(Tracefs {
            instance,
            pipe: begun?,
            buffer: vec![0; 256 << 10],
            kept: 0,
        })
    }

    /// Gives each line that is there, for a while: a busy machine writes as fast as this reads. Returns the number of
    /// events that the kernel dropped for want of room.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn read(&mut self, mut each: impl FnMut(&str)) -> Result<u64> {
        let mut lost = 0;
        let begin = Instant::now();
        while begin.elapsed() < LONGEST {
            let got = match self.pipe.read(&mut self.buffer[self.kept..]) {
                Ok(0) => return Ok(lost),
                Ok(got) => got,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(lost),
                Err(error) => return Err(error).context("reading trace_pipe"),
            };
            let end = self.kept + got;
            let whole = self.buffer[..end].iter().rposition(|byte| *byte == b'\n');
            let whole = whole.map_or(0, |at| at + 1);
            for line in self.buffer[..whole].split(|byte| *byte == b'\n') {
                // A program's name need not be UTF-8; the rest of a line is ASCII.
                let line = String::from_utf8_lossy(line);
                match line.split_once("[LOST ") {
                    Some((_, rest)) => {
                        let count = rest.split_whitespace().next();
                        lost += count.and_then(|count| count.parse().ok()).unwrap_or(1);
                    }
                    None => each(&line),
                }
            }
            self.buffer.copy_within(whole..end, 0);
            // A line as long as the buffer is no event.
            self.kept = match end - whole {
                rest if rest == self.buffer.len() => 0,
                rest => rest,
            };
        }
        Ok(lost)
    }
}

/// Removes the instances of processes that were killed: the kernel would go on filling them.
fn remove_old(instances: &Path) {
    for entry in fs::read_dir(instances).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Somebody else may be faster.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn is_denied(path: &Path) -> bool {
    fs::read_dir(path).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

fn begin(instance: &Path, sample: Sample) -> Result<File> {
    let put = |file: &str, value: &str| {
        let path = instance.join(file);
        fs::write(&path, value).with_context(|| format!("writing {}", shown(&path)))
    };
    put("buffer_size_kb", BUFFER_KB)?;
    for event in [CAME, LEFT] {
        let format = instance.join(format!("events/filemap/{event}/format"));
        let format = fs::read_to_string(&format).with_context(|| shown(&format).to_string())?;
        if let Some(filter) = sample.filter(format.contains(" order;")) {
            put(&format!("events/filemap/{event}/filter"), &filter)?;
        }
        put(&format!("events/filemap/{event}/enable"), "1")?;
    }
    let path = instance.join("trace_pipe");
    OpenOptions::new()
        .read(true)
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
        .open(&path)
        .with_context(|| format!("opening {}", shown(&path)))
}

impl Drop for Tracefs {
    fn drop(&mut self) {
        // Nobody is there to be told, and the next run has an instance of its own.
        let _ = self.close();
    }
}

impl Tracefs {
    fn close(&mut self) -> io::Result<()> {
        for event in [CAME, LEFT] {
            let enable = format!("events/filemap/{event}/enable");
            fs::write(self.instance.join(enable), "0")?;
        }
        // The pipe holds the instance.
        self.pipe = File::open("/dev/null")?;
        fs::remove_dir(&self.instance)
    }
}
