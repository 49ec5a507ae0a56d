//! `hotset kernel`: command line in, calls to kbuild and a table or JSON out.
use anyhow::Result;
use clap::{Args, Subcommand};
use kbuild::build::{self, Request};
use kbuild::cache::Cache;
use kbuild::check::{self, Only, Report, Verdict};
use kbuild::source::{self, Fetch};
use kbuild::{version, Console, Flavour, Line, Origin};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod boot;

#[derive(Subcommand)]
pub enum Command {
    /// Fetch kernel source from Debian's archive, signatures checked
    ///
    /// The package linux-source-VERSION is looked for in Debian's backports or security suites, on
    /// the mirrors that this machine's apt sources name, with a private apt root: the machine's
    /// apt is neither changed nor needed to know these suites. About 170 MB are downloaded and
    /// 1.8 GB unpacked into ${XDG_CACHE_HOME:-~/.cache}/hotset/source. Any 7.3.x is taken for 7.3.
    /// What is in the cache is not fetched again.
    #[command(after_help = "Examples:\n  \
        hotset kernel fetch                   Linux 7.3\n  \
        hotset kernel fetch 6.12 --refresh    the newest 6.12, even if the cache has one\n  \
        hotset kernel fetch 7.3 --tree ~/linux   only see whether that tree would do")]
    Fetch(FetchArgs),
    /// Build a kernel that the lab can boot, with the series or without
    ///
    /// Fetches what is missing. The image is kept in ${XDG_CACHE_HOME:-~/.cache}/hotset/kernel
    /// under a hash of source, configuration, patches and compiler, and built but once: about 4
    /// minutes on two processors. Builds go on from the last one's objects.
    #[command(after_help = "Examples:\n  \
        hotset kernel build                   7.3 with the series, User-Mode Linux\n  \
        hotset kernel build 7.3 --vanilla     the same without a patch\n  \
        hotset kernel build --series-dir my/patches --tree ~/linux --json")]
    Build(BuildArgs),
    /// Check a series patch by patch: applies, builds, boots, no warnings, checkpatch
    ///
    /// Each patch is laid over the tree with exact context; the kernel is built; the patch's own
    /// C files are compiled with W=1 (and sparse, where it is installed) and may have no new
    /// warning; the kernel is booted to userspace; and the tree's own checkpatch may find nothing.
    /// Ends with a table, and with exit status 1 when something failed.
    #[command(after_help = "Examples:\n  \
        hotset kernel check                   the whole series for 7.3\n  \
        hotset kernel check --only 3..        from patch 0003 on\n  \
        hotset kernel check --only 2 --no-boot")]
    Check(CheckArgs),
    /// List the sources and kernels in the cache, and the series there are
    List {
        /// Write JSON to standard output
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub struct FetchArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Look for a newer package even if the cache has one of this version
    #[arg(long, conflicts_with = "tree")]
    refresh: bool,
    /// Write JSON to standard output
    #[arg(long)]
    json: bool,
}

/// Where source comes from; the same for all commands.
#[derive(Args)]
struct SourceArgs {
    /// Line of kernels: 7.3 or 6.12
    #[arg(value_name = "VERSION", default_value = "7.3")]
    line: Line,
    /// Kernel source tree to use instead of Debian's; it is only read
    #[arg(long, value_name = "DIR")]
    tree: Option<PathBuf>,
    /// Mirror of Debian's archive [default: as this machine's apt sources say]
    #[arg(long, value_name = "URL", env = kbuild::mirrors::MAIN_VARIABLE)]
    mirror: Option<String>,
    /// Mirror of Debian's security archive [default: as this machine's apt sources say]
    #[arg(long, value_name = "URL", env = kbuild::mirrors::SECURITY_VARIABLE)]
    security_mirror: Option<String>,
}

impl SourceArgs {
    fn origin(&self) -> Origin {
        self.tree.clone().map_or(Origin::Debian, Origin::Tree)
    }

    fn fetch(&self, refresh: bool) -> Fetch {
        Fetch {
            mirror: self.mirror.clone(),
            security_mirror: self.security_mirror.clone(),
            refresh,
            ..Fetch::new(self.line)
        }
    }
}

/// What is built, and how; for build and check.
#[derive(Args)]
struct HowArgs {
    /// Directory of NNNN-*.patch files [default: kernel/series/VERSION]
    #[arg(long, value_name = "DIR")]
    series_dir: Option<PathBuf>,
    /// Architecture, as for make ARCH=; kernel/config has a fragment for each
    #[arg(long, default_value = "um")]
    arch: String,
    /// Compiler jobs to run at once [default: one for each processor]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Write JSON to standard output
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub struct BuildArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// With the series' patches (this is the default)
    #[arg(long, conflicts_with = "vanilla")]
    series: bool,
    /// Without patches
    #[arg(long, conflicts_with = "series_dir")]
    vanilla: bool,
    #[command(flatten)]
    how: HowArgs,
}

#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Patches to check, by number: 3, 3.., ..3 or 2..4 (both included) [default: all]
    #[arg(long, value_name = "RANGE")]
    only: Option<Only>,
    /// Leave booting out
    #[arg(long)]
    no_boot: bool,
    #[command(flatten)]
    how: HowArgs,
}

fn request(source: &SourceArgs, how: &HowArgs, flavour: Flavour) -> Request {
    Request {
        arch: how.arch.clone(),
        origin: source.origin(),
        fetch: source.fetch(false),
        series_dir: how.series_dir.clone(),
        jobs: how.jobs.map(usize::from),
        ..Request::new(source.line, flavour)
    }
}

pub fn run(command: Command) -> Result<ExitCode> {
    let mut console = Console::new(false);
    match command {
        Command::Fetch(args) => fetch(&args, &mut console),
        Command::Build(args) => build(&args, &mut console),
        Command::Check(args) => check(&args, &mut console),
        Command::List { json } => list(json),
    }
}

fn fetch(args: &FetchArgs, console: &mut Console) -> Result<ExitCode> {
    let source = source::get(
        &Cache::of_user()?,
        &args.source.origin(),
        &args.source.fetch(args.refresh),
        &mut |step| console.step(step),
    )?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&source)?);
    } else {
        let from = source.package.as_deref().unwrap_or("your own tree");
        println!(
            "Linux {} ({from}): {}",
            source.version,
            source.dir.display()
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn build(args: &BuildArgs, console: &mut Console) -> Result<ExitCode> {
    let flavour = if args.vanilla {
        Flavour::Vanilla
    } else {
        Flavour::Series
    };
    let request = request(&args.source, &args.how, flavour);
    let built = kbuild::ensure(&request, &mut |step| console.step(step))?;
    if args.how.json {
        println!("{}", serde_json::to_string_pretty(&built)?);
    } else {
        println!(
            "{} ({}): {}",
            built.label,
            built.arch,
            built.image.display()
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn check(args: &CheckArgs, console: &mut Console) -> Result<ExitCode> {
    let request = request(&args.source, &args.how, Flavour::Series);
    let booter = if args.no_boot {
        None
    } else {
        Some(boot::Booter::new()?)
    };
    let boot = booter
        .as_ref()
        .map(|booter| |image: &Path| booter.boot(image));
    let only = args.only.unwrap_or(Only::ALL);
    let report = check::check(
        &request,
        only,
        boot.as_ref().map(|f| f as &check::Boot),
        &mut |step| console.step(step),
    )?;
    if args.how.json {
        let good = report.good();
        println!(
            "{}",
            serde_json::to_string_pretty(&json!({ "good": good, "report": report }))?
        );
    } else {
        print!("{}", table(&report));
    }
    Ok(if report.good() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// One line a patch, then what failed and what was not run, with reasons.
fn table(report: &Report) -> String {
    let mut rows = vec![vec!["patch".to_string()]];
    rows[0].extend(check::TESTS.map(String::from));
    for patch in &report.patches {
        let mut row = vec![patch.patch.clone()];
        row.extend(patch.verdicts.iter().map(Verdict::cell));
        row.resize(rows[0].len(), "-".into());
        rows.push(row);
    }
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0))
        .collect();
    let mut text = format!("Series on Linux {} ({})\n", report.version, report.arch);
    for row in &rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    for patch in &report.patches {
        for (test, verdict) in check::TESTS.iter().zip(&patch.verdicts) {
            let (word, why) = match verdict {
                Verdict::Ok { .. } => continue,
                Verdict::NotRun { why } => ("not run", why),
                Verdict::Failed { why } => ("FAILED", why),
            };
            let why = why.replace('\n', "\n    ");
            text.push_str(&format!("{}: {test}: {word}: {why}\n", patch.patch));
        }
    }
    text
}

fn list(as_json: bool) -> Result<ExitCode> {
    let cache = Cache::of_user()?;
    let sources = source::all_cached(&cache)?;
    let kernels = build::all(&cache)?;
    let series: Vec<(Line, PathBuf, Result<usize, String>)> = version::KNOWN
        .iter()
        .filter_map(|line| {
            let dir = kbuild::rooms::series_dir(&kbuild::rooms::kernel_dir().ok()?, *line);
            let patches = kbuild::series::load(&dir).map(|patches| patches.len());
            Some((*line, dir, patches.map_err(|error| format!("{error:#}"))))
        })
        .collect();
    if as_json {
        let series: Vec<_> = series
            .iter()
            .map(|(line, dir, patches)| {
                json!({ "line": line.to_string(), "dir": dir, "patches": patches.as_ref().ok() })
            })
            .collect();
        let all = json!({ "cache": cache.root(), "sources": sources, "kernels": kernels,
            "series": series });
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(ExitCode::SUCCESS);
    }
    println!("Cache: {}", cache.root().display());
    println!("Sources:");
    for source in &sources {
        let from = source.package.as_deref().unwrap_or_default();
        println!(
            "  {:8} {from}  {}",
            source.version.to_string(),
            source.dir.display()
        );
    }
    if sources.is_empty() {
        println!("  none; `hotset kernel fetch` gets one");
    }
    println!("Kernels:");
    for kernel in &kernels {
        println!(
            "  {:28} {:8} {}",
            kernel.label,
            kernel.arch,
            kernel.image.display()
        );
    }
    if kernels.is_empty() {
        println!("  none; `hotset kernel build` makes one");
    }
    println!("Series:");
    for (line, dir, patches) in &series {
        let what = match patches {
            Ok(count) => format!("{count} patches"),
            Err(_) => "none".into(),
        };
        println!("  {line:8} {what:12} {}", dir.display());
    }
    Ok(ExitCode::SUCCESS)
}
