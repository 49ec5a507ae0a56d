//! A request for a kernel, and the paths of its ingredients.
use crate::build::config::Fragment;
use crate::cache::Cache;
use crate::fetch::source::{self, Fetch, Origin, Source};
use crate::flavour::Flavour;
use crate::layout;
use crate::patches::{series, Patch};
use crate::version::Line;
use anyhow::{bail, Result};
use progress::Progress;
use std::path::PathBuf;

/// A request for a kernel.
#[derive(Clone, Debug)]
pub struct Request {
    pub line: Line,
    pub flavour: Flavour,
    /// The architecture as for `make ARCH=`; kernel/config must have a fragment of its name.
    pub arch: String,
    /// Another configuration of the architecture, "debug" for instance: the fragment
    /// `kernel/config/ARCH-VARIANT.config` on top of the architecture's.
    pub variant: Option<String>,
    pub origin: Origin,
    pub fetch: Fetch,
    /// A directory of patches instead of the flavour's.
    pub series_dir: Option<PathBuf>,
    /// A kernel directory instead of [`layout::kernel_dir`].
    pub kernel_dir: Option<PathBuf>,
    /// Jobs that make runs at once. None: one a processor.
    pub jobs: Option<usize>,
    /// A cache instead of the user's.
    pub cache: Option<Cache>,
}

impl Request {
    /// A User-Mode Linux kernel from Debian's source.
    pub fn new(line: Line, flavour: Flavour) -> Request {
        Request {
            line,
            flavour,
            arch: "um".into(),
            variant: None,
            origin: Origin::Debian,
            fetch: Fetch::new(line),
            series_dir: None,
            kernel_dir: None,
            jobs: None,
            cache: None,
        }
    }

    pub(crate) fn cache(&self) -> Result<Cache> {
        self.cache.clone().map_or_else(Cache::of_user, Ok)
    }

    /// The directories of the flavour's series, in the order in which they are applied.
    ///
    /// # Errors
    /// When there is no kernel directory.
    pub fn series_dirs(&self) -> Result<Vec<PathBuf>> {
        if let (Some(dir), false) = (&self.series_dir, self.flavour.series().is_empty()) {
            return Ok(vec![dir.clone()]);
        }
        let mut dirs = Vec::new();
        for series in self.flavour.series() {
            let (kernel, folder) = (self.kernel_dir()?, self.flavour.folder());
            dirs.push(layout::series_dir(&kernel, folder, self.line, *series));
        }
        Ok(dirs)
    }

    /// The flavour's series, each in order.
    ///
    /// # Errors
    /// As [`series::load`].
    pub fn series(&self) -> Result<Vec<Vec<Patch>>> {
        self.series_dirs()?
            .iter()
            .map(|dir| series::load(dir))
            .collect()
    }

    /// All patches of the flavour, in order; none for vanilla.
    ///
    /// # Errors
    /// As [`series::load`]; and for Debian's own kernel, which is not built.
    pub fn patches(&self) -> Result<Vec<Patch>> {
        if self.flavour == Flavour::Debian {
            bail!(
                "Debian's own kernel is not built here; `hotset kernel fetch {} --debian-image` \
                 gets it",
                self.line
            );
        }
        Ok(self.series()?.into_iter().flatten().collect())
    }

    /// The flavour of a kernel with these patches, which may come from a folder of the caller. They are the
    /// flavour's own only where they are the same patches.
    pub(crate) fn flavour_of(&self, patches: &[Patch]) -> Flavour {
        if self.series_dir.is_none() || patches.is_empty() {
            return self.flavour;
        }
        let own = Request {
            series_dir: None,
            ..self.clone()
        };
        // Where there is no such series, no kernel has its patches.
        let own = own.patches().unwrap_or_default();
        match series::id(&own) == series::id(patches) {
            true => self.flavour,
            false => Flavour::Foreign,
        }
    }

    /// The caller's tree, whole: the tree in which the kernel's source lies, unless it is Debian's.
    pub(crate) fn tree(&self) -> Option<PathBuf> {
        let Origin::Tree(tree) = &self.origin else {
            return None;
        };
        Some(std::fs::canonicalize(tree).unwrap_or_else(|_| tree.clone()))
    }

    /// The directory of the patches that make a line's source a fair test bed on an architecture,
    /// `kernel/testbed/LINE-ARCH`. They lie under every flavour, vanilla too. Most lines need none.
    pub(crate) fn bed_dir(&self) -> Result<PathBuf> {
        let kernel = self.kernel_dir()?;
        let arch = Some(self.arch.as_str());
        Ok(layout::series_dir(&kernel, "testbed", self.line, arch))
    }

    /// The patches of [`Request::bed_dir`].
    ///
    /// # Errors
    /// As [`series::load`].
    pub(crate) fn bed(&self) -> Result<Vec<Patch>> {
        let dir = self.bed_dir()?;
        match dir.is_dir() {
            true => series::load(&dir),
            false => Ok(Vec::new()),
        }
    }

    pub(crate) fn fragment(&self) -> Result<Fragment> {
        Fragment::read(&layout::fragments(
            &self.kernel_dir()?,
            &self.arch,
            self.variant.as_deref(),
            self.line,
        )?)
    }

    fn kernel_dir(&self) -> Result<PathBuf> {
        self.kernel_dir.clone().map_or_else(layout::kernel_dir, Ok)
    }

    pub(crate) fn source(&self, cache: &Cache, progress: &mut Progress) -> Result<Source> {
        source::get(cache, &self.origin, &self.fetch, progress)
    }
}
