//! The repetitions of a run, each in a folder of its own, and the run that they are together.
use super::asked::{nothing, Asked};
use crate::experiment::Experiment;
use crate::results::{self, resume, Results};
use crate::run::Options;
use anyhow::{ensure, Context, Result};
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
    asked: Asked,
    /// Held while one command works in the folder.
    _lock: cluster::lock::Lock,
}

/// What moves from a part to the run. Trials come last: one that is there has all its files.
const FOLDERS: [&str; 3] = ["console", "traces", "trials"];

impl<'a> Parts<'a> {
    /// The parts of a new run, or of one that is continued.
    ///
    /// # Errors
    /// The folder is occupied, cannot be made, has another run or none to continue, or another command works in it.
    pub fn begin(experiment: &'a Experiment, options: &'a Options) -> Result<Parts<'a>> {
        let out =
            std::path::absolute(&options.out).with_context(|| shown(&options.out).to_string())?;
        let dir = out.join("parts");
        let asked = match options.resume {
            true => Asked::of(&out)?.ok_or_else(|| nothing(options))?,
            false => {
                if options.force {
                    Results::move_aside(&out)?;
                }
                Results::create(&out)?;
                fs::create_dir(&dir).with_context(|| shown(&dir).to_string())?;
                let asked = Asked::new(experiment, options);
                results::write(&dir.join("asked.json"), &asked)?;
                asked
            }
        };
        asked.check(experiment, options)?;
        Ok(Parts {
            experiment,
            options,
            _lock: cluster::lock::take(&dir)?,
            dir,
            asked,
        })
    }

    /// The name of the run's jobs.
    pub fn name(&self) -> &str {
        &self.asked.name
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

    /// The trials of a repetition that are finished, in the run's folder or in the part: of one host.
    fn finished(&self, repetition: u32) -> Result<usize> {
        let of = |dir: &Path| -> Result<usize> {
            let there = names_in(&dir.join("trials"))?;
            let arms = self.experiment.arms.iter();
            let names = arms.map(|arm| format!("{}-{repetition}.json", arm.name));
            Ok(names.filter(|name| there.contains(name)).count())
        };
        Ok(of(&self.options.out)?.max(of(&self.part(repetition))?))
    }

    /// How many trials are finished.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn trials(&self) -> Result<usize> {
        let all = (0..self.experiment.repetitions).map(|repetition| self.finished(repetition));
        all.sum()
    }

    /// The repetitions that lack trials.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn open(&self) -> Result<Vec<u32>> {
        let mut open = Vec::new();
        for repetition in 0..self.experiment.repetitions {
            if self.finished(repetition)? < self.experiment.arms.len() {
                open.push(repetition);
            }
        }
        Ok(open)
    }

    /// Moves the trials of all parts into the run's folder, and writes its header. None: no part has begun.
    ///
    /// # Errors
    /// Parts cannot be read or are of different runs, or a file cannot be moved.
    pub fn gather(&self) -> Result<Option<Run>> {
        let mut whole: Option<Run> = None;
        let mut hosts = Hosts::default();
        let mut begun = Vec::new();
        for repetition in 0..self.experiment.repetitions {
            let path = self.part(repetition).join("run.json");
            if !path.exists() {
                continue;
            }
            let mut run: Run = resume::read(&path).with_context(|| shown(&path).to_string())?;
            hosts.add(&run);
            let first = whole.get_or_insert_with(|| run.clone());
            // Arms are compared within a repetition, which has one host.
            run.bed.clone_from(&first.bed);
            let part = shown(&self.part(repetition)).to_string();
            resume::same(first, &run, &path).with_context(|| {
                format!("without {part}, the same command with --resume makes that repetition anew")
            })?;
            begun.push(repetition);
        }
        let Some(mut run) = whole else {
            return Ok(None);
        };
        for repetition in begun {
            self.take(repetition)?;
        }
        run.command.push_str(" --on slurm");
        hosts.name(&mut run);
        Results::of(&self.options.out).run(&run)?;
        Ok(Some(run))
    }

    /// Checks that a part accessed the recorded traces that the run's folder has.
    fn same_recorded(&self, part: &Path) -> Result<()> {
        for name in names_in(&part.join("recorded"))? {
            let read = |dir: &Path| {
                let path = dir.join("recorded").join(&name);
                fs::read(&path).with_context(|| shown(&path).to_string())
            };
            ensure!(
                read(part)? == read(&self.options.out)?,
                "{}: its recorded trace {name} is not the run's; without this folder, the same command with --resume \
                 makes the repetition anew",
                shown(part)
            );
        }
        Ok(())
    }

    /// Moves what a part has. Trials that the run has of this repetition are of an earlier attempt, on another host.
    fn take(&self, repetition: u32) -> Result<()> {
        let part = self.part(repetition);
        if names_in(&part.join("trials"))?.is_empty() {
            return Ok(());
        }
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
        self.same_recorded(&part)?;
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

/// The beds, processors and kernels of the hosts.
#[derive(Default)]
struct Hosts([BTreeSet<String>; 3]);

impl Hosts {
    fn add(&mut self, run: &Run) {
        let bed = &run.bed;
        let facts = [&bed.name, &bed.host_cpu, &bed.host_kernel];
        for (all, fact) in self.0.iter_mut().zip(facts) {
            all.insert(fact.clone());
        }
    }

    fn name(self, run: &mut Run) {
        let list = |all: BTreeSet<String>| all.into_iter().collect::<Vec<_>>().join(", ");
        let bed = &mut run.bed;
        [bed.name, bed.host_cpu, bed.host_kernel] = self.0.map(list);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Changes;
    use crate::results::resume::tests::run;
    use crate::results::Occupied;

    /// Four arms, two repetitions.
    const EXPERIMENT: &str = include_str!("../../../../experiments/pitfalls/trap-asked.toml");

    fn options(out: &Path, resume: bool) -> Options {
        Options {
            jobs: 1,
            out: out.into(),
            tree: None,
            only: None,
            resume,
            force: false,
            keep_going: false,
            quiet: true,
            command: "hotset lab run e".into(),
        }
    }

    /// Writes what an element of the array leaves.
    fn part(parts: &Parts<'_>, repetition: u32, of: &Run, trials: usize) {
        let results = Results::create(&parts.part(repetition)).unwrap();
        results.run(of).unwrap();
        for arm in &parts.experiment.arms[..trials] {
            let name = format!("{}-{repetition}.json", arm.name);
            fs::write(results.dir().join("trials").join(name), "{}").unwrap();
        }
    }

    #[test]
    fn parts_become_one_run_and_a_repetition_is_of_one_host() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let experiment =
            Experiment::parse(Path::new("e"), EXPERIMENT, &Changes::default()).unwrap();
        let fresh = options(&out, false);
        let parts = Parts::begin(&experiment, &fresh).unwrap();
        let again = Parts::begin(&experiment, &fresh).map(|_| ()).unwrap_err();
        assert!(again.is::<Occupied>(), "{again}");
        assert!(parts.gather().unwrap().is_none(), "nothing has begun");
        let resumed = options(&out, true);
        let second = Parts::begin(&experiment, &resumed).map(|_| ()).unwrap_err();
        assert!(
            second
                .to_string()
                .contains("another run works in this folder"),
            "{second}"
        );

        let source = |cpu: &str| {
            let mut run = run(1);
            run.source.clone_from(&experiment.text);
            run.bed.host_cpu = cpu.into();
            run
        };
        part(&parts, 0, &source("CPU A"), 4);
        part(&parts, 1, &source("CPU B"), 1);
        assert_eq!(
            (parts.trials().unwrap(), parts.open().unwrap()),
            (5, vec![1])
        );
        let whole = parts.gather().unwrap().unwrap();
        assert_eq!(whole.bed.host_cpu, "CPU A, CPU B");
        assert!(whole.command.ends_with(" --on slurm"));
        let trials = |parts: &Parts<'_>| {
            fs::read_dir(parts.options.out.join("trials"))
                .unwrap()
                .count()
        };
        assert_eq!(trials(&parts), 5);

        // The second one is made anew, on another host: nothing of the first attempt may stay.
        drop(parts);
        let other = Options {
            command: "hotset lab run f".into(),
            ..resumed.clone()
        };
        let wrong = Parts::begin(&experiment, &other).map(|_| ()).unwrap_err();
        assert!(
            wrong.to_string().contains("another command line"),
            "{wrong}"
        );
        let parts = Parts::begin(&experiment, &resumed).unwrap();
        Results::move_aside(&parts.part(1)).unwrap();
        part(&parts, 1, &source("CPU C"), 3);
        let last = &experiment.arms[3].name;
        let old = format!("{last}-1.json");
        fs::write(out.join("trials").join(&old), "{}").unwrap();
        assert_eq!(
            parts.open().unwrap(),
            [1],
            "three of one host and two of another"
        );
        let whole = parts.gather().unwrap().unwrap();
        assert_eq!(
            (whole.bed.host_cpu.as_str(), trials(&parts)),
            ("CPU A, CPU C", 7)
        );
        assert!(!out.join("trials").join(&old).exists());
    }

    #[test]
    fn parts_of_two_runs_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let experiment =
            Experiment::parse(Path::new("e"), EXPERIMENT, &Changes::default()).unwrap();
        let options = options(&dir.path().join("out"), false);
        let parts = Parts::begin(&experiment, &options).unwrap();
        part(&parts, 0, &run(1), 4);
        part(&parts, 1, &run(2), 4);
        let wrong = format!("{:#}", parts.gather().unwrap_err());
        assert!(
            wrong.contains("parts/1/run.json") && wrong.contains("another seed"),
            "{wrong}"
        );
        assert!(wrong.contains("makes that repetition anew"), "{wrong}");
        assert!(parts.open().unwrap().is_empty(), "nothing was moved before");
        assert!(parts.part(0).join("trials/classic-on-0.json").exists());
    }
}
