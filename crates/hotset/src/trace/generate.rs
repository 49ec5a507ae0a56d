//! `hotset trace generate`.
use super::convert::{output_format, print_summary};
use crate::shell::{self, usage, Force};
use anyhow::Result;
use clap::{Args, Subcommand};
use names::shown;
use progress::{Delayed, Unit};
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use trace::generate::{objects, Part, Spec};
use trace::{Batch, Error, Format, Packing, Writer};
use units::parse_count;

#[derive(Subcommand)]
pub enum Rule {
    /// Object of rank k in proportion to 1/k^alpha, ranks in random order
    #[command(
        after_help = "The random numbers are those of numpy's Generator(PCG64(seed)): permutation(objects), then\n\
        random(requests) searched in the cumulative sums.\n\nExamples:\n  \
        hotset trace generate zipf --count 10e6 --objects 1e6 --alpha 1 --seed 1 \\\n      zipf.oracleGeneral.bin\n  \
        hotset trace generate zipf --count 20e6 --seed 42 zipf.txt.zst"
    )]
    Zipf {
        /// Number of objects
        #[arg(long, default_value = "1e6", value_parser = objects)]
        objects: u32,
        /// The exponent; 0 is uniform
        #[arg(long, default_value_t = 1.0)]
        alpha: f64,
        #[command(flatten)]
        out: Out,
    },
    /// A share ALPHA of requests for a share BETA of objects, and likewise within (LRU-K's zipfian)
    SelfSimilar {
        #[arg(long, default_value = "1e3", value_parser = objects)]
        objects: u32,
        /// Share of the requests
        #[arg(long, default_value_t = 0.8)]
        alpha: f64,
        /// Share of the objects
        #[arg(long, default_value_t = 0.2)]
        beta: f64,
        #[command(flatten)]
        out: Out,
    },
    /// All objects equally likely
    Uniform {
        #[arg(long, default_value = "1e6", value_parser = objects)]
        objects: u32,
        #[command(flatten)]
        out: Out,
    },
    /// Each object once, in order
    Scan {
        #[command(flatten)]
        out: Out,
    },
    /// A loop: all objects in order, repeated
    Loop {
        #[arg(long, default_value = "100e3", value_parser = objects)]
        objects: u32,
        #[command(flatten)]
        out: Out,
    },
    /// An object of a small pool and of a large pool in turn (LRU-K's index and record pages)
    TwoPool {
        #[arg(long, default_value = "100", value_parser = objects)]
        first: u32,
        #[arg(long, default_value = "10e3", value_parser = objects)]
        second: u32,
        #[command(flatten)]
        out: Out,
    },
    /// Phases, each with its own working set; a Markov chain chooses the next phase
    Markov {
        #[arg(long, default_value_t = 10)]
        phases: u32,
        /// Objects of a phase
        #[arg(long, default_value = "10e3", value_parser = objects)]
        objects: u32,
        /// Share of a working set that is also in the next phase's
        #[arg(long, default_value_t = 0.0)]
        overlap: f64,
        /// Mean number of requests of a phase
        #[arg(long, default_value = "100e3", value_parser = parse_count)]
        mean: u64,
        #[command(flatten)]
        out: Out,
    },
    /// Bursts of several rules; without --part a loop, a scan and zipf over two million objects
    #[command(
        after_help = "A part is WEIGHT:RULE[,OPTION=VALUE...] with the options of that rule.\n\nExamples:\n  \
        hotset trace generate mix --count 10e6 --seed 4242 mix.oracleGeneral.bin\n  \
        hotset trace generate mix --part 0.7:zipf,objects=1e5 \\\n      --part 0.3:scan,objects=5e6 out.csv.gz"
    )]
    Mix {
        /// A part of the mix; may be given several times
        #[arg(long, value_name = "PART", value_parser = Part::parse)]
        part: Vec<Part>,
        /// Number of objects, without --part
        #[arg(long, default_value = "2e6", value_parser = objects, conflicts_with = "part")]
        objects: u32,
        /// Mean number of requests of a burst
        #[arg(long, default_value_t = 64.0)]
        burst: f64,
        #[command(flatten)]
        out: Out,
    },
}

#[derive(Args)]
pub struct Out {
    /// The trace to write, packed if it ends in .zst or .gz; - is standard output
    output: PathBuf,
    /// Number of requests: 4096, 10e3, 20_000_000
    #[arg(long, value_name = "N", default_value = "1e6", value_parser = parse_count)]
    count: u64,
    /// The same seed makes the same trace
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Format to write: oracleGeneral, spc, csv, text or lackey [default: by the ending of OUTPUT's name]
    #[arg(long = "to", value_name = "FORMAT")]
    to_format: Option<Format>,
    #[command(flatten)]
    force: Force,
    #[arg(long, help = shell::JSON_SUMMARY)]
    json: bool,
}

impl Rule {
    /// The arguments for the trace to write.
    fn out(&self) -> &Out {
        match self {
            Rule::Zipf { out, .. }
            | Rule::SelfSimilar { out, .. }
            | Rule::Uniform { out, .. }
            | Rule::Scan { out }
            | Rule::Loop { out, .. }
            | Rule::TwoPool { out, .. }
            | Rule::Markov { out, .. }
            | Rule::Mix { out, .. } => out,
        }
    }

    /// The name as the command line has it.
    fn name(&self) -> &'static str {
        match self {
            Rule::Zipf { .. } => "zipf",
            Rule::SelfSimilar { .. } => "self-similar",
            Rule::Uniform { .. } => "uniform",
            Rule::Scan { .. } => "scan",
            Rule::Loop { .. } => "loop",
            Rule::TwoPool { .. } => "two-pool",
            Rule::Markov { .. } => "markov",
            Rule::Mix { .. } => "mix",
        }
    }

    /// The rule as the trace crate takes it.
    fn spec(&self) -> Result<Spec> {
        Ok(match *self {
            Rule::Zipf { objects, alpha, .. } => Spec::Zipf { objects, alpha },
            Rule::SelfSimilar {
                objects,
                alpha,
                beta,
                ..
            } => Spec::SelfSimilar {
                objects,
                alpha,
                beta,
            },
            Rule::Uniform { objects, .. } => Spec::Uniform { objects },
            Rule::Scan { ref out } => match u32::try_from(out.count) {
                Ok(objects) if objects < u32::MAX => Spec::Scan {
                    objects: objects.max(1),
                },
                _ => {
                    let count = out.count;
                    return Err(usage!(
                        "--count: {count} is out of range for a scan (1 to 4294967294)"
                    ));
                }
            },
            Rule::Loop { objects, .. } => Spec::Loop { objects },
            Rule::TwoPool { first, second, .. } => Spec::TwoPool { first, second },
            Rule::Markov {
                phases,
                objects,
                overlap,
                mean,
                ..
            } => Spec::Markov {
                phases,
                objects,
                overlap,
                mean: mean as f64,
            },
            Rule::Mix {
                ref part,
                objects,
                burst,
                ..
            } => Spec::Mix {
                parts: parts_or_default(part, objects),
                burst,
            },
        })
    }
}

/// The parts that were given; without any, those of [`Spec::loop_scan_zipf`].
fn parts_or_default(given: &[Part], objects: u32) -> Vec<Part> {
    match Spec::loop_scan_zipf(objects) {
        Spec::Mix { parts, .. } if given.is_empty() => parts,
        _ => given.to_vec(),
    }
}

/// Requests in a second of the generated trace's own time.
const A_SECOND: u64 = 10_000;

/// Bytes of a generated object.
const SIZE: u32 = 4096;

/// # Errors
/// A parameter is out of its range, or the file cannot be written.
pub fn run(rule: &Rule) -> Result<ExitCode> {
    let (spec, args) = (rule.spec()?, rule.out());
    if args.count == 0 {
        return Err(usage!("--count: 0 is out of range (1 or more)"));
    }
    spec.check().map_err(|problem| usage!("--{problem}"))?;
    let format = output_format(&args.output, args.to_format)?;
    let mut writer = Writer::create(
        &args.output,
        format,
        Packing::of_name(&args.output),
        SIZE,
        args.force.rules(&[]),
    )?;
    let title = format!("Writing {}", shown(&args.output));
    let late = Delayed::new(title, Some(args.count), Unit::Steps);
    let mut batch = Batch::default();
    let mut done = 0;
    let mut failed: Option<Error> = None;
    let drawn = spec.requests(args.count, args.seed, |some| {
        if failed.is_some() {
            return;
        }
        batch.ids.clear();
        batch
            .ids
            .extend(some.iter().map(|&object| u64::from(object) + 1));
        if format != Format::Text {
            let end = done + some.len() as u64;
            batch.times.clear();
            batch
                .times
                .extend((done..end).map(|at| (at / A_SECOND) as f64));
        }
        done += some.len() as u64;
        failed = writer.put(&batch).err();
        late.advance(done);
    });
    drawn.map_err(|problem| usage!("--{problem}"))?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let written = writer.finish()?;
    drop(late);
    if args.json {
        let summary = json!({
            "output": args.output.to_string_lossy(),
            "to": format.name(),
            "rule": rule.name(),
            "seed": args.seed,
            "requests": written.requests,
        });
        print_summary(&args.output, "trace.generate", &summary)?;
    } else {
        let (output, requests) = (shown(&args.output), written.requests);
        shell::note(format!(
            "{output}: {requests} requests as {}",
            format.name()
        ));
    }
    Ok(ExitCode::SUCCESS)
}
