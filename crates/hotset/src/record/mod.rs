//! `hotset record`: samples of this machine as JSON lines, for `hotset replay`.
mod output;

use crate::shell::{self, usage, Force};
use anyhow::{ensure, Context, Result};
use clap::Args;
use kernfs::knobs::Knob;
use kernfs::samples::Record;
use kernfs::{News, Options, Root, Sample, Sampler, Sources};
use lab::host::stop::Stop;
use names::shown;
use output::Output;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use trace::Packing;

/// Writes samples of this machine's memory, as JSON Lines.
#[derive(Args)]
#[command(after_help = "\
Ctrl-C ends a recording that has neither --for nor --count. SIGTERM and SIGHUP do, too. In each case the file is \
whole. When hotset is killed or the disk is full, the file keeps all samples but those of the last second. \
The guide has the fields, in output.md.\n\n\
Examples:\n  \
    hotset record --for 3600 evening.jsonl.zst\n  \
    hotset record --interval 0.25 --count 40 -\n  \
    hotset replay evening.jsonl.zst")]
pub struct RecordArgs {
    /// File to write; compressed where its name ends in .zst or .gz; - is standard output, and may be left out where
    /// that is no terminal
    #[arg(value_name = "FILE")]
    output: Option<PathBuf>,
    /// Time from one sample to the next: seconds, or with a unit as 1m
    #[arg(long, value_name = "TIME", default_value = "1", value_parser = interval)]
    interval: Duration,
    /// Time after which the recording ends: seconds, or with a unit: 90s, 30m, 1h
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    duration: Option<Duration>,
    /// Samples after which the recording ends
    #[arg(long, value_name = "N", value_parser = count)]
    count: Option<u64>,
    /// Folder that stands for /
    #[arg(long, value_name = "FOLDER", default_value = "/")]
    root: PathBuf,
    #[command(flatten)]
    force: Force,
}

/// The time whose samples may be lost when the program is killed. Less would compress worse at short intervals,
/// and save little: the last second before a crash is rarely the one that explains it.
const UNKEPT: Duration = Duration::from_secs(1);

/// Records until the time or the count of the arguments, or until SIGINT, SIGTERM or SIGHUP. The file is
/// whole in each case.
///
/// # Errors
/// There is nothing to record below the root, or the output cannot be written.
pub fn run(args: &RecordArgs) -> Result<ExitCode> {
    let path = match &args.output {
        Some(path) => path.as_path(),
        None if io::stdout().is_terminal() => {
            return Err(usage!(
                "name a file to record to, such as samples.jsonl.zst; - shows the samples here"
            ));
        }
        None => Path::new("-"),
    };
    if let Some(name) = Packing::unsupported_name(path) {
        return Err(usage!(
            "{}: cannot compress as .{name}; name a file that ends in .zst or .gz",
            shown(path)
        ));
    }
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
        shown(&args.root),
        match sample.errors.first() {
            Some(error) => error.to_string(),
            None => "zoneinfo names no node with memory".to_owned(),
        }
    );
    let mut output = Output::create(path, args.force.force)?;
    if path.as_os_str() != "-" {
        shell::note(format!("recording to {}; Ctrl-C ends it", shown(path)));
    }
    shell::verbose(format!("kernel files: below {}", shown(&args.root)));
    shell::verbose(format!(
        "{}: {}, JSON Lines",
        output.name(),
        output.packing().name()
    ));
    samples(args, &mut sampler, &mut sample, &stop, &mut output)?;
    let written = output.finish()?;
    if path.as_os_str() != "-" {
        let samples = units::counted(written, "sample");
        shell::note(format!("{samples} in {}", shown(path)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes `sample` and those that follow.
fn samples(
    args: &RecordArgs,
    sampler: &mut Sampler,
    sample: &mut Sample,
    stop: &Stop,
    output: &mut Output,
) -> Result<()> {
    let start = Instant::now();
    let (mut written, mut tick) = (0u64, 0f64);
    let (mut due, mut unkept) = (Duration::ZERO, None);
    loop {
        for news in sampler.news() {
            match news {
                News::Lost(error) => shell::error(error.to_string()),
                News::Back(path) => shell::note(format!("{}: is back", shown(path))),
            }
        }
        let mut record = Record::of(sample);
        if written == 0 {
            record.machine = Some(sampler.machine().clone());
        }
        written += 1;
        // Times are counted from the start, so that delays do not add up. Samples that were missed while
        // the output was blocked are left out.
        tick =
            (tick + 1.0).max((start.elapsed().as_secs_f64() / args.interval.as_secs_f64()).ceil());
        let next = args.interval.mul_f64(tick);
        output.write(&record, must_keep(&mut unkept, due, next))?;
        if args.count == Some(written) || args.duration.is_some_and(|end| next > end) {
            return Ok(());
        }
        if wait(stop, next.saturating_sub(start.elapsed()))? {
            return Ok(());
        }
        sampler.sample(sample);
        due = next;
    }
}

/// Whether the sample of time `due` must be kept now, because the next one comes too late. `unkept` is the time of the
/// oldest sample that is not kept.
fn must_keep(unkept: &mut Option<Duration>, due: Duration, next: Duration) -> bool {
    let keep = next.saturating_sub(*unkept.get_or_insert(due)) >= UNKEPT;
    if keep {
        *unkept = None;
    }
    keep
}

/// The time from one sample to the next.
pub fn interval(text: &str) -> Result<Duration, String> {
    seconds(text, 0.001)
}

fn duration(text: &str) -> Result<Duration, String> {
    seconds(text, 0.0)
}

fn seconds(text: &str, least: f64) -> Result<Duration, String> {
    // The kernel's timers end somewhere, too.
    const MOST: f64 = 1e9;
    let (number, factor) = match text.as_bytes().last() {
        Some(b's') => (&text[..text.len() - 1], 1.0),
        Some(b'm') => (&text[..text.len() - 1], 60.0),
        Some(b'h') => (&text[..text.len() - 1], 3600.0),
        _ => (text, 1.0),
    };
    match number.parse::<f64>().map(|number| number * factor) {
        Ok(value) if (least..=MOST).contains(&value) => Ok(Duration::from_secs_f64(value)),
        Ok(_) => Err(format!(
            "{text} is out of range ({least} to {MOST} seconds)"
        )),
        Err(_) => Err(format!("{text} is no time, such as 0.5, 90s, 30m or 1h")),
    }
}

fn count(text: &str) -> Result<u64, String> {
    match units::parse_count(text)? {
        0 => Err(format!("{text} is out of range (1 or more)")),
        count => Ok(count),
    }
}

/// Whether a signal comes before `time` is over.
fn wait(stop: &Stop, time: Duration) -> Result<bool> {
    let timeout = Timespec::try_from(time).context("the interval is too long for a timer")?;
    match poll(&mut [PollFd::new(stop, PollFlags::IN)], Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(stop.asked()),
        Err(error) => Err(error).context("waiting for the next sample"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernfs::samples::Reader;

    fn args(output: PathBuf) -> RecordArgs {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/kernfs");
        RecordArgs {
            output: Some(output),
            interval: Duration::from_millis(10),
            duration: None,
            count: Some(4),
            root: Path::new(fixtures).join("7.3-eight-nodes"),
            force: Force { force: false },
        }
    }

    #[test]
    fn a_recording_is_read_again_plain_and_compressed() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["samples.jsonl", "samples.jsonl.zst", "samples.jsonl.gz"] {
            let path = dir.path().join(name);
            run(&args(path.clone())).unwrap();
            let reader = Reader::new(trace::open_unpacked(&path).unwrap());
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
            // A file that exists is overwritten only with --force.
            assert!(run(&args(path.clone())).is_err());
            let force = RecordArgs {
                force: Force { force: true },
                count: Some(1),
                ..args(path.clone())
            };
            run(&force).unwrap();
            assert_eq!(Reader::new(trace::open_unpacked(&path).unwrap()).count(), 1);
        }
    }

    #[test]
    fn a_recording_cut_at_any_byte_is_a_prefix() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["samples.jsonl", "samples.jsonl.zst", "samples.jsonl.gz"] {
            let path = dir.path().join(name);
            run(&args(path.clone())).unwrap();
            let packed = std::fs::read(&path).unwrap();
            let reader = Reader::new(trace::open_unpacked(&path).unwrap());
            let whole: Vec<Record> = reader.map(Result::unwrap).collect();
            // A plain file is long, and its ends are all alike.
            let step = if packed.len() > 20_000 { 97 } else { 1 };
            let mut most = 0;
            for end in (0..packed.len()).step_by(step) {
                std::fs::write(&path, &packed[..end]).unwrap();
                let mut reader = Reader::new(trace::open_unpacked(&path).unwrap());
                let found: Vec<Record> = reader.by_ref().map(Result::unwrap).collect();
                assert!(
                    whole.starts_with(&found) && found.len() >= most,
                    "{name} {end}"
                );
                assert!(reader.cut_off() || end == 0 || step > 1, "{name} {end}");
                most = found.len();
            }
            assert!(most >= 3, "{name}: {most}");
        }
    }

    #[test]
    fn a_time_has_seconds_minutes_or_hours() {
        for (text, seconds) in [("90", 90), ("90s", 90), ("1.5m", 90), ("1h", 3600)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for wrong in ["", "h", "1d", "1 h", "-1h", "1e9h", "nanm"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn no_sample_is_unkept_for_more_than_a_second() {
        for (interval_ms, pattern) in [(250, "0001"), (400, "001"), (1000, "1"), (10_000, "1")] {
            let mut unkept = None;
            for tick in 0..50u32 {
                let at = |tick| Duration::from_millis(interval_ms) * tick;
                let keep = must_keep(&mut unkept, at(tick), at(tick + 1));
                let expected = pattern.as_bytes()[tick as usize % pattern.len()] == b'1';
                assert_eq!(keep, expected, "{interval_ms} ms, {tick}");
            }
        }
    }

    #[test]
    fn a_root_without_files_leaves_no_recording() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("samples.jsonl");
        let nowhere = RecordArgs {
            root: dir.path().into(),
            ..args(path.clone())
        };
        let error = run(&nowhere).unwrap_err().to_string();
        assert!(error.contains("proc/vmstat: no such file"), "{error}");
        assert!(!path.exists(), "no file is left behind");
    }
}
