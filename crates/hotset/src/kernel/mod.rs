//! `hotset kernel`: turns the command line into calls of kbuild, and prints tables or JSON.
use crate::shell::{self, document, out, outln, usage, verbose};
use anyhow::Result;
use clap::{Args, Subcommand};
use kbuild::cache::Cache;
use kbuild::check::{self, Only, Plan};
use kbuild::fetch::debian;
use kbuild::fetch::source as sources;
use kbuild::patches::series;
use kbuild::{layout, Flavour, Request};
use names::shown;
use progress::Console;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

mod boot;
mod clean;
mod list;
mod package;
mod show;
mod source;

use package::PackageArgs;
pub use source::known;
use source::{which_series, SourceArgs};

#[derive(Subcommand)]
pub enum Command {
    /// Fetch kernel source from Debian's archive, signatures checked
    ///
    /// The package is linux-source-VERSION of Debian's backports or security suites, from the mirrors
    /// that this machine's apt sources name. A private apt root does the work: the machine's apt is not
    /// changed, and need not know these suites. The download is about 170 MB; 1.8 GB are unpacked into
    /// ${XDG_CACHE_HOME:-~/.cache}/hotset/source. Any 7.3.x serves as 7.3. A source in the cache is not
    /// fetched again. --debian-image fetches Debian's own kernel instead, the cloud flavour for amd64,
    /// with its modules: 34 MB. The lab boots it in QEMU, unchanged.
    #[command(after_help = "Examples:\n  \
        hotset kernel fetch                      # Linux 7.3\n  \
        hotset kernel fetch 6.12 --refresh       # the newest 6.12\n  \
        hotset kernel fetch 6.12 --debian-image  # Debian's own kernel\n  \
        hotset kernel fetch 7.3 --tree ~/linux   # only check that tree")]
    Fetch(FetchArgs),
    /// Build a kernel that the lab can boot, with or without a series
    ///
    /// Fetches the source if the cache has none. The image goes to
    /// ${XDG_CACHE_HOME:-~/.cache}/hotset/kernel under a hash of source, configuration, patches and
    /// compiler, and is built only once: about 4 minutes on two processors. A build reuses the objects
    /// of the last one.
    #[command(after_help = "Examples:\n  \
        hotset kernel build                # 7.3 with the series, User-Mode Linux\n  \
        hotset kernel build 7.3 --vanilla  # the same without a patch\n  \
        hotset kernel build 6.12 --series both --arch x86_64  # for QEMU\n  \
        hotset kernel build --arch x86_64 --variant debug     # lockdep, KASAN\n  \
        hotset kernel build --series-dir my/patches --tree ~/linux --json")]
    Build(BuildArgs),
    /// Check a series patch by patch: applies, builds, boots, no warnings, checkpatch
    ///
    /// Each patch must apply with exact context, build, and boot to userspace. Its own C files may have no
    /// new warning with W=1 (and sparse, where it is installed). The tree's own checkpatch may find
    /// nothing. Prints a table. Exit status: 1 when a test failed.
    #[command(after_help = "Examples:\n  \
        hotset kernel check                       # each series for 7.3\n  \
        hotset kernel check --series protection --only 3..  # from patch 0003 on\n  \
        hotset kernel check --series protection --only 2 --no-boot\n  \
        hotset kernel check 6.12 --arch x86_64 --at-end     # one build, in QEMU\n  \
        hotset kernel check 6.12 --touched-only   # a minute a series")]
    Check(CheckArgs),
    /// Remove cached files that no current kernel needs
    ///
    /// Removes sources and Debian kernels that are not the newest of their version. Removes kernels and
    /// objects that no series and configuration of kernel/ makes from the newest source, including those
    /// of --tree and --series-dir. Removes unfinished files of interrupted processes. Names each with the
    /// space that it frees before any is removed. --all removes everything that can be fetched or made
    /// again, data disks included.
    Clean {
        /// Only print what would be removed
        #[arg(long)]
        dry_run: bool,
        /// Remove everything, data disks of the lab included
        #[arg(long)]
        all: bool,
        #[arg(long, help = shell::JSON)]
        json: bool,
    },
    /// Make packages of a kernel with a series, for a machine of its own
    ///
    /// The configuration is that of the kernel that runs, as distributions install it, or --config names one. A
    /// distribution's keys and debugging information are left out. A whole distribution's kernel takes 12 GB and, on two
    /// processors, two hours; --only-loaded takes the modules that this machine has loaded, and minutes.
    #[command(after_help = "Examples:\n  \
        hotset kernel package 7.3 --series protection\n  \
        hotset kernel package 6.12 --series both --only-loaded --format rpm\n  \
        hotset kernel package --config debian-cloud  # for virtual machines")]
    Package(PackageArgs),
    /// List the sources and kernels in the cache, and the series
    List {
        #[arg(long, help = shell::JSON)]
        json: bool,
    },
}

#[derive(Args)]
pub struct FetchArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Check for a newer package even if the cache has one of this version
    #[arg(long, conflicts_with = "tree")]
    refresh: bool,
    /// Fetch Debian's kernel package of this version instead of its source
    #[arg(long, conflicts_with = "tree")]
    debian_image: bool,
    #[arg(long, help = shell::JSON)]
    json: bool,
}

/// The configuration and the build; the same arguments for build and check.
#[derive(Args)]
struct HowArgs {
    /// Folder of NNNN-*.patch files, instead of those in kernel/series
    #[arg(long, value_name = "FOLDER")]
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
    #[arg(long, help = shell::JSON)]
    json: bool,
}

impl HowArgs {
    /// Checks what the options name, before hours of work.
    ///
    /// # Errors
    /// There is no such architecture or variant, or no patch in the folder.
    fn check(&self, source: &SourceArgs, series: &[Flavour]) -> Result<()> {
        if self.series_dir.is_some() && series.contains(&Flavour::Both) {
            return Err(usage!(
                "--series both is two series, and --series-dir names one: give one of the two options"
            ));
        }
        let wrong = |error: anyhow::Error| usage!("{error:#}");
        if let Ok(kernel) = layout::kernel_dir() {
            let (arch, variant) = (arch(source, self), self.variant.as_deref());
            layout::fragments(&kernel, &arch, variant, source.line).map_err(wrong)?;
        }
        match &self.series_dir {
            Some(folder) => series::load(folder).map(|_| ()).map_err(wrong),
            None => Ok(()),
        }
    }
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
    /// Compile and boot only with all patches applied, not after each; all must still apply
    #[arg(long)]
    at_end: bool,
    /// Compile only the files that the patches touch; build and boot no kernel. Takes a minute
    #[arg(long)]
    touched_only: bool,
    /// Do not boot the kernels
    #[arg(long)]
    no_boot: bool,
    #[command(flatten)]
    how: HowArgs,
}

/// The architecture that `--arch` names, or one that boots on this processor.
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
    let source = match &command {
        // Of Debian's images there are more lines than of the series.
        Command::Fetch(args) if args.debian_image => None,
        Command::Fetch(args) => Some(&args.source),
        Command::Build(args) => Some(&args.source),
        Command::Check(args) => Some(&args.source),
        Command::Package(args) => Some(&args.source),
        Command::Clean { .. } | Command::List { .. } => None,
    };
    if let Some(source) = source {
        known(source.line, source.tree.as_deref())?;
    }
    match &command {
        Command::Build(args) => args.how.check(&args.source, args.series.as_slice())?,
        Command::Check(args) => args.how.check(&args.source, &args.series)?,
        _ => {}
    }
    if let Ok(cache) = Cache::of_user() {
        verbose(format!("cache: {}", shown(cache.root())));
    }
    let mut console = Console::new(false);
    match command {
        Command::Fetch(args) => fetch(&args, &mut console),
        Command::Build(args) => build(&args, &mut console),
        Command::Check(args) => check(&args, &mut console),
        Command::Clean { dry_run, all, json } => clean::clean(dry_run, all, json),
        Command::List { json } => list::list(json),
        Command::Package(args) => package::package(&args, &mut console),
    }
}

fn fetch(args: &FetchArgs, console: &mut Console) -> Result<ExitCode> {
    if args.debian_image {
        let fetching = args.source.fetch(args.refresh);
        let cache = Cache::of_user()?;
        let image = debian::fetch(&cache, &fetching, &mut |step| console.step(step))?;
        if args.json {
            outln!("{}", document("kernel.fetch", 1, &image)?)?;
        } else {
            let path = shown(&image.image);
            outln!("{} ({}): {path}", image.label, image.package)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let source = sources::get(
        &Cache::of_user()?,
        &args.source.origin(),
        &args.source.fetch(args.refresh),
        &mut |step| console.step(step),
    )?;
    if args.json {
        outln!("{}", document("kernel.fetch", 1, &source)?)?;
    } else {
        let from = source.package.as_deref().unwrap_or("your own tree");
        outln!("Linux {} ({from}): {}", source.version, shown(&source.dir))?;
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
        outln!("{}", document("kernel.build", 1, &built)?)?;
    } else {
        outln!("{} ({}): {}", built.label, built.arch, shown(&built.image))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The series to check: those that `--series` names, else each that exists. Swappiness comes first, since
/// it builds on the objects that `build --vanilla` left; the combination builds on the protection series.
fn to_check(args: &CheckArgs) -> Result<Vec<Flavour>> {
    if !args.series.is_empty() {
        return Ok(args.series.clone());
    }
    // Patch numbers belong to one series, and a directory holds one series.
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
        // The error names the directory.
        request(&args.source, &args.how, Flavour::Series).series()?;
    }
    Ok(found)
}

/// Found out before a source is fetched and compiled.
fn chosen_exist(request: &Request, only: Only) -> Result<()> {
    let numbers: Vec<u32> = request
        .series()?
        .pop()
        .unwrap_or_default()
        .iter()
        .map(|it| it.number)
        .collect();
    if numbers.iter().any(|number| only.has(*number)) {
        return Ok(());
    }
    let (first, last) = (numbers.iter().min(), numbers.iter().max());
    Err(usage!(
        "--only: the series has no such patch; its numbers are {} to {}",
        first.unwrap_or(&0),
        last.unwrap_or(&0)
    ))
}

fn check(args: &CheckArgs, console: &mut Console) -> Result<ExitCode> {
    let flavours = to_check(args)?;
    let only = args.only.unwrap_or(Only::ALL);
    for flavour in &flavours {
        chosen_exist(&request(&args.source, &args.how, *flavour), only)?;
    }
    let booter = if args.no_boot || args.touched_only {
        None
    } else {
        Some(boot::Booter::new(&arch(&args.source, &args.how))?)
    };
    let boot = booter
        .as_ref()
        .map(|booter| |image: &Path| booter.boot(image));
    let plan = Plan {
        only,
        at_end: args.at_end,
        touched_only: args.touched_only,
        boot: boot.as_ref().map(|f| f as &check::Boot),
    };
    let mut reports = Vec::new();
    for flavour in flavours {
        let request = request(&args.source, &args.how, flavour);
        let report = check::check(&request, &plan, &mut |step| console.step(step))?;
        if !args.how.json {
            out!("{}", show::table(&report))?;
        }
        reports.push(report);
    }
    let good = reports.iter().all(check::Report::good);
    if args.how.json {
        let whole = json!({ "good": good, "reports": reports });
        outln!("{}", document("kernel.check", 1, &whole)?)?;
    }
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}
