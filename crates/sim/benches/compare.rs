//! The simulator beside libCacheSim, in one run, on the same traces:
//! `cargo bench -p sim --bench compare -- --cachesim PATH [--tuned PATH] [--dir DIR] [--runs N]`.
//!
//! `--only lru-zipf-10` does one of the sixteen cases, and may be given several times. Traces that lie
//! in DIR already are read rather than generated.
//!
//! The simulator has two columns: its loop alone, as the benchmark `throughput` measures it, and end to
//! end, with decoding and renumbering of the same oracleGeneral file. libCacheSim's column is the CPU
//! time of its whole program, about a fifth of which goes into reading. Without `--cachesim` the
//! simulator is measured alone, and the output says so.
use sim::registry::Choice;
use sim::{bench_traces, run, Input};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use trace::{Batch, Format, Packing, ReadOptions, Writer};

const POLICIES: [(&str, &str); 4] = [
    ("fifo", "fifo"),
    ("clock", "clock"),
    ("lru", "lru"),
    ("sieve", "sieve"),
];

#[derive(Default)]
struct Asked {
    cachesim: Option<PathBuf>,
    tuned: Option<PathBuf>,
    dir: Option<PathBuf>,
    only: Vec<String>,
    runs: usize,
}

fn asked() -> Result<Asked, String> {
    let mut asked = Asked {
        runs: 5,
        ..Asked::default()
    };
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("{word}: a value is missing"))?;
        match word.as_str() {
            "--cachesim" => asked.cachesim = Some(value.into()),
            "--tuned" => asked.tuned = Some(value.into()),
            "--only" => asked.only.push(value),
            "--dir" => asked.dir = Some(value.into()),
            "--runs" => asked.runs = value.parse().map_err(|_| format!("--runs {value}"))?,
            _ => {
                return Err(format!(
                    "{word}: --cachesim, --tuned, --dir, --only and --runs are known"
                ))
            }
        }
    }
    for path in [&asked.cachesim, &asked.tuned].into_iter().flatten() {
        if !path.is_file() {
            return Err(format!("{}: no such program", path.display()));
        }
    }
    Ok(asked)
}

fn cpu_seconds() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// CPU seconds of children that have ended, from /proc/self/stat, to a hundredth.
fn children_cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("/proc/self/stat");
    let after = stat.rsplit(')').next().unwrap_or("");
    let ticks = |field: usize| -> f64 {
        let word = after.split_whitespace().nth(field);
        word.and_then(|word| word.parse().ok()).expect("ticks")
    };
    // cutime and cstime are fields 16 and 17; the state behind the name is 3.
    (ticks(13) + ticks(14)) / 100.0
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// The ids of a trace, and the number of their objects.
type Generate = fn() -> (Vec<u32>, usize);

/// The trace in `path`, which is generated where it is not there yet, and its objects.
fn ids(path: &Path, generate: Generate) -> Result<(Vec<u32>, usize), trace::Error> {
    if path.is_file() {
        let kept = trace::open(path, &ReadOptions::default())?;
        return Ok((kept.ids, kept.objects as usize));
    }
    let (ids, objects) = generate();
    write(path, &ids)?;
    Ok((ids, objects))
}

fn write(path: &Path, ids: &[u32]) -> Result<(), trace::Error> {
    let mut writer = Writer::create(
        path,
        Format::OracleGeneral,
        Packing::Plain,
        4096,
        outfile::Rules::REPLACE,
    )?;
    for some in ids.chunks(1 << 16) {
        writer.put(&Batch {
            // oracleGeneral files of libCacheSim have no object 0.
            ids: some.iter().map(|&id| u64::from(id) + 1).collect(),
            ..Batch::default()
        })?;
    }
    writer.finish().map(|_| ())
}

/// Million requests a second of a whole run of libCacheSim, and the miss ratio that it printed.
fn theirs(
    program: &Path,
    dir: &Path,
    file: &Path,
    policy: &str,
    size: u64,
    n: usize,
) -> (f64, String) {
    let before = children_cpu_seconds();
    let output = Command::new(program)
        .current_dir(dir)
        .arg(file)
        .args(["oracleGeneral", policy, &size.to_string()])
        .args(["--ignore-obj-size", "1", "--verbose", "0"])
        .output()
        .expect("it starts");
    assert!(
        output.status.success(),
        "{}: {:?}",
        program.display(),
        output
    );
    let speed = n as f64 / (children_cpu_seconds() - before) / 1e6;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let ratio = text
        .split("miss ratio")
        .nth(1)
        .and_then(|rest| rest.split([',', '\n']).next())
        .map_or("?", |word| word.trim_matches([' ', ':']));
    (speed, ratio.to_string())
}

/// One case: a policy on a trace at a size.
struct Case<'a> {
    /// Names of the policy here and in libCacheSim.
    policy: (&'a str, &'a str),
    trace: &'a str,
    file: &'a Path,
    input: &'a Input<'a>,
    /// In objects.
    size: u64,
}

impl Case<'_> {
    fn requests(&self) -> usize {
        self.input.ids().len()
    }

    /// Million requests a second of a run that took from `start` until now.
    fn speed(&self, start: f64) -> f64 {
        self.requests() as f64 / (cpu_seconds() - start) / 1e6
    }

    /// Misses, and million requests a second of the loop alone.
    fn alone(&self, choice: &Choice, runs: usize) -> (u64, f64) {
        let mut misses = 0;
        let speeds = (0..runs).map(|_| {
            let start = cpu_seconds();
            let mut policy = choice.build(self.input, self.size).expect("a size");
            misses = run(policy.as_mut(), self.input, &mut |_| {}).misses;
            self.speed(start)
        });
        let speed = median(speeds.collect());
        (misses, speed)
    }

    /// Million requests a second, with the decoding of the file.
    fn end_to_end(&self, choice: &Choice, runs: usize, misses: u64) -> f64 {
        let speeds = (0..runs).map(|_| {
            let start = cpu_seconds();
            let read = trace::open(self.file, &ReadOptions::default()).expect("the trace is read");
            let input = Input::of(&read).expect("a trace");
            let mut policy = choice.build(&input, self.size).expect("a size");
            assert_eq!(run(policy.as_mut(), &input, &mut |_| {}).misses, misses);
            self.speed(start)
        });
        median(speeds.collect())
    }

    fn measure_and_print(&self, asked: &Asked, dir: &Path) {
        let (name, their_name) = self.policy;
        let choice = Choice::parse(name).expect("a policy");
        let (misses, alone) = self.alone(&choice, asked.runs);
        let whole = self.end_to_end(&choice, asked.runs, misses);
        let (size, requests) = (self.size, self.requests());
        let them = |program: &Option<PathBuf>| {
            let program = program.as_ref()?;
            Some(theirs(program, dir, self.file, their_name, size, requests))
        };
        let (beside, tuned) = (them(&asked.cachesim), them(&asked.tuned));
        let show = |speed: Option<f64>| speed.map_or("-".into(), |x| format!("{x:.1}"));
        println!(
            "{name:6} {:5} {size:>7} {alone:>8.1} {whole:>10.1} {:>9.4} {:>11} {:>6} {:>7} {:>7}",
            self.trace,
            misses as f64 / requests as f64,
            show(beside.as_ref().map(|b| b.0)),
            beside.as_ref().map_or("-", |b| b.1.as_str()),
            show(beside.as_ref().map(|b| alone / b.0)),
            show(tuned.as_ref().map(|t| alone / t.0)),
        );
    }
}

/// All wanted cases of one trace.
fn cases_of(asked: &Asked, dir: &Path, trace: &str, generate: Generate) {
    let named = |policy: &str, percent: u32| format!("{policy}-{trace}-{percent}");
    let wanted = |policy: &str, percent: u32| {
        let case = named(policy, percent);
        asked.only.is_empty() || asked.only.contains(&case)
    };
    // Percent of the objects, and the divisor of the number of objects.
    let shares = [(1, 100), (10, 10)];
    let mut policies = POLICIES.iter();
    if !policies.any(|(policy, _)| shares.iter().any(|&(percent, _)| wanted(policy, percent))) {
        return;
    }
    let file = dir.join(format!("{trace}.oracleGeneral.bin"));
    let (ids, objects) = ids(&file, generate).expect("a trace");
    let input = Input::new(&ids, objects).expect("a generated trace");
    for (percent, share) in shares {
        for policy in POLICIES {
            if wanted(policy.0, percent) {
                let case = Case {
                    policy,
                    trace,
                    file: &file,
                    input: &input,
                    size: (objects / share) as u64,
                };
                case.measure_and_print(asked, dir);
            }
        }
    }
}

fn main() -> ExitCode {
    let asked = match asked() {
        Ok(asked) => asked,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::from(2);
        }
    };
    if asked.cachesim.is_none() {
        println!("libCacheSim is NOT measured: --cachesim names its program (built with -O3)");
    }
    let kept = asked.dir.clone();
    let dir = kept.unwrap_or_else(|| {
        std::env::temp_dir().join(format!("hotset-compare-{}", std::process::id()))
    });
    std::fs::create_dir_all(&dir).expect("a folder for the traces");
    println!(
        "million requests a second of CPU time; ours: median of {}",
        asked.runs
    );
    println!(
        "{:6} {:5} {:>7} {:>8} {:>10} {:>9} {:>11} {:>6} {:>7} {:>7}",
        "policy",
        "trace",
        "size",
        "ours",
        "end to end",
        "miss",
        "libCacheSim",
        "miss",
        "ratio",
        "tuned"
    );
    cases_of(&asked, &dir, "zipf", bench_traces::zipf);
    cases_of(&asked, &dir, "mix", bench_traces::mix);
    if asked.dir.is_none() {
        std::fs::remove_dir_all(&dir).expect("the traces' folder is removed");
    }
    ExitCode::SUCCESS
}
