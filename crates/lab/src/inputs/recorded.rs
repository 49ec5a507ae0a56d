//! Recorded traces that guests access. They lie beside the experiment, and results keep a copy.
use crate::experiment::Experiment;
use anyhow::{bail, ensure, Context, Result};
use protocol::work::access::{Access, Rule};
use protocol::work::Work;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trace::ReadOptions;

/// The traces of an experiment, by name.
pub struct Recorded {
    beside: PathBuf,
    /// Pages, numbered as they first appear.
    pages: BTreeMap<String, Vec<u32>>,
}

impl Recorded {
    /// Reads as many requests of each trace as workers access.
    ///
    /// # Errors
    /// When a file is missing, is no trace, is too short, or has more pages than the experiment allows.
    pub fn of(experiment: &Experiment) -> Result<Recorded> {
        let beside = experiment.path.parent().unwrap_or(Path::new("")).into();
        let mut all = Recorded {
            beside,
            pages: BTreeMap::new(),
        };
        for (worker, of) in &experiment.workers {
            if let Work::Access(access) = &of.does {
                let read = all.read(access);
                read.with_context(|| format!("{}: worker {worker}", experiment.name))?;
            }
        }
        Ok(all)
    }

    fn read(&mut self, access: &Access) -> Result<()> {
        let Rule::Recorded { trace, pages } = &access.rule else {
            return Ok(());
        };
        let had = self.pages.get(trace).map_or(0, Vec::len) as u64;
        if had < access.requests {
            let read = requests(&self.beside.join(trace), access.requests)?;
            self.pages.insert(trace.clone(), read);
        }
        let here = &self.pages[trace][..access.requests as usize];
        let different = here.iter().max().map_or(0, |last| u64::from(*last) + 1);
        ensure!(
            different <= *pages,
            "{trace} has {different} different pages, more than the {pages} of the experiment"
        );
        Ok(())
    }

    /// Name, and the page numbers as guests read them.
    pub fn files(&self) -> impl Iterator<Item = (&str, Vec<u8>)> {
        let bytes = |pages: &Vec<u32>| pages.iter().flat_map(|page| page.to_le_bytes()).collect();
        self.pages
            .iter()
            .map(move |(name, pages)| (name.as_str(), bytes(pages)))
    }

    /// Puts a copy of each trace into the folder of a run, where [`kept`] finds it.
    ///
    /// # Errors
    /// When a run is continued, and a trace has changed since its beginning.
    pub fn keep(&self, run: &Path) -> Result<()> {
        for name in self.pages.keys() {
            let (from, to) = (self.beside.join(name), kept(run, name));
            let context = || format!("copying {} to {}", from.display(), to.display());
            let new = std::fs::read(&from).with_context(context)?;
            match std::fs::read(&to) {
                Ok(old) if old == new => {}
                Ok(_) => bail!(
                    "{} has changed since the run began: restore it, or begin another run",
                    from.display()
                ),
                Err(_) => {
                    std::fs::create_dir_all(run.join(FOLDER)).with_context(context)?;
                    std::fs::write(&to, new).with_context(context)?;
                }
            }
        }
        Ok(())
    }
}

/// The traces' folder in a run's folder.
const FOLDER: &str = "recorded";

/// The path of a trace in a run's folder.
#[must_use]
pub fn kept(run: &Path, name: &str) -> PathBuf {
    run.join(FOLDER).join(name)
}

/// The first requests of a trace.
fn requests(path: &Path, requests: u64) -> Result<Vec<u32>> {
    let options = ReadOptions {
        limit: Some(requests),
        ..ReadOptions::default()
    };
    let trace = trace::open(path, &options)?;
    let has = trace.ids.len();
    ensure!(
        has as u64 == requests,
        "{} has {has} requests, and the experiment needs {requests}",
        path.display()
    );
    Ok(trace.ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::work::access::By;

    fn orders(requests: u64, pages: u64) -> Access {
        Access {
            rule: Rule::Recorded {
                trace: "a.txt".into(),
                pages,
            },
            requests,
            by: By::Anon {},
            lock_first: false,
            ahead: false,
            fresh_statistics: false,
        }
    }

    #[test]
    fn the_longest_sequence_is_read_and_a_changed_trace_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (beside, run) = (folder.path().join("a"), folder.path().join("run"));
        std::fs::create_dir_all(&beside).unwrap();
        std::fs::create_dir_all(&run).unwrap();
        std::fs::write(beside.join("a.txt"), "70\n9\n70\n8\n9\n").unwrap();
        let mut all = Recorded {
            beside: beside.clone(),
            pages: BTreeMap::new(),
        };
        all.read(&orders(2, 2)).unwrap();
        all.read(&orders(4, 3)).unwrap();
        all.read(&orders(3, 2)).unwrap();
        let files: Vec<_> = all.files().collect();
        let bytes = [0u32, 1, 0, 2].map(u32::to_le_bytes).concat();
        assert_eq!(files, [("a.txt", bytes)]);
        let few = all.read(&orders(4, 2)).unwrap_err().to_string();
        assert!(few.contains("3 different pages"), "{few}");
        let short = all.read(&orders(6, 3)).unwrap_err().to_string();
        assert!(
            short.contains("has 5 requests, and the experiment needs 6"),
            "{short}"
        );

        all.keep(&run).unwrap();
        all.keep(&run).unwrap();
        assert_eq!(
            std::fs::read(kept(&run, "a.txt")).unwrap(),
            b"70\n9\n70\n8\n9\n"
        );
        std::fs::write(beside.join("a.txt"), "1\n").unwrap();
        let changed = all.keep(&run).unwrap_err().to_string();
        assert!(changed.contains("has changed since"), "{changed}");
    }
}
