//! Which kernel is wanted, and what it is made from.
use crate::cache::Cache;
use crate::config::Fragment;
use crate::flavour::Flavour;
use crate::progress::Progress;
use crate::rooms;
use crate::series::{self, Patch};
use crate::source::{self, Fetch, Origin, Source};
use crate::version::Line;
use anyhow::{bail, Result};
use std::path::PathBuf;

/// Which kernel is wanted.
#[derive(Clone, Debug)]
pub struct Request {
    pub line: Line,
    pub flavour: Flavour,
    /// As for `make ARCH=`; there must be a fragment of its name in kernel/config.
    pub arch: String,
    /// Another configuration of the architecture, "debug" for instance: the fragment
    /// `kernel/config/ARCH-VARIANT.config` laid over the architecture's.
    pub variant: Option<String>,
    pub origin: Origin,
    pub fetch: Fetch,
    /// Instead of the flavour's directories.
    pub series_dir: Option<PathBuf>,
    /// Instead of the one that is found, see [`rooms::kernel_dir`].
    pub kernel_dir: Option<PathBuf>,
    /// Jobs that make runs at once; `None` for one a processor.
    pub jobs: Option<usize>,
    /// Instead of the user's.
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

    /// Where the flavour's series are, in the order in which they are laid over the source.
    ///
    /// # Errors
    /// When there is no kernel directory.
    pub fn series_dirs(&self) -> Result<Vec<PathBuf>> {
        if let (Some(dir), false) = (&self.series_dir, self.flavour.series().is_empty()) {
            return Ok(vec![dir.clone()]);
        }
        let mut dirs = Vec::new();
        for series in self.flavour.series() {
            let (kernel, room) = (self.kernel_dir()?, self.flavour.room());
            dirs.push(rooms::series_dir(&kernel, room, self.line, *series));
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
    /// As [`series::load`]; for Debian's own kernel, which is not built.
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

    /// Where the patches are that a line's source needs on an architecture to be a fair test bed,
    /// `kernel/testbed/LINE-ARCH`: they lie under every flavour, vanilla as well. Mostly there are none.
    pub(crate) fn bed_dir(&self) -> Result<PathBuf> {
        let kernel = self.kernel_dir()?;
        let arch = Some(self.arch.as_str());
        Ok(rooms::series_dir(&kernel, "testbed", self.line, arch))
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
        Fragment::read(&rooms::fragments(
            &self.kernel_dir()?,
            &self.arch,
            self.variant.as_deref(),
            self.line,
        )?)
    }

    fn kernel_dir(&self) -> Result<PathBuf> {
        self.kernel_dir.clone().map_or_else(rooms::kernel_dir, Ok)
    }

    pub(crate) fn source(&self, cache: &Cache, progress: &mut Progress) -> Result<Source> {
        source::get(cache, &self.origin, &self.fetch, progress)
    }
}
