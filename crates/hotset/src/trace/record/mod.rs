//! `hotset trace record`: records the pages that a command and the programs it starts access.
mod followed;
pub mod guard;
mod signals;

use super::convert::{output_format, print_summary};
use super::near::Near;
use crate::shell::{self, Force};
use anyhow::{bail, Context, Result};
use clap::Args;
use followed::{Followed, Shared};
use guard::Started;
use names::shown;
use processes::program::{self, Unusable};
use progress::{Delayed, Unit};
use rustix::io::{fcntl_setfd, FdFlags};
use rustix::process::{Pid, Signal};
use serde_json::json;
use signals::Signals;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::Arc;
use trace::{Batch, Error, Format, Packing, ReadOptions, Reader, Writer};

/// The exit status of a program whose reader has gone: 128 and SIGPIPE.
const CLOSED: u8 = 141;

#[derive(Args)]
pub struct RecordArgs {
    /// The trace to write, packed if it ends in .zst or .gz. - is standard output; what the command writes to its
    /// standard output then goes to standard error
    output: PathBuf,
    /// Format to write: oracleGeneral, spc, csv, text or lackey [default: by the ending of OUTPUT's name]
    #[arg(long = "to", value_name = "FORMAT")]
    to_format: Option<Format>,
    /// Keep every access. By default an access to one of the last two pages is left out, because it hits in
    /// any cache
    #[arg(long)]
    all: bool,
    /// Stop recording after this many accesses, those that are left out included, and end the command
    #[arg(long, value_name = "N", value_parser = units::parse_count)]
    count: Option<u64>,
    #[command(flatten)]
    force: Force,
    #[arg(long, help = shell::JSON_SUMMARY)]
    json: bool,
    /// The command and its arguments. The programs that it starts are followed. A forked process that
    /// executes no program is not followed
    #[arg(required = true, last = true)]
    command: Vec<OsString>,
}

/// How a recording ended.
enum End {
    /// All processes have ended.
    Ended,
    /// As many accesses as were asked for.
    Count,
    /// Nobody reads standard output any more.
    Closed,
    Failed(Error),
}

/// What was recorded.
#[derive(Default)]
struct Recorded {
    accesses: u64,
    /// Lines that are no access.
    unread: u64,
    programs: u64,
}

/// # Errors
/// Valgrind is missing, the command made no access, or the trace cannot be written.
pub fn run(args: &RecordArgs) -> Result<ExitCode> {
    let format = output_format(&args.output, args.to_format)?;
    let name = args.command[0].to_string_lossy();
    if let Err(unusable) = program::find(&args.command[0]) {
        let problem = match unusable {
            Unusable::Missing => "there is no such command",
            Unusable::NotExecutable => "the file cannot be executed",
        };
        shell::error(format!("{name}: {problem}"));
        return Ok(ExitCode::from(unusable.status()));
    }
    let Ok(valgrind) = program::find(OsStr::new("valgrind")) else {
        bail!("there is no program valgrind; install the Debian package valgrind");
    };
    // Before any thread starts, so that all threads block them.
    let signals = Signals::block(signals::ending());
    signals::fail_writes();
    let page_size = ReadOptions::default().page_size;
    let packing = Packing::of_name(&args.output);
    let mut writer = Writer::create(
        &args.output,
        format,
        packing,
        page_size,
        args.force.rules(&[]),
    )?;
    shell::verbose(format!("valgrind: {}", shown(&valgrind)));
    shell::verbose(format!(
        "{}: {}, {}",
        shown(&args.output),
        packing.name(),
        format.name()
    ));
    let is_stdout = args.output.as_os_str() == "-";
    let (reading, writing) = io::pipe().context("making a pipe")?;
    // An open pipe means that a process is still running, so exec(2) must not close the pipe.
    fcntl_setfd(&writing, FdFlags::empty()).context("making a pipe")?;
    let followed = Followed::listen(reading, is_stdout.then(io::stdout))?;
    let programs = followed.count();
    let address = followed.address()?.to_string();
    let lines = Shared::new(followed);
    let guard = Started::start(&under_valgrind(&address, &args.command), is_stdout)
        .context("starting valgrind")?;
    drop(writing);
    let asked = pass_on(signals, guard.pid());
    let mut recorded = Recorded::default();
    let end = copy(args, lines.clone(), &mut writer, &mut recorded);
    if !matches!(end, End::Ended) {
        guard::ask(guard.pid(), Signal::TERM);
        // What a program writes until it ends is left out.
        lines.lock().drain().context("listening to valgrind")?;
    }
    // The connections close when the command has ended: valgrind would write to standard error instead.
    let status = guard.wait().context("waiting for the command")?;
    drop(lines);
    recorded.programs = programs.load(Ordering::Relaxed);
    let asked = asked.load(Ordering::Relaxed);
    let outcome = Outcome { status, asked };
    finish(args, format, end, &recorded, &mut writer, &outcome)
}

/// The command that valgrind's lackey reports to this address.
fn under_valgrind(address: &str, command: &[OsString]) -> Vec<OsString> {
    let mut words: Vec<OsString> = [
        "valgrind",
        "--tool=lackey",
        "--trace-mem=yes",
        "--quiet",
        "--trace-children=yes",
        "--child-silent-after-fork=yes",
    ]
    .map(OsString::from)
    .to_vec();
    words.push(format!("--log-socket={address}").into());
    words.push("--".into());
    words.extend_from_slice(command);
    words
}

/// Passes signals that ask hotset to end on to the guard. Returns the first one's number, 0 before it arrives.
fn pass_on(signals: Signals, guard: Pid) -> Arc<AtomicI32> {
    let asked = Arc::new(AtomicI32::new(0));
    let first = asked.clone();
    std::thread::spawn(move || loop {
        let Some(arrived) = signals.wait(None) else {
            continue;
        };
        let _ = first.compare_exchange(0, arrived.signal, Ordering::Relaxed, Ordering::Relaxed);
        // The guard gets a terminal's signal by itself.
        if let (false, Some(signal)) = (arrived.by_kernel, Signal::from_named_raw(arrived.signal)) {
            guard::ask(guard, signal);
        }
    });
    asked
}

/// Copies accesses into the trace.
fn copy(args: &RecordArgs, lines: Shared, writer: &mut Writer, recorded: &mut Recorded) -> End {
    let options = ReadOptions {
        format: Some(Format::Lackey),
        limit: args.count,
        flags: true,
        ..ReadOptions::default()
    };
    let copied = Reader::new(Path::new("valgrind's output"), lines, None, &options)
        .and_then(|mut reader| copy_all(args, &mut reader, writer, recorded));
    match copied {
        Ok(()) if args.count.is_some_and(|count| recorded.accesses >= count) => End::Count,
        Ok(()) => End::Ended,
        Err(error) if is_closed(&error) => End::Closed,
        Err(error) => End::Failed(error),
    }
}

/// Whether the reader of the output has gone.
fn is_closed(error: &Error) -> bool {
    let (Error::Io { cause, .. } | Error::Output(outfile::Error::Io { cause, .. })) = error else {
        return false;
    };
    cause.kind() == io::ErrorKind::BrokenPipe
}

fn copy_all(
    args: &RecordArgs,
    reader: &mut Reader,
    writer: &mut Writer,
    recorded: &mut Recorded,
) -> Result<(), Error> {
    let late = Delayed::new("Recording", None, Unit::Of("accesses"));
    let mut last = Near::new(2);
    let (mut batch, mut kept) = (Batch::default(), Batch::default());
    while reader.fill(&mut batch)? {
        recorded.accesses += batch.ids.len() as u64;
        recorded.unread = reader.skipped().malformed;
        late.advance(recorded.accesses);
        if args.all {
            writer.put(&batch)?;
            continue;
        }
        last.keep(&batch, &mut kept);
        writer.put(&kept)?;
    }
    Ok(())
}

/// How the command ended.
struct Outcome {
    /// Its exit status; 128 and the number of a signal that ended it.
    status: u8,
    /// The number of the signal that asked hotset to end, or 0.
    asked: i32,
}

/// Ends the trace, tells what it has, and returns the exit status.
fn finish(
    args: &RecordArgs,
    format: Format,
    end: End,
    recorded: &Recorded,
    writer: &mut Writer,
    outcome: &Outcome,
) -> Result<ExitCode> {
    let name = args.command[0].to_string_lossy();
    let end = match (end, writer.requests()) {
        (End::Closed, _) => return Ok(ExitCode::from(CLOSED)),
        (End::Ended | End::Count, 1..) => match writer.finish() {
            Ok(_) => None,
            Err(error) if is_closed(&error) => return Ok(ExitCode::from(CLOSED)),
            Err(error) => Some(error),
        },
        (End::Ended | End::Count, 0) => None,
        (End::Failed(error), _) => Some(error),
    };
    if let Some(error) = end {
        return Err(kept(args, writer, error));
    }
    let counted = matches!(args.count, Some(count) if recorded.accesses >= count);
    let (code, ended) = match outcome {
        Outcome { asked: 1.., .. } => (128 + outcome.asked as u8, signal_name(outcome.asked)),
        _ if counted => (0, "--count"),
        Outcome { status, .. } => (*status, "command"),
    };
    if outcome.asked > 0 {
        shell::note(format!("{ended}: {name} is stopped"));
    } else if !counted && outcome.status > 128 {
        shell::note(format!("{name}: ended by signal {}", outcome.status - 128));
    } else if !counted && outcome.status > 0 {
        shell::note(format!("{name}: ended with exit status {}", outcome.status));
    }
    if writer.requests() == 0 && code == 0 {
        bail!("{name}: valgrind reported no access");
    }
    if args.json {
        let summary = json!({
            "output": args.output.to_string_lossy(),
            "format": format.name(),
            "requests": writer.requests(),
            "accesses": recorded.accesses,
            "unread": recorded.unread,
            "programs": recorded.programs,
            "ended_by": ended,
            "command_status": outcome.status,
        });
        print_summary(&args.output, "trace.record", &summary)?;
    } else {
        let (requests, accesses) = (writer.requests(), recorded.accesses);
        shell::note(format!(
            "{}: {requests} requests of {accesses} accesses",
            shown(&args.output)
        ));
    }
    Ok(ExitCode::from(code))
}

/// The error, and what is kept of the trace nevertheless.
fn kept(args: &RecordArgs, writer: &mut Writer, error: Error) -> anyhow::Error {
    let kept = match (&error, writer.requests()) {
        (_, 0) => None,
        (Error::Output(_), _) => writer.cut().ok(),
        (_, _) => writer.finish().ok(),
    };
    let kept = kept.map_or(0, |written| written.requests);
    match kept {
        _ if args.output.as_os_str() == "-" => error.into(),
        0 => error.into(),
        kept => anyhow::anyhow!(
            "{error}; {} has the first {kept} requests",
            shown(&args.output)
        ),
    }
}

fn signal_name(number: i32) -> &'static str {
    match number {
        libc::SIGINT => "SIGINT",
        libc::SIGTERM => "SIGTERM",
        _ => "SIGHUP",
    }
}
