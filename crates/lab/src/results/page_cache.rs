//! Turns a guest's page-cache events into traces that `hotset trace` and `hotset sim` read.
use super::folder::{self, Results};
use anyhow::{bail, Context, Result};
use outfile::Rules;
use protocol::pages::PageRun;
use std::path::PathBuf;
use trace::{Batch, Format, Packing, Writer};

/// The low bits of an object's number, which hold the page; the bits above hold the file.
const PAGE_BITS: u32 = 32;
const PAGE_BYTES: u32 = 4096;

/// The traces of one trial: inserted pages, evicted pages, and the names of the files.
pub struct Pages {
    inserted: Writer,
    evicted: Writer,
    files: Vec<String>,
    names: PathBuf,
}

impl Pages {
    /// Begins `traces/ARM-REP.inserted.csv.zst` and `.evicted.csv.zst`. They get their names with
    /// [`Pages::finish`].
    ///
    /// # Errors
    /// When the files cannot be made.
    pub fn create(results: &Results, arm: &str, repetition: u32) -> Result<Pages> {
        let writer = |events: &str| {
            let path = results.trace(arm, repetition, &format!("{events}.csv.zst"))?;
            let writer = Writer::create(
                &path,
                Format::Csv,
                Packing::Zstd,
                PAGE_BYTES,
                Rules::REPLACE,
            );
            writer.with_context(|| format!("writing {}", path.display()))
        };
        Ok(Pages {
            inserted: writer("inserted")?,
            evicted: writer("evicted")?,
            files: Vec::new(),
            names: results.trace(arm, repetition, "files.json")?,
        })
    }

    /// Takes a guest's line.
    ///
    /// # Errors
    /// When a file has no name or is too large, or the disk is full.
    pub fn take(&mut self, files: &[String], runs: &[PageRun]) -> Result<()> {
        self.files.extend_from_slice(files);
        for run in runs {
            let Some(name) = self.files.get(run.file as usize) else {
                bail!(
                    "the guest sent pages of a file {} and not its name",
                    run.file
                );
            };
            let end = run.first.checked_add(run.pages);
            if end.is_none_or(|end| end > 1 << PAGE_BITS) {
                bail!("{name}: a page beyond 2^{PAGE_BITS}");
            }
            let above = u64::from(run.file) << PAGE_BITS;
            let ids: Vec<u64> = (0..run.pages).map(|n| above | (run.first + n)).collect();
            let batch = Batch {
                times: vec![run.t_us as f64 / 1e6; ids.len()],
                ids,
                ..Batch::default()
            };
            let writer = if run.gone {
                &mut self.evicted
            } else {
                &mut self.inserted
            };
            writer.put(&batch)?;
        }
        Ok(())
    }

    /// Gives the traces their names. A trace without a request is removed: no reader accepts it.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn finish(self) -> Result<()> {
        for mut writer in [self.inserted, self.evicted] {
            if writer.requests() > 0 {
                writer.finish()?;
            }
        }
        folder::write(&self.names, &self.files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::ReadOptions;

    #[test]
    fn inserted_and_evicted_pages_are_traces_of_the_same_objects() {
        let dir = tempfile::tempdir().unwrap();
        let results = Results::create(&dir.path().join("out")).unwrap();
        let mut pages = Pages::create(&results, "classic", 0).unwrap();
        let names = ["/data/a", "/data/b"].map(String::from);
        pages
            .take(&names[..1], &[PageRun::new(1_500_000, false, 0, 7, 3)])
            .unwrap();
        let rest = [
            PageRun::new(2_000_000, false, 1, 0, 1),
            PageRun::new(2_000_001, false, 0, 7, 1),
        ];
        pages.take(&names[1..], &rest).unwrap();
        let error = pages.take(&[], &[PageRun::new(0, false, 2, 0, 1)]);
        assert!(error.unwrap_err().to_string().contains("not its name"));
        pages.finish().unwrap();
        let path = |rest: &str| results.trace("classic", 0, rest).unwrap();
        let inserted = path("inserted.csv.zst");
        let trace = trace::open(&inserted, &ReadOptions::default()).unwrap();
        assert_eq!(trace.ids, [0, 1, 2, 3, 0]);
        assert!(!path("evicted.csv.zst").exists(), "no page was evicted");
        let text = std::fs::read_to_string(path("files.json")).unwrap();
        assert_eq!(text.trim(), "[\"/data/a\",\"/data/b\"]");
        let left = std::fs::read_dir(dir.path().join("out/traces")).unwrap();
        assert_eq!(left.count(), 2, "no half file is left");
    }
}
