//! `hotset record`: samples of this machine as JSON lines, for `hotset replay`.
use crate::zst;
use anyhow::{ensure, Context, Result};
use clap::Args;
use kernfs::knobs::Knob;
use kernfs::samples::Record;
use kernfs::{News, Options, Root, Sample, Sampler, Sources};
use lab::stop::Stop;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[derive(Args)]
#[command(after_help = "Examples:\n  \
    hotset record --for 3600 evening.jsonl.zst\n  \
    hotset record --interval 0.25 --count 40 -\n  \
    hotset replay evening.jsonl.zst")]
pub struct RecordArgs {
    /// File to write; packed where its name ends in .zst; - is standard output
    #[arg(default_value = "-")]
    output: PathBuf,
    /// Seconds from one sample to the next
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    interval: f64,
    /// End after so many seconds
    #[arg(long = "for", value_name = "SECONDS")]
    duration: Option<f64>,
    /// End after so many samples
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Directory that stands for /
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
    /// Write over a file that exists
    #[arg(long)]
    force: bool,
}

/// Records until what the arguments say, or SIGINT, SIGTERM or SIGHUP: what was recorded until then
/// is a whole file.
///
/// # Errors
/// When there is nothing to record below the root, or the output cannot be written.
pub fn run(args: &RecordArgs) -> Result<ExitCode> {
    let interval = seconds("--interval", args.interval, 0.001)?;
    let duration = args
        .duration
        .map(|s| seconds("--for", s, 0.0))
        .transpose()?;
    let stop = Stop::on_signals()?;
    let options = Options {
        sources: Sources::LOOP | Sources::PSI_CPU | Sources::PSI_IO,
        knobs: Knob::ALL.to_vec(),
        ..Options::default()
    };
    let mut sampler = Sampler::new(Root::new(&args.root), options);
    let mut sample = Sample::default();
    sampler.sample(&mut sample);
    ensure!(
        sample.fresh.contains(Sources::VMSTAT) && !sample.nodes.is_empty(),
        "{}: nothing to record: {}",
        args.root.display(),
        match sample.errors.first() {
            Some(error) => error.to_string(),
            None => "zoneinfo names no node with memory".to_owned(),
        }
    );
    let mut output = Output::open(&args.output, args.force)?;
    let start = Instant::now();
    let mut written = 0u64;
    loop {
        for news in sampler.news() {
            match news {
                News::Lost(error) => eprintln!("hotset: {error}"),
                News::Back(path) => eprintln!("hotset: {}: is back", path.display()),
            }
        }
        let mut record = Record::of(&sample);
        if written == 0 {
            record.machine = Some(sampler.machine().clone());
        }
        output.write(&record)?;
        written += 1;
        // From the start, so that the time that a sample takes does not add up.
        let next = interval.mul_f64(written as f64);
        if args.count == Some(written) || duration.is_some_and(|end| next > end) {
            break;
        }
        if wait(&stop, next.saturating_sub(start.elapsed()))? {
            break;
        }
        sampler.sample(&mut sample);
    }
    output.finish()?;
    if args.output.as_os_str() != "-" {
        eprintln!("hotset: {written} samples in {}", args.output.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn seconds(option: &str, value: f64, least: f64) -> Result<Duration> {
    let duration = Duration::try_from_secs_f64(value);
    match duration {
        Ok(duration) if value >= least => Ok(duration),
        _ => anyhow::bail!("{option} {value}: a number of seconds from {least} on is wanted"),
    }
}

/// Whether a signal came before the time was over.
fn wait(stop: &Stop, time: Duration) -> Result<bool> {
    let timeout = Timespec::try_from(time).context("too long an interval")?;
    match poll(&mut [PollFd::new(stop, PollFlags::IN)], Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(stop.asked()),
        Err(error) => Err(error).context("waiting for the next sample"),
    }
}

/// Where lines go.
enum Output {
    Plain(Box<dyn Write>, PathBuf),
    Packed(zst::Writer<File>, PathBuf),
}

impl Output {
    fn open(path: &Path, force: bool) -> Result<Self> {
        if path.as_os_str() == "-" {
            let stdout = std::io::stdout().lock();
            return Ok(Self::Plain(Box::new(stdout), "standard output".into()));
        }
        let mut options = File::options();
        options.write(true);
        if force {
            options.create(true).truncate(true);
        } else {
            options.create_new(true);
        }
        let file = options.open(path).with_context(|| {
            let hint = if path.exists() && !force {
                " (--force writes over it)"
            } else {
                ""
            };
            format!("creating {}{hint}", path.display())
        })?;
        Ok(match zst::is_packed(path) {
            true => Self::Packed(zst::Writer::new(file), path.into()),
            false => Self::Plain(Box::new(file), path.into()),
        })
    }

    fn write(&mut self, record: &Record) -> Result<()> {
        let mut line = serde_json::to_vec(record).context("writing a sample as JSON")?;
        line.push(b'\n');
        let (result, path) = match self {
            // A line at a time: whoever reads along sees whole samples.
            Self::Plain(file, path) => (file.write_all(&line).and_then(|()| file.flush()), path),
            Self::Packed(file, path) => (file.write(&line), path),
        };
        result.with_context(|| format!("writing {}", path.display()))
    }

    fn finish(self) -> Result<()> {
        match self {
            Self::Plain(..) => Ok(()),
            Self::Packed(file, path) => file
                .finish()
                .with_context(|| format!("writing {}", path.display())),
        }
    }
}
