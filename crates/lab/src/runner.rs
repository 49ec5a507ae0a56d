//! Runs an experiment: boots each arm of each repetition and writes what it said.
use crate::attend::{Ending, Limits};
use crate::bed::{self, Bed, Boot, Image};
use crate::boots::boot_and_attend;
use crate::disk::Maker;
use crate::experiment::{Arm, Experiment, Lru, LRU_GEN};
use crate::host;
use crate::initramfs::Init;
use crate::kernels::{self, Images};
use crate::order::{turns, Turn};
use crate::pages::Pages;
use crate::probe;
use crate::progress::{Display, News};
use crate::recorded::Recorded;
use crate::results::Results;
use crate::resume;
use crate::stop::Stop;
use crate::trial::Assembly;
use anyhow::{bail, Context, Result};
use kbuild::Step;
use raw::record::{Outcome, Run, Trial, SCHEMA};
use raw::spec::Trace;
use raw::wire::Line;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How an experiment is to be run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Guests at once.
    pub jobs: u32,
    pub out: PathBuf,
    /// Kernel source to use instead of Debian's.
    pub tree: Option<PathBuf>,
    /// Go on with the run that `out` has a part of.
    pub resume: bool,
    /// Go on after a guest reported an error of its own.
    pub keep_going: bool,
    /// No progress on standard error.
    pub quiet: bool,
    /// The command line that makes this run again, for the report.
    pub command: String,
}

/// How a run ended.
#[derive(Debug)]
pub struct Summary {
    /// The folder of the run.
    pub dir: PathBuf,
    /// Arm, repetition, outcome, in the order in which they ended.
    pub trials: Vec<(String, u32, Outcome)>,
    pub planned: usize,
    /// Stopped by Ctrl-C or SIGTERM.
    pub interrupted: bool,
}

impl Summary {
    /// Every planned trial was made and ended well.
    pub fn all_ok(&self) -> bool {
        let well = self
            .trials
            .iter()
            .all(|(_, _, outcome)| *outcome == Outcome::Ok);
        well && self.trials.len() == self.planned
    }
}

/// About how long a run takes with `jobs` guests at once, and how long at most, in seconds; kernels
/// and data disk are there. Scenes that end on an event are taken to last a quarter of their limit.
pub fn estimate(experiment: &Experiment, jobs: u32) -> (f64, f64) {
    // Boot, settling between scenes and power-off.
    const AROUND: f64 = 2.0;
    let scenes = experiment.scenes.iter();
    let usual = scenes.map(|scene| match scene.until {
        Some(_) => scene.seconds / 4.0,
        None => scene.seconds,
    });
    let trials = experiment.arms.len() as f64 * f64::from(experiment.repetitions);
    let rounds = (trials / f64::from(jobs.max(1))).ceil();
    let seconds = |scenes: f64| rounds * (scenes + AROUND);
    (seconds(usual.sum()), seconds(experiment.scene_seconds()))
}

/// What all trials of a run share.
struct Shared<'a> {
    experiment: &'a Experiment,
    bed: &'a dyn Bed,
    images: &'a Images,
    init: &'a Init,
    disk: Option<PathBuf>,
    results: &'a Results,
    /// Asked by the user, or by a failure in any thread.
    stop: &'a Stop,
}

/// Runs all arms and repetitions of an experiment. When a signal asks to stop, guests are ended,
/// what was measured is kept, and the summary says so.
///
/// # Errors
/// When the lab itself fails: no kernel, no room on a disk, guests that do not boot at all. What was
/// written until then stays readable.
pub fn run(experiment: &Experiment, options: &Options) -> Result<Summary> {
    if !options.resume {
        Results::vacant(&options.out)?;
    }
    let mut console = kbuild::Console::new(options.quiet);
    let machine = &experiment.machine;
    let images = kernels::images(
        experiment.arms.iter(),
        machine.bed.arch(),
        options.tree.as_deref(),
        &mut |step| console.step(step),
    )?;
    let mut init = Init::find()?;
    // In every arm, so that all have the same memory.
    if experiment.arms.iter().any(|arm| arm.daemon.is_some()) {
        init = init.with_daemon()?;
    }
    // In every arm likewise.
    if experiment.has_database() {
        init = init.with_database()?;
    }
    let recorded = Recorded::of(experiment)?;
    for (name, pages) in recorded.files() {
        init = init.with_recorded(name, pages);
    }
    let daemons = experiment.arms.iter().filter_map(|arm| arm.daemon.as_ref());
    for program in daemons.filter_map(|daemon| daemon.program.as_deref()) {
        init = init.with_foreign(program)?;
    }
    // From here on signals are ours: there is something to put back.
    let signals = Stop::on_signals()?;
    let memories = experiment.arms.iter().filter_map(|arm| arm.memory_mb);
    let memory_mb = memories.fold(machine.memory_mb, u64::max);
    let mut bed = bed::open(machine.bed, memory_mb, options.jobs, machine.icount)?;
    let ready = ready(
        experiment,
        bed.as_mut(),
        &images,
        &init,
        &signals,
        &mut console,
    );
    let disk = match ready {
        Err(_) if signals.asked() => {
            return Ok(Summary {
                dir: options.out.clone(),
                trials: Vec::new(),
                planned: experiment.arms.len() * experiment.repetitions as usize,
                interrupted: true,
            })
        }
        ready => ready?,
    };
    let header = header(experiment, options, bed.as_ref(), &images);
    let (results, made) = match options.resume {
        true => (
            Results::of(&options.out),
            resume::made(&options.out, &header)?,
        ),
        false => {
            let results = Results::create(&options.out)?;
            results.run(&header)?;
            (results, Vec::new())
        }
    };
    recorded.keep(results.dir())?;
    let all = turns(
        experiment.arms.len(),
        experiment.repetitions,
        experiment.seed,
    );
    let is_made = |turn: &Turn| {
        let name = &experiment.arms[turn.arm].name;
        { made.iter() }.any(|(arm, repetition, _)| arm == name && *repetition == turn.repetition)
    };
    let turns: Vec<Turn> = all.iter().filter(|turn| !is_made(turn)).copied().collect();
    let shared = Shared {
        experiment,
        bed: bed.as_ref(),
        images: &images,
        init: &init,
        disk,
        results: &results,
        stop: &signals,
    };
    let mut trials = made;
    trials.extend(play(&shared, &turns, options)?);
    Ok(Summary {
        trials,
        planned: all.len(),
        interrupted: signals.asked(),
        dir: options.out.clone(),
    })
}

/// Boots each kernel once, and makes the data disk.
fn ready(
    experiment: &Experiment,
    bed: &mut dyn Bed,
    images: &Images,
    init: &Init,
    stop: &Stop,
    console: &mut kbuild::Console,
) -> Result<Option<PathBuf>> {
    let cpus = experiment.machine.cpus;
    for image in images.values() {
        probe::probe(bed, &image.path, init, cpus, stop)?;
    }
    let files = experiment.file_sizes();
    let Some(first) = images.values().next().filter(|_| !files.is_empty()) else {
        return Ok(None);
    };
    let maker = Maker {
        bed,
        kernel: &first.path,
        modules: &first.modules,
        init,
        stop,
        cache: kbuild::cache::Cache::of_user()?.room("disk")?,
    };
    let bytes: u64 = files.values().sum();
    let mut begun = false;
    let disk = maker.image(&files, experiment.seed, &mut |fraction| {
        if !begun {
            begun = true;
            console.step(Step::Begin {
                what: "Filling the data disk".into(),
                total: Some(bytes),
                unit: kbuild::progress::Unit::Bytes,
            });
        }
        console.step(Step::Advance {
            done: (bytes as f64 * fraction) as u64,
            detail: String::new(),
        });
    });
    if begun {
        let what = if disk.is_ok() {
            "Data disk filled"
        } else {
            "Data disk not filled"
        };
        console.step(Step::End { what: what.into() });
    }
    disk.map(Some)
}

/// What `run.json` says.
fn header(experiment: &Experiment, options: &Options, bed: &dyn Bed, images: &Images) -> Run {
    let machine = &experiment.machine;
    let started = SystemTime::now().duration_since(UNIX_EPOCH);
    let arm = |arm: &Arm| raw::record::Arm {
        name: arm.name.clone(),
        label: arm.label.clone(),
        kernel: images[&(arm.kernel, arm.version.clone())].label.clone(),
        baseline: arm.baseline.clone(),
        point: arm.point.clone(),
        settings: Experiment::knobs(arm)
            .into_iter()
            .map(|knob| (knob.path, knob.value))
            .chain({ arm.daemon.iter() }.map(|daemon| {
                let config = daemon.config.to_string();
                match &daemon.program {
                    Some(program) => (program.clone(), daemon.arguments.join(" ")),
                    None => ("hotsetd".into(), config.trim().replace('\n', "; ")),
                }
            }))
            .collect(),
    };
    Run {
        schema: SCHEMA,
        experiment: experiment.name.clone(),
        title: experiment.title.clone(),
        about: experiment.about.clone(),
        command: options.command.clone(),
        hotset_version: env!("CARGO_PKG_VERSION").into(),
        started: started.map_or(0, |since| since.as_secs()),
        bed: raw::record::Bed {
            name: bed.name(),
            memory_mb: machine.memory_mb,
            cpus: machine.cpus,
            zram_mb: machine.zram_mb,
            disk_read_bps: machine.disk_read.bytes(),
            command_line: machine.command_line.join(" "),
            jobs: options.jobs,
            host_cpu: host::cpu(),
            host_cpus: host::cpus(),
            host_kernel: host::kernel(),
        },
        arms: experiment.arms.iter().map(arm).collect(),
        repetitions: experiment.repetitions,
        seed: experiment.seed,
        plan: experiment.plan.clone(),
        source: experiment.text.clone(),
    }
}

/// Plays all turns, `jobs` at once.
fn play(
    shared: &Shared<'_>,
    turns: &[Turn],
    options: &Options,
) -> Result<Vec<(String, u32, Outcome)>> {
    let jobs = (options.jobs as usize).clamp(1, turns.len().max(1));
    let next = AtomicUsize::new(0);
    let ended = Mutex::new(Vec::new());
    let failure: Mutex<Option<anyhow::Error>> = Mutex::new(None);
    let give_up = AtomicBool::new(false);
    let mut display = Display::new(turns.len(), jobs, options.quiet);
    std::thread::scope(|scope| {
        let (tell, news) = channel();
        for job in 0..jobs {
            let tell: Sender<News> = tell.clone();
            let (next, ended, failure, give_up) = (&next, &ended, &failure, &give_up);
            scope.spawn(move || {
                if shared.bed.likes_one_cpu(shared.experiment.machine.cpus) {
                    crate::host::keep_to_a_cpu(job);
                }
                while !shared.stop.asked() && !give_up.load(Ordering::Acquire) {
                    let Some(turn) = turns.get(next.fetch_add(1, Ordering::AcqRel)) else {
                        break;
                    };
                    match trial(shared, turn, job, &tell) {
                        Ok(Some(trial)) => {
                            if matches!(trial.outcome, Outcome::Failed { .. })
                                && !options.keep_going
                            {
                                give_up.store(true, Ordering::Release);
                            }
                            let done = (trial.arm, trial.repetition, trial.outcome);
                            ended
                                .lock()
                                .unwrap_or_else(|lock| lock.into_inner())
                                .push(done);
                        }
                        Ok(None) => break,
                        Err(error) => {
                            let mut failure =
                                failure.lock().unwrap_or_else(|lock| lock.into_inner());
                            failure.get_or_insert(error);
                            // What the other guests measure could not be kept either.
                            shared.stop.ask();
                        }
                    }
                }
            });
        }
        drop(tell);
        loop {
            match news.recv_timeout(Duration::from_millis(500)) {
                Ok(news) => display.news(news),
                Err(RecvTimeoutError::Timeout) => display.tick(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    display.finish();
    if let Some(error) = failure
        .into_inner()
        .unwrap_or_else(|lock| lock.into_inner())
    {
        return Err(error).with_context(|| {
            format!(
                "the run was given up; {} has what was measured",
                options.out.display()
            )
        });
    }
    Ok(ended.into_inner().unwrap_or_else(|lock| lock.into_inner()))
}

/// Sees to it that MGLRU walks page tables where the bed can: without, it is another algorithm, and
/// a run would not be what its report says.
fn walks(bed: &dyn Bed, arm: &Arm, settings: &BTreeMap<String, String>) -> Result<()> {
    const ON: &str = "0x0007";
    if arm.lru != Some(Lru::Mglru) || !bed.walks_page_tables() {
        return Ok(());
    }
    let is = settings.get(LRU_GEN).map_or("missing", String::as_str);
    if is != ON {
        bail!(
            "arm {:?} on {}: {LRU_GEN} is {is}, not {ON}: MGLRU does not walk page tables; is \
             CONFIG_LRU_GEN_WALKS_MMU off in this kernel?",
            arm.name,
            bed.name()
        );
    }
    Ok(())
}

/// One boot. None when it was interrupted: half a trial is no result.
fn trial(
    shared: &Shared<'_>,
    turn: &Turn,
    job: usize,
    tell: &Sender<News>,
) -> Result<Option<Trial>> {
    let experiment = shared.experiment;
    let arm = &experiment.arms[turn.arm];
    let name = format!("{} {}", arm.name, turn.repetition + 1);
    let say = |news| {
        // Nobody listens once the run is over.
        let _ = tell.send(news);
    };
    say(News::Begun {
        job,
        name: name.clone(),
    });
    let Some(image) = shared.images.get(&(arm.kernel, arm.version.clone())) else {
        bail!("arm {:?} has no kernel", arm.name);
    };
    let data = shared.disk.is_some();
    let device = if data { shared.bed.device() } else { "" };
    let scratch = shared.bed.scratch_device(data);
    let spec = experiment.spec(arm, turn.seed, device, scratch);
    let planned: Vec<f64> = experiment
        .scenes
        .iter()
        .map(|scene| scene.seconds)
        .collect();
    let slowness = shared.bed.slowness();
    let silent_s = experiment.machine.silent_s * u64::from(slowness);
    let limits = Limits {
        silent: Duration::from_secs(silent_s),
        total: Duration::from_secs_f64(experiment.scene_seconds() * 3.0 + 600.0) * slowness,
    };
    let config = arm.daemon.as_ref().map(|daemon| daemon.text());
    let nodes_mb = experiment.nodes_mb();
    let mut log = shared.results.console(&arm.name, turn.repetition)?;
    let mut assembly = Assembly::new(&arm.name, turn.repetition, turn.seed, planned);
    let archive = shared
        .init
        .archive_of(&spec, &image.modules, config.as_deref())?;
    let boot = Boot {
        kernel: &image.path,
        initramfs: &archive,
        disk: shared.disk.as_deref().map(|path| Image {
            path,
            writable: false,
        }),
        memory_mb: arm.memory_mb.unwrap_or(experiment.machine.memory_mb),
        cpus: experiment.machine.cpus,
        nodes_mb: &nodes_mb,
        scratch_mb: experiment.machine.scratch_mb,
        command_line: &experiment.machine.command_line,
    };
    let traced = experiment.machine.trace.contains(&Trace::PageCache);
    let pages = traced.then(|| Pages::create(shared.results, &arm.name, turn.repetition));
    let mut pages = pages.transpose()?;
    let mut told = 0.0;
    let mut hear = |line| {
        if let Line::Settings { values } = &line {
            walks(shared.bed, arm, values)?;
        }
        if let (Line::PageCache { files, runs }, Some(pages)) = (&line, &mut pages) {
            pages.take(files, runs)?;
        }
        assembly.take(line);
        let fraction = assembly.fraction();
        if fraction - told >= 0.005 {
            told = fraction;
            let scene = assembly.scene().unwrap_or_default().to_string();
            say(News::At {
                job,
                fraction,
                scene,
            });
        }
        Ok(())
    };
    let (heard, again) =
        boot_and_attend(shared.bed, &boot, &mut log, limits, shared.stop, &mut hear)?;
    if again > 0 {
        assembly.booted_again(again);
    }
    if heard.ending == Ending::Stopped {
        return Ok(None);
    }
    if let Some(pages) = pages {
        pages.finish()?;
    }
    let trial = assembly.finish(heard, silent_s);
    shared.results.trial(&trial)?;
    say(News::Ended {
        job,
        name,
        outcome: trial.outcome.clone(),
        wall_s: trial.wall_s,
    });
    Ok(Some(trial))
}
