//! `hotset trace generate`.
use super::convert::output_format;
use super::count;
use crate::late::Late;
use anyhow::{anyhow, bail, Result};
use clap::{Args, Subcommand};
use kbuild::progress::Unit;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;
use trace::generate::{Part, Spec};
use trace::{Batch, Error, Format, Packing, Writer};

#[derive(Subcommand)]
pub enum Rule {
    /// Object of rank k in proportion to 1/k^alpha, ranks in random order
    #[command(
        after_help = "The random numbers are those of numpy's Generator(PCG64(seed)): permutation(objects), then\n\
        random(requests) searched in the cumulative sums.\n\nExamples:\n  \
        hotset trace generate zipf --requests 10M --objects 1M --alpha 1 --seed 1 zipf.oracleGeneral.bin\n  \
        hotset trace generate zipf --requests 20M --seed 42 zipf.txt.zst"
    )]
    Zipf {
        /// Objects that may come
        #[arg(long, default_value = "1M", value_parser = objects)]
        objects: u32,
        /// The exponent; 0 is uniform
        #[arg(long, default_value_t = 1.0)]
        alpha: f64,
        #[command(flatten)]
        out: Out,
    },
    /// A share ALPHA of requests to a share BETA of objects, again and again within (LRU-K's zipfian)
    SelfSimilar {
        #[arg(long, default_value = "1k", value_parser = objects)]
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
    /// All objects alike
    Uniform {
        #[arg(long, default_value = "1M", value_parser = objects)]
        objects: u32,
        #[command(flatten)]
        out: Out,
    },
    /// Each object once, in order
    Scan {
        #[command(flatten)]
        out: Out,
    },
    /// All objects in order, again and again
    Loop {
        #[arg(long, default_value = "100k", value_parser = objects)]
        objects: u32,
        #[command(flatten)]
        out: Out,
    },
    /// By turns an object of a small and of a large pool (LRU-K's index and record pages)
    TwoPool {
        #[arg(long, default_value = "100", value_parser = objects)]
        first: u32,
        #[arg(long, default_value = "10k", value_parser = objects)]
        second: u32,
        #[command(flatten)]
        out: Out,
    },
    /// Phases, each with a working set of its own; a Markov chain says which comes next
    Markov {
        #[arg(long, default_value_t = 10)]
        phases: u32,
        /// Objects of a phase
        #[arg(long, default_value = "10k", value_parser = objects)]
        objects: u32,
        /// Of a working set, the share that its neighbour has too
        #[arg(long, default_value_t = 0.0)]
        overlap: f64,
        /// Requests of a phase on average
        #[arg(long, default_value = "100k", value_parser = count)]
        mean: u64,
        #[command(flatten)]
        out: Out,
    },
    /// Bursts of several rules; without --part a loop, a scan and zipf over 2M objects
    #[command(
        after_help = "A part is WEIGHT:RULE[,OPTION=VALUE...] with the options of that rule.\n\nExamples:\n  \
        hotset trace generate mix --requests 10M --seed 4242 mix.oracleGeneral.bin\n  \
        hotset trace generate mix --part 0.7:zipf,objects=100k,alpha=0.9 --part 0.3:scan,objects=5M out.csv.gz"
    )]
    Mix {
        /// May be given several times
        #[arg(long, value_name = "PART", value_parser = part)]
        part: Vec<Part>,
        /// Without --part: objects in all
        #[arg(long, default_value = "2M", value_parser = objects, conflicts_with = "part")]
        objects: u32,
        /// Requests of a burst on average
        #[arg(long, default_value_t = 64.0)]
        burst: f64,
        #[command(flatten)]
        out: Out,
    },
}

#[derive(Args)]
pub struct Out {
    /// The trace to write, packed if it ends in .zst or .gz; - is standard output
    out: PathBuf,
    /// How many requests: 4096, 10k, 1M, 1G
    #[arg(long, value_name = "COUNT", default_value = "1M", value_parser = count)]
    requests: u64,
    /// The same seed makes the same trace
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// oracleGeneral, spc, csv, text or lackey, where OUT's name does not tell
    #[arg(long = "to", value_name = "FORMAT")]
    to_format: Option<Format>,
    /// Say on standard error what was done, as JSON
    #[arg(long)]
    json: bool,
}

fn objects(text: &str) -> Result<u32, String> {
    match u32::try_from(count(text)?) {
        Ok(n) if n > 0 && n < u32::MAX => Ok(n),
        _ => Err(format!("\"{text}\": 1 to 4294967294 objects")),
    }
}

/// `0.4:zipf,objects=200k,alpha=0.8`.
fn part(text: &str) -> Result<Part, String> {
    let (weight, rule) = text
        .split_once(':')
        .ok_or("WEIGHT:RULE[,OPTION=VALUE...] is expected")?;
    let weight: f64 = weight
        .parse()
        .map_err(|_| format!("weight {weight}: no number"))?;
    let mut words = rule.split(',');
    let name = words.next().unwrap_or_default();
    let mut options = Vec::new();
    for word in words {
        options.push(
            word.split_once('=')
                .ok_or(format!("{word}: OPTION=VALUE is expected"))?,
        );
    }
    let mut take = |name: &str, usual: f64| -> Result<f64, String> {
        let Some(at) = options.iter().position(|o| o.0 == name) else {
            return Ok(usual);
        };
        let (_, value) = options.remove(at);
        let counted = count(value).map(|n| n as f64);
        counted.or_else(|wrong| value.parse().map_err(|_| wrong))
    };
    let whole = |n: f64| match n >= 1.0 && n < f64::from(u32::MAX) {
        true => Ok(n as u32),
        false => Err(format!("{n}: 1 to 4294967294 objects")),
    };
    let spec = match name {
        "zipf" => Spec::Zipf {
            objects: whole(take("objects", 1e6)?)?,
            alpha: take("alpha", 1.0)?,
        },
        "self-similar" => Spec::SelfSimilar {
            objects: whole(take("objects", 1e3)?)?,
            alpha: take("alpha", 0.8)?,
            beta: take("beta", 0.2)?,
        },
        "uniform" => Spec::Uniform {
            objects: whole(take("objects", 1e6)?)?,
        },
        "scan" => Spec::Scan {
            objects: whole(take("objects", 1e6)?)?,
        },
        "loop" => Spec::Loop {
            objects: whole(take("objects", 1e5)?)?,
        },
        "two-pool" => Spec::TwoPool {
            first: whole(take("first", 100.0)?)?,
            second: whole(take("second", 1e4)?)?,
        },
        "markov" => Spec::Markov {
            phases: whole(take("phases", 10.0)?)?,
            objects: whole(take("objects", 1e4)?)?,
            overlap: take("overlap", 0.0)?,
            mean: take("mean", 1e5)?,
        },
        _ => return Err(format!("there is no rule \"{name}\"")),
    };
    match options.first() {
        Some((name, _)) => Err(format!("{name}: the rule has no such option")),
        None => Ok(Part { weight, spec }),
    }
}

impl Rule {
    fn spec(&self) -> Result<(Spec, &Out)> {
        Ok(match self {
            Rule::Zipf {
                objects,
                alpha,
                out,
            } => (
                Spec::Zipf {
                    objects: *objects,
                    alpha: *alpha,
                },
                out,
            ),
            Rule::SelfSimilar {
                objects,
                alpha,
                beta,
                out,
            } => (
                Spec::SelfSimilar {
                    objects: *objects,
                    alpha: *alpha,
                    beta: *beta,
                },
                out,
            ),
            Rule::Uniform { objects, out } => (Spec::Uniform { objects: *objects }, out),
            Rule::Scan { out } => match u32::try_from(out.requests) {
                Ok(objects) if objects < u32::MAX => (
                    Spec::Scan {
                        objects: objects.max(1),
                    },
                    out,
                ),
                _ => bail!("a scan has an object a request: at most 4294967294"),
            },
            Rule::Loop { objects, out } => (Spec::Loop { objects: *objects }, out),
            Rule::TwoPool { first, second, out } => (
                Spec::TwoPool {
                    first: *first,
                    second: *second,
                },
                out,
            ),
            Rule::Markov {
                phases,
                objects,
                overlap,
                mean,
                out,
            } => (
                Spec::Markov {
                    phases: *phases,
                    objects: *objects,
                    overlap: *overlap,
                    mean: *mean as f64,
                },
                out,
            ),
            Rule::Mix {
                part,
                objects,
                burst,
                out,
            } => {
                let parts = match part.is_empty() {
                    false => part.clone(),
                    true => match Spec::loop_scan_zipf(*objects) {
                        Spec::Mix { parts, .. } => parts,
                        other => vec![Part {
                            weight: 1.0,
                            spec: other,
                        }],
                    },
                };
                (
                    Spec::Mix {
                        parts,
                        burst: *burst,
                    },
                    out,
                )
            }
        })
    }
}

/// Requests in a second of the generated trace's own time.
const A_SECOND: u64 = 10_000;

/// Bytes of a generated object.
const SIZE: u32 = 4096;

/// # Errors
/// Parameters that make no trace, and the file's.
pub fn run(rule: &Rule) -> Result<ExitCode> {
    let (spec, args) = rule.spec()?;
    spec.check().map_err(|problem| anyhow!(problem))?;
    if args.requests == 0 {
        bail!("--requests 0: no trace");
    }
    let format = output_format(&args.out, args.to_format)?;
    let mut writer = Writer::create(&args.out, format, Packing::of_name(&args.out), SIZE)?;
    let what = format!("Writing {}", args.out.display());
    let late = Late::new(what, Some(args.requests), Unit::Steps);
    let mut batch = Batch::default();
    let mut done = 0;
    let mut failed: Option<Error> = None;
    let drawn = spec.requests(args.requests, args.seed, |some| {
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
    drawn.map_err(|problem| anyhow!(problem))?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let written = writer.finish()?;
    drop(late);
    if args.json {
        eprintln!(
            "{}",
            json!({ "requests": written.requests, "to": format.name(), "seed": args.seed })
        );
    } else {
        eprintln!("{} requests as {}", written.requests, format.name());
    }
    Ok(ExitCode::SUCCESS)
}
