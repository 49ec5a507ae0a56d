//! A source tree with its objects, kept from build to build.
//!
//! Whatever its state, the tree is brought to the wanted sources by comparing contents. Each
//! changed file gets a new time stamp, so that make rebuilds its dependents and nothing else. Where
//! few headers change, the next kernel takes seconds instead of minutes.
//!
//! Source and object directory keep their names, because kbuild's records of commands contain them.
use crate::build::config::Fragment;
use crate::build::make::Make;
use crate::build::objects::{dependents, Unfinished};
use crate::cache::files::{files_below, put, remove};
use crate::cache::{self, Cache, Lock};
use crate::fetch::source::Source;
use crate::patches::Overlay;
use anyhow::{bail, Context, Result};
use progress::{Progress, Step, Unit};
use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Bytes of the objects and of a hard-linked tree, with a margin.
const WORK_BYTES: u64 = 600_000_000;
/// Steps of a whole build, where no earlier build was counted.
const TYPICAL_STEPS: u64 = 660;
/// Steps that any change causes: a few generated files, and linking.
const LINK_STEPS: u64 = 18;
/// Bytes of a copied tree.
const COPY_BYTES: u64 = 2_000_000_000;

/// The work directory for one source and architecture. It is locked as long as this value lives.
pub struct BuildTree {
    dir: PathBuf,
    arch: String,
    source: Source,
    jobs: usize,
    /// Objects that depend on files written since the last build.
    stale: Cell<u64>,
    /// Seconds that the last build took.
    seconds: Cell<u64>,
    _lock: Lock,
}

impl BuildTree {
    /// The name of the work directory.
    pub fn name(source: &Source, arch: &str, variant: Option<&str>) -> String {
        // The work directory of a caller's tree stays the same while the tree's contents change.
        let content = if source.package.is_some() {
            source.identity.clone()
        } else {
            source.dir.display().to_string()
        };
        let id = &format!("{:x}", Sha256::digest(&content))[..10];
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
    ) -> Result<BuildTree> {
        // kbuild records the real path, so a link to a work directory names the same one.
        let folder = std::fs::canonicalize(cache.folder("work")?)?;
        if folder.to_string_lossy().contains([' ', ':', '\t']) {
            bail!(
                "{}: kbuild cannot build below a folder with a space or colon in its name; set \
                 XDG_CACHE_HOME to another",
                folder.display()
            );
        }
        let name = BuildTree::name(source, arch, variant);
        let lock = cache::lock(&folder, &name, progress)?;
        let dir = folder.join(name);
        std::fs::create_dir_all(dir.join("obj")).with_context(|| dir.display().to_string())?;
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(BuildTree {
            dir,
            arch: arch.into(),
            source: source.clone(),
            jobs: jobs.unwrap_or(cpus),
            stale: Cell::new(0),
            seconds: Cell::new(0),
            _lock: lock,
        })
    }

    /// The tree that is built: a copy with the patches applied.
    pub fn tree(&self) -> PathBuf {
        self.dir.join("src")
    }

    /// The work directory itself.
    pub fn folder(&self) -> &Path {
        &self.dir
    }

    /// The directory of kbuild's objects.
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

    /// Brings the tree to the source with `overlay` over it. Returns the files that were written or
    /// removed.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn set(&self, overlay: &Overlay, progress: &mut Progress) -> Result<Vec<PathBuf>> {
        let tree = self.tree();
        let fresh = !tree.exists();
        // Hard links save 1.8 GB and time. A caller's tree may be edited in place, so it is copied.
        let link = fresh && self.source.package.is_some();
        if fresh {
            let needed = WORK_BYTES + if link { 0 } else { COPY_BYTES };
            cache::need_space(&self.dir, needed, "building a kernel")?;
        }
        progress(Step::Begin {
            title: format!("Laying out the tree of Linux {}", self.source.version),
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
            text: if fresh {
                format!("Tree laid out: {} files", wanted.len())
            } else {
                format!("Tree brought up to date: {} files changed", written.len())
            },
        });
        Ok(written)
    }

    /// Configures the tree from a fragment, and checks that each of its lines took effect.
    ///
    /// # Errors
    /// When make fails, or a line took no effect; the message names these lines.
    pub fn configure(&self, fragment: &Fragment, progress: &mut Progress) -> Result<()> {
        let path = self.dir.join("fragment");
        std::fs::write(&path, &fragment.text).with_context(|| path.display().to_string())?;
        let setting = format!("KCONFIG_ALLCONFIG={}", path.display());
        File::create(self.log()).with_context(|| self.log().display().to_string())?;
        self.make(progress)?
            .run(&[&setting, "allnoconfig"], "Configuring", None, progress)?;
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

    /// Configures the tree as another kernel is configured: a whole `.config`, with the defaults for what it lacks. With
    /// `only_loaded`, modules that this machine has not loaded are left out. Returns the configuration.
    ///
    /// # Errors
    /// When make fails.
    pub fn configure_as(
        &self,
        config: &str,
        only_loaded: bool,
        progress: &mut Progress,
    ) -> Result<String> {
        let path = self.objects().join(".config");
        let old = std::fs::read_to_string(&path).ok();
        let given = self.dir.join("given.config");
        let settings = format!("{only_loaded} {config}");
        // Where nothing has changed, make has nothing to build again.
        let same = std::fs::read_to_string(&given).is_ok_and(|last| last == settings);
        if let (true, Some(old)) = (same, old) {
            return Ok(old);
        }
        File::create(self.log()).with_context(|| self.log().display().to_string())?;
        std::fs::write(&path, config).with_context(|| path.display().to_string())?;
        let targets: &[&str] = match only_loaded {
            true => &["olddefconfig", "localmodconfig"],
            false => &["olddefconfig"],
        };
        for target in targets {
            self.make_target(&[target], "Configuring", progress)?;
        }
        std::fs::write(&given, settings).with_context(|| given.display().to_string())?;
        std::fs::read_to_string(&path).with_context(|| path.display().to_string())
    }

    /// Runs make with these arguments; `title` names the run in messages.
    ///
    /// # Errors
    /// When make fails: the compiler's lines and the log's path.
    pub fn make_target(
        &self,
        arguments: &[&str],
        title: &str,
        progress: &mut Progress,
    ) -> Result<()> {
        { self.make(progress)? }.run(arguments, title, None, progress)?;
        Ok(())
    }

    /// Builds the image. `suffix` is appended to the release's name; `title` names the build in
    /// messages.
    ///
    /// # Errors
    /// When make fails: the compiler's lines and the log's path.
    pub fn build(&self, title: &str, suffix: &str, progress: &mut Progress) -> Result<()> {
        let local = format!("LOCALVERSION={suffix}");
        let steps = self.dir.join("steps");
        let fresh = !self.built_before();
        // A guess for the progress bar: make decides which steps it takes.
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
        let count = self
            .make(progress)?
            .run(&[&local, self.target()], title, guess, progress)?;
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

    /// Whether a whole kernel was built here before, with any patches.
    pub fn built_before(&self) -> bool {
        self.whole().exists()
    }

    /// The object that make writes last.
    fn whole(&self) -> PathBuf {
        self.objects().join("vmlinux.o")
    }

    /// Runs make on some objects with a further setting (`W=1`) and returns its output. With
    /// `loose`, objects that do not compile are skipped.
    ///
    /// # Errors
    /// When make fails.
    pub fn objects_with(
        &self,
        setting: &str,
        objects: &[String],
        loose: bool,
        title: &str,
        progress: &mut Progress,
    ) -> Result<String> {
        // make would skip an object that was built with these settings already.
        for object in objects {
            let _ = std::fs::remove_file(self.objects().join(object));
        }
        let before = std::fs::metadata(self.log()).map_or(0, |data| data.len());
        let mut arguments = vec![setting];
        arguments.extend(loose.then_some("-k"));
        arguments.extend(objects.iter().map(String::as_str));
        let made = { self.make(progress)? }.run(&arguments, title, None, progress);
        if !loose {
            made?;
        }
        let log = std::fs::read(self.log())?;
        let output = log.get(before as usize..).unwrap_or_default();
        Ok(String::from_utf8_lossy(output).into_owned())
    }

    /// Prepares a run of make, after clearing the objects of an interrupted build.
    fn make(&self, progress: &mut Progress) -> Result<Make> {
        Ok(Make {
            dir: self.dir.clone(),
            tree: self.tree(),
            objects: self.objects(),
            log: self.log(),
            arch: self.arch.clone(),
            jobs: self.jobs,
            unfinished: Unfinished::begin(&self.dir, &self.objects(), &self.whole(), progress)?,
        })
    }

    /// The release that `make kernelrelease` wrote.
    ///
    /// # Errors
    /// When there was no build.
    pub fn release(&self) -> Result<String> {
        let path = self.objects().join("include/config/kernel.release");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(text.trim().to_string())
    }
}
