//! One trial: one boot of one arm, from its orders to its record.
use super::display::News;
use super::preparation::Disks;
use super::schedule::Turn;
use crate::bed::{Bed, Boot, Image, Root};
use crate::experiment::{Arm, Devices, Experiment, Lru, LRU_GEN};
use crate::guest::initramfs::Init;
use crate::guest::monitor::{Ending, Limits};
use crate::guest::retry::boot_and_listen;
use crate::host::stop::Stop;
use crate::inputs::kernels::{self, Images};
use crate::results::assembly::Assembly;
use crate::results::page_cache::Pages;
use crate::results::Results;
use anyhow::{bail, Result};
use protocol::record::{Outcome, Trial};
use protocol::spec::Trace;
use protocol::wire::Line;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::time::Duration;

/// The least growth of a trial's progress that is reported.
const PROGRESS_STEP: f64 = 0.005;

/// The data that all trials of a run share.
pub struct Shared<'a> {
    pub experiment: &'a Experiment,
    pub bed: &'a dyn Bed,
    pub images: &'a Images,
    pub init: &'a Init,
    pub disks: &'a Disks,
    /// The image of the root.
    pub root: Option<PathBuf>,
    pub results: &'a Results,
    /// Set by the user, or after a failure in any thread.
    pub stop: &'a Stop,
}

/// Makes one trial, and reports its progress to `progress` under the number `job`. None when the
/// trial was interrupted: half a trial is no result.
///
/// # Errors
/// When the guest cannot be started, its arm does not run as the experiment asks, or its results
/// cannot be written.
pub fn trial(
    shared: &Shared<'_>,
    turn: &Turn,
    job: usize,
    progress: &Sender<News>,
) -> Result<Option<Trial>> {
    let arm = &shared.experiment.arms[turn.arm];
    let name = format!("{}-{}", arm.name, turn.repetition);
    let report = |news| {
        // No thread receives once the run is over.
        let _ = progress.send(news);
    };
    report(News::Begun {
        job,
        name: name.clone(),
    });
    let Some(image) = shared.images.get(&kernels::key(arm)) else {
        bail!("arm {:?} has no kernel", arm.name);
    };
    let Some(trial) = measure(shared, turn, image, &|fraction, scene| {
        report(News::At {
            job,
            fraction,
            scene,
        });
    })?
    else {
        return Ok(None);
    };
    shared.results.trial(&trial)?;
    report(News::Ended {
        job,
        name,
        outcome: trial.outcome.clone(),
        wall_s: trial.wall_s,
    });
    Ok(Some(trial))
}

/// Boots the guest of a trial and listens to it until its end. `progress` gets the share of the trial
/// that is done, and the name of its scene. None when the trial was interrupted.
fn measure(
    shared: &Shared<'_>,
    turn: &Turn,
    image: &kernels::Image,
    progress: &dyn Fn(f64, String),
) -> Result<Option<Trial>> {
    let (arm, bed) = (&shared.experiment.arms[turn.arm], shared.bed);
    let experiment = &shared.experiment.of(arm);
    let limits = limits(experiment, bed);
    let nodes_mb = experiment.nodes_mb();
    let disk = shared.disks.get(&experiment.file_sizes());
    let archive = archive(shared, experiment, arm, turn.seed, image)?;
    let keep = kept(shared.results, experiment, &arm.name, turn.repetition)?;
    let boot = Boot {
        kernel: &image.path,
        initramfs: &archive,
        disk: disk.map(|disk| read_only(disk.path())),
        memory_mb: arm.memory_mb.unwrap_or(experiment.machine.memory_mb),
        cpus: experiment.machine.cpus,
        in_turn: false,
        nodes_mb: &nodes_mb,
        scratch_mb: experiment.machine.scratch_mb,
        keep: &keep,
        root: root(shared),
        command_line: &experiment.machine.command_line,
    };
    let planned = experiment.scenes.iter().map(|scene| scene.seconds);
    let mut assembly = Assembly::new(&arm.name, turn.repetition, turn.seed, planned.collect());
    let mut log = shared.results.console(&arm.name, turn.repetition)?;
    let traced = experiment.machine.trace.contains(&Trace::PageCache);
    let pages = traced.then(|| Pages::create(shared.results, &arm.name, turn.repetition));
    let mut pages = pages.transpose()?;
    let mut reported = 0.0;
    let mut on_line = |line| {
        if let Line::Settings { values } = &line {
            check_walks(bed, arm, values)?;
        }
        if let (Line::PageCache { files, runs }, Some(pages)) = (&line, &mut pages) {
            pages.take(files, runs)?;
        }
        assembly.take(line);
        let fraction = assembly.fraction();
        if fraction - reported >= PROGRESS_STEP {
            reported = fraction;
            progress(fraction, assembly.scene().unwrap_or_default().to_string());
        }
        Ok(())
    };
    let (heard, again) = boot_and_listen(bed, &boot, &mut log, limits, shared.stop, &mut on_line)?;
    if again > 0 {
        assembly.booted_again(again);
    }
    if heard.ending == Ending::Stopped {
        return Ok(None);
    }
    if let Some(pages) = pages {
        pages.finish()?;
    }
    let mut trial = assembly.finish(heard, limits.silent.as_secs());
    if let Outcome::Failed { message } = &mut trial.outcome {
        *message = experiment.places.placed(message);
    }
    Ok(Some(trial))
}

/// The files that are kept, and where: `traces/ARM-REPETITION.NAME`.
fn kept(
    results: &Results,
    experiment: &Experiment,
    arm: &str,
    repetition: u32,
) -> Result<Vec<(String, PathBuf)>> {
    let names = experiment.machine.keep.iter();
    names
        .map(|name| Ok((name.clone(), results.trace(arm, repetition, name)?)))
        .collect()
}

/// The data disk, which all guests share.
fn read_only(path: &Path) -> Image<'_> {
    Image {
        path,
        writable: false,
    }
}

/// The root of programs, which all guests share and each writes to by itself.
fn root<'a>(shared: &'a Shared<'_>) -> Option<Root<'a>> {
    let free_mb = shared.experiment.root.as_ref()?.free_mb;
    let path = shared.root.as_deref()?;
    Some(Root { path, free_mb })
}

/// The first root of a trial's guest.
fn archive(
    shared: &Shared<'_>,
    experiment: &Experiment,
    arm: &Arm,
    seed: u64,
    image: &kernels::Image,
) -> Result<Vec<u8>> {
    let data = !shared.disks.is_empty();
    let device = if data { shared.bed.device() } else { "" };
    let disks = usize::from(data) + usize::from(experiment.machine.scratch_mb > 0);
    let devices = Devices {
        data: device,
        scratch: shared.bed.scratch_device(data),
        root: shared.bed.root_device(disks),
    };
    let spec = experiment.spec(arm, seed, &devices);
    let config = arm.daemon.as_ref().map(|daemon| daemon.text());
    shared
        .init
        .archive_of(&spec, &image.modules, config.as_deref())
}

fn limits(experiment: &Experiment, bed: &dyn Bed) -> Limits {
    let slowness = bed.slowness();
    Limits {
        silent: Duration::from_secs(experiment.machine.silent_s * u64::from(slowness)),
        total: Duration::from_secs_f64(experiment.scene_seconds() * 3.0 + 600.0) * slowness,
    }
}

/// Checks that MGLRU walks page tables where the bed can. Without these walks MGLRU is another
/// algorithm, and the report would be wrong.
fn check_walks(bed: &dyn Bed, arm: &Arm, settings: &BTreeMap<String, String>) -> Result<()> {
    const ON: &str = "0x0007";
    if arm.lru != Some(Lru::Mglru) || !bed.walks_page_tables() {
        return Ok(());
    }
    let value = settings.get(LRU_GEN).map_or("missing", String::as_str);
    if value != ON {
        bail!(
            "arm {:?} on {}: {LRU_GEN} is {value}, not {ON}: MGLRU does not walk page tables; is \
             CONFIG_LRU_GEN_WALKS_MMU off in this kernel?",
            arm.name,
            bed.name()
        );
    }
    Ok(())
}
