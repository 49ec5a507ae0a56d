//! The repetitions of a run, each in a folder of its own, and the run that they are together.
use crate::experiment::Experiment;
use crate::results::{resume, Results};
use crate::run::Options;
use anyhow::{Context, Result};
use names::shown;
use protocol::record::Run;
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// `DIR/parts/R` for repetition R.
pub struct Parts<'a> {
    experiment: &'a Experiment,
    options: &'a Options,
    dir: PathBuf,
}

/// What moves from a part to the run. Trials come last: one that is there has all its files.
const FOLDERS: [&str; 4] = ["recorded", "console", "traces", "trials"];

impl<'a> Parts<'a> {
    /// The parts of a new run, or of one that is continued.
    ///
    /// # Errors
    /// The folder is occupied, cannot be made, or has another run or none to continue.
    pub fn begin(experiment: &'a Experiment, options: &'a Options) -> Result<Parts<'a>> {
        let out =
            std::path::absolute(&options.out).with_context(|| shown(&options.out).to_string())?;
        let parts = Parts {
            experiment,
            options,
            dir: out.join("parts"),
        };
        if options.resume {
            parts.check()?;
            return Ok(parts);
        }
        if options.force {
            Results::move_aside(&out)?;
        }
        Results::create(&out)?;
        let made = fs::create_dir(&parts.dir);
        made.with_context(|| shown(&parts.dir).to_string())?;
        // Its jobs are told from those of other runs by this name.
        let name = format!("hotset-lab-{:08x}", parts.fresh());
        let file = parts.dir.join("name");
        fs::write(&file, name).with_context(|| shown(&file).to_string())?;
        Ok(parts)
    }

    /// A number that no other run of this user has.
    fn fresh(&self) -> u32 {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_nanos() as u64);
        random::SplitMix64::new(now ^ u64::from(std::process::id())).next_u64() as u32
    }

    /// Checks that what is there belongs to this run.
    fn check(&self) -> Result<()> {
        self.name()?;
        for number in 0..self.experiment.repetitions {
            let part = self.part(number);
            if part.join("run.json").exists() {
                resume::check(&part, self.experiment, &self.options.command)?;
            }
        }
        Ok(())
    }

    /// The name of the run's jobs.
    ///
    /// # Errors
    /// The folder has no run of a cluster.
    pub fn name(&self) -> Result<String> {
        let file = self.dir.join("name");
        fs::read_to_string(&file).map_err(|error| match error.kind() {
            ErrorKind::NotFound => cluster::refused!(
                "--resume: {}: there is no run of a cluster to continue",
                shown(&self.options.out)
            ),
            _ => anyhow::anyhow!("{}: {}", shown(&file), names::io_error(&error)),
        })
    }

    /// An absolute path.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn part(&self, repetition: u32) -> PathBuf {
        self.dir.join(repetition.to_string())
    }

    pub fn log(&self, repetition: u32) -> PathBuf {
        self.dir.join(format!("{repetition}.log"))
    }

    /// The logs, as sbatch takes their name.
    pub fn log_pattern(&self) -> String {
        let dir = self.dir.display().to_string().replace('%', "%%");
        format!("{dir}/%a.log")
    }

    /// Arm and repetition of every trial that is finished, in the run's folder or in a part.
    fn finished(&self) -> Result<BTreeSet<String>> {
        let mut all = names_in(&self.options.out.join("trials"))?;
        for number in 0..self.experiment.repetitions {
            all.extend(names_in(&self.part(number).join("trials"))?);
        }
        Ok(all)
    }

    /// How many trials are finished.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn trials(&self) -> Result<usize> {
        Ok(self.finished()?.len())
    }

    /// The repetitions that lack trials.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn open(&self) -> Result<Vec<u32>> {
        let finished = self.finished()?;
        let lacks = |repetition: &u32| {
            let mut arms = self.experiment.arms.iter();
            arms.any(|arm| !finished.contains(&format!("{}-{repetition}.json", arm.name)))
        };
        Ok((0..self.experiment.repetitions).filter(lacks).collect())
    }

    /// Removes the trials of repetitions that are made anew: all arms of one have the same host.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn forget(&self, open: &[u32]) -> Result<()> {
        for repetition in open {
            for arm in &self.experiment.arms {
                let name = format!("{}-{repetition}.json", arm.name);
                let path = self.options.out.join("trials").join(name);
                match fs::remove_file(&path) {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        return Err(error).with_context(|| shown(&path).to_string())
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Moves the trials of all parts into the run's folder, and writes its header. None: no part has begun.
    ///
    /// # Errors
    /// Parts cannot be read or are of different runs, or a file cannot be moved.
    pub fn gather(&self) -> Result<Option<Run>> {
        let mut whole: Option<Run> = None;
        let mut hosts = Hosts::default();
        for number in 0..self.experiment.repetitions {
            let part = self.part(number);
            let path = part.join("run.json");
            if !path.exists() {
                continue;
            }
            let run: Run = resume::read(&path).with_context(|| shown(&path).to_string())?;
            hosts.add(&run);
            match &whole {
                None => whole = Some(run),
                Some(first) => {
                    let mut run = run;
                    // Arms are compared within a repetition, which has one host.
                    run.bed.host_cpu.clone_from(&first.bed.host_cpu);
                    resume::same(first, &run, &path)?;
                }
            }
            self.take(&part)?;
        }
        let Some(mut run) = whole else {
            return Ok(None);
        };
        run.command.push_str(" --on slurm");
        (run.bed.host_cpu, run.bed.host_kernel) = hosts.named();
        Results::of(&self.options.out).run(&run)?;
        Ok(Some(run))
    }

    /// Moves what a part has.
    fn take(&self, part: &Path) -> Result<()> {
        for folder in FOLDERS {
            let to = self.options.out.join(folder);
            for name in names_in(&part.join(folder))? {
                let moved = fs::create_dir_all(&to)
                    .and_then(|()| fs::rename(part.join(folder).join(&name), to.join(&name)));
                moved.with_context(|| format!("moving {name} to {}", shown(&to)))?;
            }
        }
        Ok(())
    }
}

/// The processors and kernels of the hosts.
#[derive(Default)]
struct Hosts {
    cpus: BTreeSet<String>,
    kernels: BTreeSet<String>,
}

impl Hosts {
    fn add(&mut self, run: &Run) {
        self.cpus.insert(run.bed.host_cpu.clone());
        self.kernels.insert(run.bed.host_kernel.clone());
    }

    fn named(self) -> (String, String) {
        let list = |all: BTreeSet<String>| all.into_iter().collect::<Vec<_>>().join(", ");
        (list(self.cpus), list(self.kernels))
    }
}

/// The names in a folder, all but unfinished files; none where there is no folder.
fn names_in(dir: &Path) -> Result<BTreeSet<String>> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
        entries => entries.with_context(|| shown(dir).to_string())?,
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let name = entry.with_context(|| shown(dir).to_string())?.file_name();
        let name = name.to_string_lossy().into_owned();
        if !name.ends_with(".partial") {
            names.insert(name);
        }
    }
    Ok(names)
}
