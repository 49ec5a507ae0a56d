//! A tree with its objects, kept from build to build. Whatever state it is in, it is brought to the
//! wanted sources by comparing contents, and every file that changes gets a new time stamp: make
//! then rebuilds what depends on it and nothing else. The next kernel, a patch more or less, takes
//! seconds instead of minutes where few headers change.
//!
//! Source and object directory keep their names, because kbuild's records of commands contain them.
use crate::cache::{self, Cache, Lock};
use crate::config::Fragment;
use crate::files::{files_below, put, remove};
use crate::make::{dependents, forget_build_variables, relevant, step_of};
use crate::proc::{self, News};
use crate::progress::{Progress, Step, Unit};
use crate::series::Overlay;
use crate::source::Source;
use anyhow::{bail, Context, Result};
use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// Objects and a tree by hard links, with something to spare.
const WORK_BYTES: u64 = 600_000_000;
/// Steps of a whole build, where none was counted yet.
const TYPICAL_STEPS: u64 = 660;
/// Steps that come with any change: a few generated files, and linking.
const LINK_STEPS: u64 = 18;
/// A copied tree.
const COPY_BYTES: u64 = 2_000_000_000;

/// The work directory for one source and architecture; locked while held.
pub struct Workshop {
    dir: PathBuf,
    arch: String,
    source: Source,
    jobs: usize,
    /// Objects that depend on files written since the last build.
    stale: Cell<u64>,
    /// How long the last build took.
    seconds: Cell<u64>,
    _lock: Lock,
}

impl Workshop {
    /// The name of the work directory.
    pub fn name(source: &Source, arch: &str, variant: Option<&str>) -> String {
        // A caller's tree keeps its workshop while its contents change.
        let what = if source.package.is_some() {
            source.identity.clone()
        } else {
            source.dir.display().to_string()
        };
        let id = &format!("{:x}", Sha256::digest(&what))[..10];
        let variant = variant.map_or(String::new(), |variant| format!("-{variant}"));
        format!("{}-{arch}{variant}-{id}", source.version.line())
    }

    /// Opens the work directory, waiting for another process that has it.
    ///
    /// # Errors
    /// When the cache cannot be written, or its path is one that kbuild refuses.
    pub fn open(
        cache: &Cache,
        source: &Source,
        arch: &str,
        variant: Option<&str>,
        jobs: Option<usize>,
        progress: &mut Progress,
    ) -> Result<Workshop> {
        // By its real path, which kbuild records: a link to it is the same workshop.
        let room = std::fs::canonicalize(cache.room("work")?)?;
        if room.to_string_lossy().contains([' ', ':', '\t']) {
            bail!(
                "{}: kbuild cannot build below a directory with a space or colon in its name; set \
                 XDG_CACHE_HOME to another",
                room.display()
            );
        }
        let name = Workshop::name(source, arch, variant);
        let lock = cache::lock(&room, &name, progress)?;
        let dir = room.join(name);
        std::fs::create_dir_all(dir.join("obj")).with_context(|| dir.display().to_string())?;
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Workshop {
            dir,
            arch: arch.into(),
            source: source.clone(),
            jobs: jobs.unwrap_or(cpus),
            stale: Cell::new(0),
            seconds: Cell::new(0),
            _lock: lock,
        })
    }

    /// The tree as it is built; a copy that patches have been laid over.
    pub fn tree(&self) -> PathBuf {
        self.dir.join("src")
    }

    /// Where kbuild puts objects.
    pub fn objects(&self) -> PathBuf {
        self.dir.join("obj")
    }

    /// The log of the last build.
    pub fn log(&self) -> PathBuf {
        self.dir.join("build.log")
    }

    /// The bootable image that a build makes.
    pub fn image(&self) -> PathBuf {
        self.objects().join(match self.arch.as_str() {
            "um" => "linux".to_string(),
            "x86_64" => "arch/x86/boot/bzImage".to_string(),
            other => format!("arch/{other}/boot/Image"),
        })
    }

    /// The make target of the image.
    fn target(&self) -> &'static str {
        match self.arch.as_str() {
            "um" => "linux",
            "x86_64" => "bzImage",
            _ => "Image",
        }
    }

    /// Brings the tree to the source with `overlay` over it. Returns the files that were
    /// written or removed.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn set(&self, overlay: &Overlay, progress: &mut Progress) -> Result<Vec<PathBuf>> {
        let tree = self.tree();
        let fresh = !tree.exists();
        // Hard links save 1.8 GB and time; a caller's tree may be edited in place, so is copied.
        let link = fresh && self.source.package.is_some();
        if fresh {
            let needed = WORK_BYTES + if link { 0 } else { COPY_BYTES };
            cache::need_space(&self.dir, needed, "building a kernel")?;
        }
        progress(Step::Begin {
            what: format!("Laying out the tree of Linux {}", self.source.version),
            total: None,
            unit: Unit::Steps,
        });
        let mut wanted: BTreeSet<PathBuf> = files_below(&self.source.dir)?.into_iter().collect();
        for file in overlay.existing() {
            wanted.insert(file.to_path_buf());
        }
        let mut written = Vec::new();
        for (index, path) in wanted.iter().enumerate() {
            let to = tree.join(path);
            let (from, patched) = match overlay.look_up(path) {
                None => (self.source.dir.join(path), false),
                Some(Some(from)) => (from, true),
                Some(None) => {
                    if remove(&to)? {
                        written.push(to);
                    }
                    continue;
                }
            };
            let wrote = put(&from, &to, link && !patched)
                .with_context(|| format!("copying {} to {}", path.display(), tree.display()))?;
            if wrote {
                written.push(to);
            }
            if index % 1000 == 0 {
                progress(Step::Advance {
                    done: index as u64,
                    detail: String::new(),
                });
            }
        }
        if !fresh {
            for path in files_below(&tree)? {
                if !wanted.contains(&path) {
                    let path = tree.join(path);
                    if remove(&path)? {
                        written.push(path);
                    }
                }
            }
        }
        if !fresh {
            let stale = dependents(&self.objects(), &written)?;
            self.stale.set(self.stale.get() + stale);
        }
        progress(Step::End {
            what: if fresh {
                format!("Tree laid out: {} files", wanted.len())
            } else {
                format!("Tree brought up to date: {} files changed", written.len())
            },
        });
        Ok(written)
    }

    /// Configures the tree from fragments and checks that every line of them took effect.
    ///
    /// # Errors
    /// When make fails, or naming the lines that did not take effect.
    pub fn configure(&self, fragment: &Fragment, progress: &mut Progress) -> Result<()> {
        let path = self.dir.join("fragment");
        std::fs::write(&path, &fragment.text).with_context(|| path.display().to_string())?;
        let setting = format!("KCONFIG_ALLCONFIG={}", path.display());
        File::create(self.log()).with_context(|| self.log().display().to_string())?;
        self.make(&[&setting, "allnoconfig"], "Configuring", None, progress)?;
        let path = self.objects().join(".config");
        let got = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let missing: Vec<String> = fragment
            .unfulfilled(&got)
            .into_iter()
            .map(|(path, lines)| {
                format!(
                    "{}: these lines have no effect in Linux {}:\n  {}",
                    path.display(),
                    self.source.version,
                    lines.join("\n  ")
                )
            })
            .collect();
        if !missing.is_empty() {
            bail!("{}", missing.join("\n"));
        }
        Ok(())
    }

    /// Builds the image. `suffix` goes behind the release's name.
    ///
    /// # Errors
    /// When make fails: the compiler's lines and the log's path.
    pub fn build(&self, what: &str, suffix: &str, progress: &mut Progress) -> Result<()> {
        let local = format!("LOCALVERSION={suffix}");
        let steps = self.dir.join("steps");
        let fresh = !self.built_before();
        // For the bar only: what is really built is make's affair.
        let guess = if fresh {
            let last = std::fs::read_to_string(&steps).ok();
            Some(
                last.and_then(|n| n.trim().parse().ok())
                    .unwrap_or(TYPICAL_STEPS),
            )
        } else {
            Some(self.stale.get() + LINK_STEPS)
        };
        let begun = Instant::now();
        let count = self.make(&[&local, self.target()], what, guess, progress)?;
        self.seconds.set(begun.elapsed().as_secs());
        if fresh {
            std::fs::write(&steps, count.to_string())?;
        }
        self.stale.set(0);
        Ok(())
    }

    /// Seconds that the last build here took.
    pub fn seconds(&self) -> u64 {
        self.seconds.get()
    }

    /// Whether there are objects of a whole kernel, of whatever patches.
    pub fn built_before(&self) -> bool {
        self.whole().exists()
    }

    /// Made last of all objects.
    fn whole(&self) -> PathBuf {
        self.objects().join("vmlinux.o")
    }

    /// Runs make on some objects with a further setting (`W=1`); returns all that it said. `loose`:
    /// those that do not compile are passed over.
    ///
    /// # Errors
    /// When make fails.
    pub fn objects_with(
        &self,
        setting: &str,
        objects: &[String],
        loose: bool,
        what: &str,
        progress: &mut Progress,
    ) -> Result<String> {
        // Touching nothing would make kbuild skip an object that was built with these settings.
        for object in objects {
            let _ = std::fs::remove_file(self.objects().join(object));
        }
        let before = std::fs::metadata(self.log()).map_or(0, |data| data.len());
        let mut arguments = vec![setting];
        arguments.extend(loose.then_some("-k"));
        arguments.extend(objects.iter().map(String::as_str));
        let made = self.make(&arguments, what, None, progress);
        if !loose {
            made?;
        }
        let log = std::fs::read(self.log())?;
        let said = log.get(before as usize..).unwrap_or_default();
        Ok(String::from_utf8_lossy(said).into_owned())
    }

    /// What `make kernelrelease` wrote.
    ///
    /// # Errors
    /// When there was no build.
    pub fn release(&self) -> Result<String> {
        let path = self.objects().join("include/config/kernel.release");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(text.trim().to_string())
    }

    /// Runs make, appending to the log. Returns how many commands it ran.
    fn make(
        &self,
        arguments: &[&str],
        what: &str,
        total: Option<u64>,
        progress: &mut Progress,
    ) -> Result<u64> {
        let mark = self.mark(progress)?;
        let mut log = File::options()
            .create(true)
            .append(true)
            .open(self.log())
            .with_context(|| self.log().display().to_string())?;
        let mut command = Command::new("make");
        command
            .arg("-C")
            .arg(self.tree())
            .arg(format!("O={}", self.objects().display()))
            .arg(format!("ARCH={}", self.arch))
            .arg(format!("-j{}", self.jobs))
            // The same sources give the same image, whoever builds it, and when.
            .arg("KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970")
            .args(["KBUILD_BUILD_USER=hotset", "KBUILD_BUILD_HOST=hotset"])
            .arg("KBUILD_BUILD_VERSION=1")
            // Not used, yet their versions would go into the configuration.
            .args(["RUSTC=false", "PAHOLE=false"])
            .args(arguments)
            .env("LC_ALL", "C");
        forget_build_variables(&mut command);
        progress(Step::Begin {
            what: what.into(),
            total,
            unit: Unit::Steps,
        });
        // Archives are not counted: there are hundreds, mostly empty and made in no time.
        let mut count = 0;
        let mut lines = Vec::new();
        let mut broken_log = None;
        let status = proc::run(&mut command, &mut |news| {
            let mut detail = String::new();
            let line = match news {
                News::Out(line) => {
                    if let Some(step) = step_of(line) {
                        count += u64::from(!step.starts_with("AR "));
                        detail = step;
                    }
                    line
                }
                News::Err(line) => line,
                News::Silence => "",
            };
            if !line.is_empty() {
                if let Err(error) = writeln!(log, "{line}") {
                    broken_log = Some(error);
                }
                lines.push(line.to_string());
            }
            progress(Step::Advance {
                done: count,
                detail,
            });
        })?;
        let full = lines
            .iter()
            .any(|line| line.contains("No space left on device"));
        // A compile error leaves good objects behind; a kill or a full disk may not.
        if status.code().is_some() && !full && broken_log.is_none() {
            std::fs::remove_file(&mark)?;
        }
        if full {
            bail!(
                "{what}: the disk of {} is full; a build needs about 300 MB",
                self.dir.display()
            );
        }
        if let Some(error) = broken_log {
            bail!("{}: cannot write: {error}", self.log().display());
        }
        if !status.success() {
            bail!(
                "{what} failed:\n{}\nThe whole log: {}",
                relevant(&lines),
                self.log().display()
            );
        }
        progress(Step::End {
            what: format!("{what}: done"),
        });
        Ok(count)
    }

    /// Makes the mark that stands while make runs. Where one stands already, that build was cut
    /// off, and what it wrote cannot be trusted: it is removed; after a restart of the machine,
    /// which may have lost earlier writes too, everything is.
    fn mark(&self, progress: &mut Progress) -> Result<PathBuf> {
        let mark = self.dir.join("unclean");
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        if let Ok(left) = std::fs::read_to_string(&mark) {
            let since = std::fs::metadata(&mark)?.modified()?;
            let objects = self.objects();
            let mut removed = 0;
            for path in files_below(&objects)? {
                let path = objects.join(path);
                let changed = std::fs::symlink_metadata(&path)?.modified()?;
                if left != boot || boot.is_empty() || changed >= since {
                    removed += u64::from(remove(&path)?);
                }
            }
            // What is left is no whole kernel: what is not there need not be unconfigured.
            remove(&self.whole())?;
            progress(Step::Note {
                what: format!("The last build here was cut off: {removed} files of it cleared"),
            });
        }
        // Not rewritten in place: its time says when make began.
        remove(&mark)?;
        std::fs::write(&mark, boot).with_context(|| mark.display().to_string())?;
        Ok(mark)
    }
}
