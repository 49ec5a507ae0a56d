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
    let (mut written, mut tick) = (0u64, 0f64);
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
        // From the start, so that the time that a sample takes does not add up; what was missed
        // while the output stood still is not made up for.
        tick = (tick + 1.0).max((start.elapsed().as_secs_f64() / args.interval).ceil());
        let next = interval.mul_f64(tick);
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

#[cfg(test)]
mod tests {
    use super::*;
    use kernfs::samples::Reader;

    fn args(output: PathBuf) -> RecordArgs {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/kernfs");
        RecordArgs {
            output,
            interval: 0.01,
            duration: None,
            count: Some(4),
            root: Path::new(fixtures).join("7.3-eight-nodes"),
            force: false,
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["samples.jsonl", "samples.jsonl.zst"] {
            let path = dir.path().join(name);
            run(&args(path.clone())).unwrap();
            let reader = Reader::new(zst::open(&path).unwrap());
            let records: Vec<Record> = reader.map(Result::unwrap).collect();
            assert_eq!(records.len(), 4);
            let machine = records[0].machine.as_ref().unwrap();
            assert_eq!((machine.release.as_str(), machine.cpus), ("7.3.4", 2));
            assert!(records[1..].iter().all(|record| record.machine.is_none()));
            for pair in records.windows(2) {
                assert!(pair[1].t > pair[0].t);
            }
            let last = &records[3];
            let ids: Vec<u32> = last.nodes.iter().map(|node| node.id).collect();
            assert_eq!(ids, [0, 1, 2, 3, 16, 17, 18, 31]);
            assert_eq!(last.nodes[0].huge, 10_000 * 512 + 4 * 262_144);
            assert_eq!(last.knobs["vm.watermark_scale_factor"], 125);
            assert_eq!(last.meminfo["dentry.negative"], 271_166);
            assert!(last.vmstat.len() > 190 && last.psi.len() == 3);
            assert_eq!(
                last.nodes.iter().map(|node| node.free).sum::<u64>(),
                last.vmstat["nr_free_pages"]
            );
            // What is there is not written over unless that is asked for.
            assert!(run(&args(path.clone())).is_err());
            let force = RecordArgs {
                force: true,
                count: Some(1),
                ..args(path.clone())
            };
            run(&force).unwrap();
            assert_eq!(Reader::new(zst::open(&path).unwrap()).count(), 1);
        }
    }

    #[test]
    fn what_cannot_be_recorded_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("samples.jsonl");
        let nowhere = RecordArgs {
            root: dir.path().into(),
            ..args(path.clone())
        };
        let error = run(&nowhere).unwrap_err().to_string();
        assert!(error.contains("proc/vmstat: no such file"), "{error}");
        assert!(!path.exists(), "nothing is left behind");
        for interval in [0.0, -1.0, f64::NAN, 1e300] {
            let error = run(&RecordArgs {
                interval,
                ..args(path.clone())
            })
            .unwrap_err();
            assert!(error.to_string().contains("--interval"), "{error}");
        }
    }
}
