//! The file of what was learned: a name and a number on each line.
use crate::config::settings::Config;
use crate::telemetry::log::{Level, Log};
use crate::telemetry::server;
use kernfs::Sample;
use policy::Learned;
use std::io;
use std::path::{Path, PathBuf};

const HEAD: &str =
    "# What hotsetd has learned on this machine. The file may be removed at any time.\n";
/// The machine: a file of another one is ignored.
const PAGE_SIZE: &str = "machine.page_size";
const PAGES: &str = "machine.pages";
/// The time of the writing, seconds since 1970. The last line, so that a file without its end is noticed.
const TIME: &str = "written_unix_s";
/// Memory may differ by this share: a new kernel takes a little more or less for itself.
const DIFFERENT: f64 = 0.05;
/// Seconds from one writing to the next.
const EVERY_S: f64 = 600.0;
/// A larger file is not hotsetd's. Bytes.
const LARGEST: u64 = 65_536;

/// What was learned, and its file.
#[derive(Debug, Default)]
pub struct LearnedFile {
    /// Any part of the daemon may set numbers of its own, and get them after the next start.
    pub numbers: Learned,
    /// `None`: nothing is written.
    path: Option<PathBuf>,
    /// The time of the numbers, seconds since 1970.
    pub as_of_unix_s: f64,
    /// When the file was last written, seconds of the monotonic clock.
    written_s: f64,
}

impl LearnedFile {
    /// Reads the file. A damaged or foreign one is ignored with a notice. A dry run reads the file, and writes none.
    pub fn open(
        root: &Path,
        config: &Config,
        page_size: u64,
        sample: &Sample,
        log: &mut Log,
    ) -> Self {
        let pages: u64 = sample.nodes.iter().map(|node| node.managed).sum();
        let mut file = LearnedFile {
            written_s: sample.t,
            ..LearnedFile::default()
        };
        let Some(path) = &config.learned else {
            return file;
        };
        let path = server::below(root, path);
        match read(&path, page_size as f64, pages as f64) {
            Ok(Some((numbers, unix_s))) => (file.numbers, file.as_of_unix_s) = (numbers, unix_s),
            Ok(None) => {}
            Err(why) => {
                let text = format_args!("{}: {why}; hotsetd learns anew", names::shown(&path));
                log.line(Level::Notice, "learned", text);
            }
        }
        file.numbers.set(PAGE_SIZE, page_size as f64);
        file.numbers.set(PAGES, pages as f64);
        file.path = (!config.dry_run).then_some(path);
        file
    }

    /// Age of the numbers, seconds; 0 where the clock went back.
    pub fn age_s(&self, unix_s: f64) -> f64 {
        (unix_s - self.as_of_unix_s).max(0.0)
    }

    /// Whether it is time to write again.
    pub fn is_due(&self, now_s: f64) -> bool {
        self.path.is_some() && now_s - self.written_s >= EVERY_S
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The file or its folder cannot be made. An earlier file stays then.
    pub fn write(&self, unix_s: f64) -> io::Result<()> {
        match &self.path {
            Some(path) => replace(path, &self.text(unix_s)),
            None => Ok(()),
        }
    }

    /// Writes the file in a thread. A failure is left to [`LearnedFile::write`] at the end to report.
    pub fn write_aside(&mut self, now_s: f64, unix_s: f64) {
        self.written_s = now_s;
        let (path, text) = (self.path.clone(), self.text(unix_s));
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        let _ = thread.spawn(move || path.map(|path| replace(&path, &text)));
    }

    fn text(&self, unix_s: f64) -> String {
        let lines = self
            .numbers
            .iter()
            .map(|(name, number)| format!("{name} {number}\n"));
        format!("{HEAD}{}{TIME} {unix_s}\n", lines.collect::<String>())
    }
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let new = path.with_extension("new");
    std::fs::write(&new, text)?;
    std::fs::rename(&new, path)
}

/// The numbers and the time of a file; `None`: there is no file.
fn read(path: &Path, page_size: f64, pages: f64) -> Result<Option<(Learned, f64)>, String> {
    use io::Read;
    let mut text = String::new();
    let file = match std::fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|error| names::io_error(&error))?,
    };
    let read = file.take(LARGEST).read_to_string(&mut text);
    read.map_err(|error| names::io_error(&error))?;
    let mut numbers = Learned::default();
    let mut unix_s = None;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let parts = line.split_once(' ');
        let number = parts.and_then(|(name, number)| Some((name, number.parse::<f64>().ok()?)));
        let (name, number) = number.ok_or("a line is no name with a number")?;
        match name {
            TIME => unix_s = Some(number),
            _ => numbers.set(name, number),
        }
    }
    let near = |name: &str, here: f64| {
        let there = numbers.get(name);
        there.is_some_and(|there| (there - here).abs() <= DIFFERENT * here)
    };
    match unix_s {
        _ if !text.ends_with('\n') => Err("the end is missing".into()),
        None => Err("the time is missing".into()),
        Some(_) if !near(PAGE_SIZE, page_size) || !near(PAGES, pages) => {
            Err("it is of another machine".into())
        }
        Some(unix_s) => Ok(Some((numbers, unix_s))),
    }
}
