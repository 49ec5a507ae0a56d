//! `hotset kernel`: command line in, calls to kbuild and a table or JSON out.
use anyhow::{bail, Result};
use clap::{Args, Subcommand};
use kbuild::cache::Cache;
use kbuild::check::{self, Only, Plan};
use kbuild::source::{self, Fetch};
use kbuild::{debian, Console, Flavour, Line, Origin, Request};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod boot;
mod show;

#[derive(Subcommand)]
pub enum Command {
    /// Fetch kernel source from Debian's archive, signatures checked
    ///
    /// The package linux-source-VERSION is looked for in Debian's backports or security suites, on
    /// the mirrors that this machine's apt sources name, with a private apt root: the machine's
    /// apt is neither changed nor needed to know these suites. About 170 MB are downloaded and
    /// 1.8 GB unpacked into ${XDG_CACHE_HOME:-~/.cache}/hotset/source. Any 7.3.x is taken for 7.3.
    /// What is in the cache is not fetched again. With --debian-image it is Debian's own kernel that
    /// is fetched, the cloud flavour for amd64, with its modules: 34 MB. The lab boots it in QEMU, as
    /// it is.
    #[command(after_help = "Examples:\n  \
        hotset kernel fetch                   Linux 7.3\n  \
        hotset kernel fetch 6.12 --refresh    the newest 6.12, even if the cache has one\n  \
        hotset kernel fetch 6.12 --debian-image   Debian's own kernel\n  \
        hotset kernel fetch 7.3 --tree ~/linux   only see whether that tree would do")]
    Fetch(FetchArgs),
    /// Build a kernel that the lab can boot, with a series or without
    ///
    /// Fetches what is missing. The image is kept in ${XDG_CACHE_HOME:-~/.cache}/hotset/kernel
    /// under a hash of source, configuration, patches and compiler, and built but once: about 4
    /// minutes on two processors. Builds go on from the last one's objects.
    #[command(after_help = "Examples:\n  \
        hotset kernel build                   7.3 with the series, User-Mode Linux\n  \
        hotset kernel build 7.3 --vanilla     the same without a patch\n  \
        hotset kernel build 6.12 --series both --arch x86_64   for QEMU, with both series\n  \
        hotset kernel build --arch x86_64 --variant debug      with lockdep and KASAN\n  \
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
        hotset kernel check --only 2 --no-boot\n  \
        hotset kernel check 6.12 --arch x86_64 --at-end   one build, booted in QEMU\n  \
        hotset kernel check 6.12 --touched-only           a minute a series")]
    Check(CheckArgs),
    /// Clear the cache of what today's kernels are not made of
    ///
    /// Removes sources and Debian kernels that are not the newest of their version, kernels and
    /// objects that no series and configuration of kernel/ makes of the newest source (those of
    /// --tree and --series-dir among them), and what interrupted processes left. Says what each
    /// frees. With --all everything goes that can be fetched or made again, data disks included.
    Clean {
        /// Only say what would go
        #[arg(long)]
        dry_run: bool,
        /// Everything, data disks of the lab included
        #[arg(long)]
        all: bool,
    },
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
    /// Fetch Debian's kernel package of this version instead of its source
    #[arg(long, conflicts_with = "tree")]
    debian_image: bool,
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
    /// Directory of NNNN-*.patch files, instead of those in kernel/series
    #[arg(long, value_name = "DIR")]
    series_dir: Option<PathBuf>,
    /// Architecture, as for make ARCH=; kernel/config has a fragment for each [default: um, or
    /// x86_64 where User-Mode Linux of VERSION does not start on this processor]
    #[arg(long)]
    arch: Option<String>,
    /// Another configuration: kernel/config/ARCH-NAME.config is laid over the architecture's
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
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
    /// Which patches: protection, swappiness, both, or generations, which are the test bed's alone
    /// [default: protection]
    #[arg(long, value_name = "SERIES", conflicts_with = "vanilla", num_args = 0..=1,
          default_missing_value = "protection", value_parser = which_series)]
    series: Option<Flavour>,
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
    /// Series to check: protection, swappiness (on a kernel as it is), both (swappiness on top of
    /// protection), or generations (the test bed's) [default: the first three that there are for VERSION]
    #[arg(long, value_name = "SERIES", value_parser = which_series)]
    series: Vec<Flavour>,
    /// Patches to check, by number: 3, 3.., ..3 or 2..4 (both included) [default: all]
    #[arg(long, value_name = "RANGE")]
    only: Option<Only>,
    /// Build and boot only with all patches applied, not after each; all must still apply
    #[arg(long)]
    at_end: bool,
    /// Compile only the files that the patches touch; build and boot no kernel. Takes a minute
    #[arg(long)]
    touched_only: bool,
    /// Leave booting out
    #[arg(long)]
    no_boot: bool,
    #[command(flatten)]
    how: HowArgs,
}

/// Reads `--series`.
fn which_series(text: &str) -> Result<Flavour> {
    match text.parse::<Flavour>() {
        Ok(flavour) if !flavour.series().is_empty() => Ok(flavour),
        _ => bail!("say protection, swappiness, both or generations"),
    }
}

/// The architecture asked for, or one that boots here.
fn arch(source: &SourceArgs, how: &HowArgs) -> String {
    let default = || {
        if boot::uml_starts(source.line) {
            "um"
        } else {
            "x86_64"
        }
    };
    how.arch.clone().unwrap_or_else(|| default().into())
}

fn request(source: &SourceArgs, how: &HowArgs, flavour: Flavour) -> Request {
    Request {
        arch: arch(source, how),
        variant: how.variant.clone(),
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
        Command::Clean { dry_run, all } => clean(dry_run, all),
        Command::List { json } => show::list(json),
    }
}

fn fetch(args: &FetchArgs, console: &mut Console) -> Result<ExitCode> {
    if args.debian_image {
        let fetching = args.source.fetch(args.refresh);
        let cache = Cache::of_user()?;
        let image = debian::fetch(&cache, &fetching, &mut |step| console.step(step))?;
        if args.json {
            println!("{}", serde_json::to_string_pretty(&image)?);
        } else {
            println!(
                "{} ({}): {}",
                image.label,
                image.package,
                image.image.display()
            );
        }
        return Ok(ExitCode::SUCCESS);
    }
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
        args.series.unwrap_or(Flavour::Series)
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

/// The series to check: those asked for, else each that there is. The second series comes first: it
/// is checked on what `build --vanilla` left, and what stands on the first follows that.
fn to_check(args: &CheckArgs) -> Result<Vec<Flavour>> {
    if !args.series.is_empty() {
        return Ok(args.series.clone());
    }
    // Numbers name patches of one series; a directory is one.
    if args.only.is_some() || args.how.series_dir.is_some() {
        return Ok(vec![Flavour::Series]);
    }
    let mut found = Vec::new();
    for flavour in [Flavour::Swappiness, Flavour::Series, Flavour::Both] {
        let dirs = request(&args.source, &args.how, flavour).series_dirs()?;
        if dirs.iter().all(|dir| dir.is_dir()) {
            found.push(flavour);
        }
    }
    if found.is_empty() {
        // Says where it looked.
        request(&args.source, &args.how, Flavour::Series).series()?;
    }
    Ok(found)
}

fn check(args: &CheckArgs, console: &mut Console) -> Result<ExitCode> {
    let booter = if args.no_boot {
        None
    } else {
        Some(boot::Booter::new(&arch(&args.source, &args.how))?)
    };
    let boot = booter
        .as_ref()
        .map(|booter| |image: &Path| booter.boot(image));
    let plan = Plan {
        only: args.only.unwrap_or(Only::ALL),
        at_end: args.at_end,
        touched_only: args.touched_only,
        boot: boot.as_ref().map(|f| f as &check::Boot),
    };
    let mut reports = Vec::new();
    for flavour in to_check(args)? {
        let request = request(&args.source, &args.how, flavour);
        let report = check::check(&request, &plan, &mut |step| console.step(step))?;
        if !args.how.json {
            print!("{}", show::table(&report));
        }
        reports.push(report);
    }
    let good = reports.iter().all(check::Report::good);
    if args.how.json {
        println!(
            "{}",
            serde_json::to_string_pretty(&json!({ "good": good, "reports": reports }))?
        );
    }
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

fn clean(dry_run: bool, all: bool) -> Result<ExitCode> {
    let cache = Cache::of_user()?;
    let items = kbuild::clean::plan(&cache, None, all)?;
    if !dry_run {
        kbuild::clean::remove(&cache, &items)?;
    }
    print!("{}", show::cleaned(&items, dry_run));
    Ok(ExitCode::SUCCESS)
}
