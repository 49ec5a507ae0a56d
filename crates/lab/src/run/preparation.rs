//! The preparation of a run: programs, a first boot of each kernel, and the data disk.
use super::options::Options;
use crate::bed::Bed;
use crate::experiment::Experiment;
use crate::guest::initramfs::Init;
use crate::guest::probe;
use crate::host::stop::Stop;
use crate::inputs::data_disk::Maker;
use crate::inputs::disk_cache::DataDisk;
use crate::inputs::kernels::{self, Images};
use crate::inputs::recorded::Recorded;
use crate::inputs::root::{self, Made};
use anyhow::{Context, Result};
use progress::Step;
use std::collections::btree_map::{BTreeMap, Entry};
use std::fs::File;
use std::io;
use std::path::Path;

/// Builds or finds what the guests boot: the image of the root, if there is one, and each kernel.
///
/// # Errors
/// A package or a kernel cannot be had.
pub fn obtain(experiment: &Experiment, options: &Options) -> Result<(Option<Made>, Images)> {
    let mut console = progress::Console::new(options.quiet);
    // Before kernels: a wrong package shows in seconds.
    let root = root::image(experiment, &mut |step| console.step(step))?;
    let images = kernels::images(
        experiment.arms.iter(),
        experiment.machine.bed.arch(),
        options.tree.as_deref(),
        &mut |step| console.step(step),
    )?;
    Ok((root, images))
}

/// Reads all programs and data that guests need. Every arm gets all of them, so that all arms have
/// the same memory.
///
/// # Errors
/// When a program is missing or not static.
pub fn init(experiment: &Experiment, recorded: &Recorded) -> Result<Init> {
    let mut init = Init::find()?;
    if experiment.arms.iter().any(|arm| arm.daemon.is_some()) {
        init = init.with_daemon()?;
    }
    if experiment.has_database() {
        init = init.with_database()?;
    }
    for (name, pages) in recorded.files() {
        init = init.with_recorded(name, pages);
    }
    let daemons = { experiment.arms.iter().filter_map(|arm| arm.daemon.as_ref()) }
        .filter(|daemon| !daemon.in_root);
    for program in daemons.filter_map(|daemon| daemon.program.as_deref()) {
        init = init.with_host_program(program)?;
    }
    Ok(init)
}

/// Boots each kernel once, so that a run does not begin on a bed that does not work.
///
/// # Errors
/// When a kernel does not boot.
pub fn probe_kernels(
    experiment: &Experiment,
    bed: &mut dyn Bed,
    images: &Images,
    init: &Init,
    stop: &Stop,
) -> Result<()> {
    let cpus = experiment.most_cpus();
    for image in images.values() {
        probe::probe(bed, &image.path, init, cpus, stop)?;
    }
    Ok(())
}

/// Reads a root's image, so that the first trials find it in the host's page cache as the later ones do. Data disks
/// are read at a speed that is set.
///
/// # Errors
/// The image cannot be read.
pub fn read_ahead(image: &Path) -> Result<()> {
    let read = File::open(image).and_then(|mut file| io::copy(&mut file, &mut io::sink()));
    read.with_context(|| format!("reading {}", image.display()))?;
    Ok(())
}

/// The image of each set of files: name to size in bytes.
pub type Disks = BTreeMap<BTreeMap<String, u64>, DataDisk>;

/// Makes the data disks of all arms, or finds those that an earlier run made; none if no worker reads a file.
///
/// # Errors
/// Those of [`Maker::image`].
pub fn data_disks(
    experiment: &Experiment,
    bed: &dyn Bed,
    images: &Images,
    init: &Init,
    stop: &Stop,
    console: &mut progress::Console,
) -> Result<Disks> {
    let mut disks = Disks::new();
    let Some(first) = { images.values().next() }.filter(|_| !experiment.files.is_empty()) else {
        return Ok(disks);
    };
    let maker = Maker {
        bed,
        kernel: &first.path,
        modules: &first.modules,
        init,
        stop,
        cache: kbuild::cache::Cache::of_user()?.folder("disk")?,
    };
    for arm in &experiment.arms {
        let files = experiment.of(arm).file_sizes();
        if let Entry::Vacant(vacant) = disks.entry(files) {
            let image = data_disk(&maker, vacant.key(), experiment.seed, console)?;
            vacant.insert(image);
        }
    }
    Ok(disks)
}

/// One data disk, with its progress.
fn data_disk(
    maker: &Maker<'_>,
    files: &BTreeMap<String, u64>,
    seed: u64,
    console: &mut progress::Console,
) -> Result<DataDisk> {
    let bytes: u64 = files.values().sum();
    let mut begun = false;
    let disk = maker.image(files, seed, &mut |fraction| {
        if !begun {
            begun = true;
            console.step(Step::Begin {
                title: "Filling the data disk".into(),
                total: Some(bytes),
                unit: progress::Unit::Bytes,
            });
        }
        console.step(Step::Advance {
            done: (bytes as f64 * fraction) as u64,
            detail: String::new(),
        });
    });
    if begun {
        let end = if disk.is_ok() {
            "Data disk filled"
        } else {
            "Data disk not filled"
        };
        console.step(Step::End { text: end.into() });
    }
    disk
}
