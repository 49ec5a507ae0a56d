//! `hotset kernel package`: a kernel for a machine of its own.
use super::source::{which_series, SourceArgs};
use crate::shell::{self, document, outln, usage};
use anyhow::Result;
use clap::{Args, ValueEnum, ValueHint};
use kbuild::build::package::{self, running_config, Format, Wanted};
use kbuild::fetch::debian;
use kbuild::fetch::source::check_tree;
use kbuild::{Flavour, Request};
use names::shown;
use progress::Console;
use std::path::PathBuf;
use std::process::ExitCode;

/// The word of --config for the configuration of Debian's kernel for virtual machines.
const CLOUD: &str = "debian-cloud";

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    Deb,
    Rpm,
}

#[derive(Args)]
pub struct PackageArgs {
    #[command(flatten)]
    pub source: SourceArgs,
    /// Which patches: protection, swappiness or both
    #[arg(long, value_name = "SERIES", default_value = "protection", value_parser = which_series)]
    series: Flavour,
    /// Folder of NNNN-*.patch files, instead of those in kernel/series
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    series_dir: Option<PathBuf>,
    /// The configuration to start from: a file, or debian-cloud for that of Debian's kernel for virtual machines
    /// [default: that of the kernel that runs]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
    /// Only the modules that are loaded on this machine
    #[arg(long)]
    only_loaded: bool,
    /// The kind of package
    #[arg(long, value_name = "KIND", default_value = "deb")]
    format: Kind,
    /// The folder that gets the packages
    #[arg(short, long, value_name = "FOLDER", default_value = ".", value_hint = ValueHint::DirPath)]
    output: PathBuf,
    /// Compiler jobs to run at once [default: one for each processor]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    #[arg(long, help = shell::JSON)]
    json: bool,
}

/// Builds the kernel, and names its packages.
///
/// # Errors
/// There is no configuration, a program is missing, or the build fails.
pub fn package(args: &PackageArgs, console: &mut Console) -> Result<ExitCode> {
    let request = Request {
        // The kernel's own name of the architecture.
        arch: std::env::consts::ARCH.replace("aarch64", "arm64"),
        origin: args.source.origin(),
        fetch: args.source.fetch(false),
        series_dir: args.series_dir.clone(),
        jobs: args.jobs.map(usize::from),
        ..Request::new(args.source.line, args.series)
    };
    if let Some(tree) = &args.source.tree {
        check_tree(tree, args.source.line)?;
    }
    let config = config(args, console)?;
    let wanted = Wanted {
        request: &request,
        config: &config,
        only_loaded: args.only_loaded,
        format: match args.format {
            Kind::Deb => Format::Deb,
            Kind::Rpm => Format::Rpm,
        },
        output: &args.output,
    };
    let made = package::package(&wanted, &mut |step| console.step(step))?;
    if args.json {
        outln!("{}", document("kernel.package", 1, &made)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    for file in &made.files {
        outln!("{}", shown(file))?;
    }
    outln!(
        "After the installation and a reboot, uname -r says {}.",
        made.release
    )?;
    Ok(ExitCode::SUCCESS)
}

fn config(args: &PackageArgs, console: &mut Console) -> Result<PathBuf> {
    match &args.config {
        Some(word) if word.as_os_str() == CLOUD => {
            Ok(debian::ensure(args.source.line, &mut |step| console.step(step))?.config)
        }
        Some(file) => Ok(file.clone()),
        None => running_config().ok_or_else(|| {
            usage!("the kernel that runs has no configuration in /boot: name one by --config, or {CLOUD}")
        }),
    }
}
