//! Bootable images, each built once.
use crate::build::build_tree::BuildTree;
use crate::build::config::Fragment;
use crate::build::label::{is_foreign, label, Patched};
use crate::build::request::Request;
use crate::cache::{self, Cache, Partial};
use crate::fetch::source::Source;
use crate::flavour::Flavour;
use crate::patches::{series, Overlay, Patch};
use crate::process;
use crate::version::Line;
use anyhow::{Context, Result};
use progress::{Progress, Step};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// The version of the recipe, part of every key. Raise it when the same ingredients come to give
/// another image: when make's arguments ([`crate::build::make`], [`BuildTree`]) or the steps of
/// configuring change. No ingredient contains these.
const SCHEMA: u32 = 2;

/// An image in the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Built {
    pub schema: u32,
    /// Hash of all ingredients.
    pub key: String,
    /// The name in tables when it was built: "7.3.4 vanilla", "7.3.4 + hotset series". [`Built::today`] has
    /// today's.
    pub label: String,
    /// The release that `uname -r` shows.
    pub release: String,
    pub flavour: Flavour,
    pub arch: String,
    /// See [`Request::variant`].
    pub variant: Option<String>,
    /// The tree's version, "7.3.4".
    pub version: String,
    /// The caller's tree that the source was taken from; none for Debian's source.
    #[serde(default)]
    pub tree: Option<PathBuf>,
    /// See [`crate::fetch::source::Source::identity`].
    pub source: String,
    /// First lines of `gcc --version` and `ld --version`.
    pub compiler: String,
    /// File names of the patches, in order; none for vanilla.
    pub patches: Vec<String>,
    /// File names of the test bed's patches, which lie under every flavour.
    #[serde(default)]
    pub bed: Vec<String>,
    /// The folder of the patches, where it is not the flavour's own.
    #[serde(default)]
    pub series_dir: Option<PathBuf>,
    /// Short checksum over the patches; empty for vanilla.
    pub series_id: String,
    pub image_sha256: String,
    /// Seconds since the epoch.
    pub built: u64,
    /// Seconds that the build took.
    pub seconds: u64,
    /// Absolute path, set when the image is read from the cache.
    #[serde(default)]
    pub image: PathBuf,
    #[serde(default)]
    pub config: PathBuf,
    #[serde(default)]
    pub log: PathBuf,
}

impl Built {
    /// The same image, with its label and its flavour against the series that `kernel_dir` has today.
    /// None is the kernel directory that is found, if any.
    #[must_use]
    pub fn today(mut self, kernel_dir: Option<&Path>) -> Built {
        let Some(line) = Line::of_version(&self.version) else {
            return self;
        };
        let own = Request {
            kernel_dir: kernel_dir.map(Into::into),
            variant: self.variant.clone(),
            arch: self.arch.clone(),
            ..Request::new(line, self.flavour)
        };
        let kernel = Patched {
            flavour: self.flavour,
            tree: self.tree.as_deref(),
            folder: self.series_dir.as_deref(),
            id: self.series_id.clone(),
            names: self.patches.iter().map(String::as_str).collect(),
        };
        let (label, foreign) = (
            label(&self.version, &kernel, &own),
            is_foreign(&kernel, &own),
        );
        self.label = label;
        if own.bed().is_ok_and(|bed| names(&bed) != self.bed) {
            self.label.push_str(", another test bed");
        }
        if foreign {
            self.flavour = Flavour::Foreign;
        }
        self
    }
}

/// Everything that goes into an image.
pub(crate) struct Recipe<'a> {
    pub request: &'a Request,
    /// The test bed's patches, applied first: see [`Request::bed`].
    pub bed: Vec<Patch>,
    pub patches: Vec<Patch>,
    /// The flavour that the patches make.
    pub flavour: Flavour,
    pub fragment: Fragment,
    pub source: Source,
    compiler: String,
}

impl Recipe<'_> {
    /// Reads the ingredients of `request`. Fetches the source if the cache has none.
    pub fn of<'a>(request: &'a Request, progress: &mut Progress) -> Result<Recipe<'a>> {
        let patches = request.patches()?;
        Ok(Recipe {
            request,
            bed: request.bed()?,
            flavour: request.flavour_of(&patches),
            fragment: request
                .fragment()?
                .with_options(patches.iter().flat_map(|patch| &patch.options)),
            patches,
            source: request.source(&request.cache()?, progress)?,
            compiler: compiler()?,
        })
    }

    /// The image's name in the cache.
    pub fn key(&self) -> String {
        key(&Ingredients {
            source: &self.source.identity,
            arch: &self.request.arch,
            variant: self.request.variant.as_deref(),
            fragment: &self.fragment.text,
            suffix: self.flavour.suffix(),
            bed: &self.bed,
            patches: &self.patches,
            compiler: &self.compiler,
        })
    }

    fn label(&self) -> String {
        let own = Request {
            series_dir: None,
            ..self.request.clone()
        };
        let tree = self.request.tree();
        let kernel = Patched {
            flavour: self.flavour,
            tree: tree.as_deref(),
            folder: self.request.series_dir.as_deref(),
            id: series::id(&self.patches),
            names: { self.patches.iter() }
                .map(|patch| patch.name.as_str())
                .collect(),
        };
        label(&self.source.version.to_string(), &kernel, &own)
    }

    /// See [`Built::series_dir`].
    fn folder_of_patches(&self) -> Option<PathBuf> {
        let given = self.request.series_dir.as_ref()?;
        Some(std::fs::canonicalize(given).unwrap_or_else(|_| given.clone()))
    }

    /// The tree with the test bed's patches.
    pub fn ground(&self) -> Result<Overlay> {
        Overlay::of(&self.bed, &self.source.dir).with_context(|| {
            format!(
                "{}: these patches lie under every {} kernel of Linux {}; remove them if the \
                 source has their change",
                self.request.bed_dir().unwrap_or_default().display(),
                self.request.arch,
                self.request.line
            )
        })
    }

    pub fn build_tree_name(&self) -> String {
        let variant = self.request.variant.as_deref();
        BuildTree::name(&self.source, &self.request.arch, variant)
    }

    pub fn build_tree(&self, cache: &Cache, progress: &mut Progress) -> Result<BuildTree> {
        let request = self.request;
        let variant = request.variant.as_deref();
        let jobs = request.jobs;
        BuildTree::open(cache, &self.source, &request.arch, variant, jobs, progress)
    }

    /// Puts the kernel that was just built from this recipe into the cache.
    pub fn keep(&self, build_tree: &BuildTree, cache: &Cache) -> Result<Built> {
        let folder = cache.folder("kernel")?;
        let series_id = match self.patches.as_slice() {
            [] => String::new(),
            patches => series::id(patches),
        };
        let built = Built {
            schema: SCHEMA,
            key: self.key(),
            label: self.label(),
            release: build_tree.release()?,
            flavour: self.flavour,
            arch: self.request.arch.clone(),
            variant: self.request.variant.clone(),
            version: self.source.version.to_string(),
            tree: self.request.tree(),
            source: self.source.identity.clone(),
            compiler: self.compiler.clone(),
            series_id,
            series_dir: self.folder_of_patches(),
            patches: names(&self.patches),
            bed: names(&self.bed),
            image_sha256: checksum(&build_tree.image())?,
            built: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |time| time.as_secs()),
            seconds: build_tree.seconds(),
            image: PathBuf::new(),
            config: PathBuf::new(),
            log: PathBuf::new(),
        };
        publish(build_tree, &built, &folder)?;
        let place = folder.join(&built.key);
        look_up(&place).with_context(|| {
            format!(
                "{}: the image that was just written cannot be read back; check the disk",
                place.display()
            )
        })
    }
}

fn names(patches: &[Patch]) -> Vec<String> {
    patches.iter().map(|patch| patch.name.clone()).collect()
}

/// Returns the wanted image if the cache has it.
///
/// # Errors
/// As [`ensure`], except for errors of building.
pub fn built_before(request: &Request, progress: &mut Progress) -> Result<Option<Built>> {
    let recipe = Recipe::of(request, progress)?;
    Ok(look_up(
        &request.cache()?.folder("kernel")?.join(recipe.key()),
    ))
}

/// Returns the wanted image. Fetches, patches and builds whatever is missing.
///
/// # Errors
/// When there is no source or patch, a hunk does not apply, a configuration line has no effect, or
/// the compiler fails. The message names the file and the remedy.
pub fn ensure(request: &Request, progress: &mut Progress) -> Result<Built> {
    let cache = request.cache()?;
    let recipe = Recipe::of(request, progress)?;
    let place = cache.folder("kernel")?.join(recipe.key());
    if let Some(built) = look_up(&place) {
        return Ok(built);
    }

    let build_tree = recipe.build_tree(&cache, progress)?;
    // Another process may have built the image while this one waited for the lock.
    if let Some(built) = look_up(&place) {
        return Ok(built);
    }
    let mut overlay = recipe.ground()?;
    for patch in &recipe.patches {
        overlay.apply(patch, &recipe.source.dir)?;
    }
    build_tree.set(&overlay, progress)?;
    build_tree.configure(&recipe.fragment, progress)?;
    build_tree.build(
        &format!("Building {} ({})", recipe.label(), request.arch),
        recipe.flavour.suffix(),
        progress,
    )?;
    recipe.keep(&build_tree, &cache)
}

/// Moves the build tree's products to their place in the cache.
fn publish(build_tree: &BuildTree, built: &Built, folder: &Path) -> Result<()> {
    cache::need_space(folder, 50_000_000, "keeping a kernel")?;
    let partial = Partial::begin(folder, &built.key)?;
    let inside = partial.path().join("whole");
    std::fs::create_dir(&inside)?;
    for (from, name) in [
        (build_tree.image(), "linux"),
        (build_tree.objects().join(".config"), "config"),
        (build_tree.log(), "build.log"),
    ] {
        let to = inside.join(name);
        std::fs::copy(&from, &to).with_context(|| format!("keeping {}", from.display()))?;
        // The file is synced before it is renamed: a power cut must not leave an empty file behind.
        File::open(&to)?.sync_all()?;
    }
    let meta = inside.join("meta.json");
    std::fs::write(&meta, serde_json::to_string_pretty(built)?)?;
    File::open(&meta)?.sync_all()?;
    partial.finish(&inside, &folder.join(&built.key))
}

/// Reads an image of the cache; `None` unless it is whole.
pub fn look_up(dir: &Path) -> Option<Built> {
    let meta = std::fs::read(dir.join("meta.json")).ok()?;
    let mut built: Built = serde_json::from_slice(&meta).ok()?;
    built.image = dir.join("linux");
    built.config = dir.join("config");
    built.log = dir.join("build.log");
    let whole = built.schema == SCHEMA
        && built.config.is_file()
        && checksum(&built.image).is_ok_and(|sum| sum == built.image_sha256);
    whole.then_some(built)
}

/// Every image of the cache, oldest first.
///
/// # Errors
/// When the cache cannot be read.
pub fn all(cache: &Cache) -> Result<Vec<Built>> {
    let Ok(entries) = std::fs::read_dir(cache.root().join("kernel")) else {
        return Ok(Vec::new());
    };
    let mut found: Vec<Built> = entries
        .flatten()
        .filter(|entry| cache::is_finished(&entry.file_name().to_string_lossy()))
        .filter_map(|entry| look_up(&entry.path()))
        .collect();
    found.sort_by_key(|built| built.built);
    Ok(found)
}

/// The ingredients of an image.
pub struct Ingredients<'a> {
    pub source: &'a str,
    pub arch: &'a str,
    pub variant: Option<&'a str>,
    pub fragment: &'a str,
    /// The suffix of the release's name.
    pub suffix: &'a str,
    /// The test bed's patches.
    pub bed: &'a [Patch],
    pub patches: &'a [Patch],
    pub compiler: &'a str,
}

/// Hash over all ingredients; the name of the image in the cache.
pub fn key(of: &Ingredients) -> String {
    let mut hash = Sha256::new();
    let mut add = |part: &str| {
        // The length of each part is hashed too: text moved from one part to the next changes the
        // key.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    add(&SCHEMA.to_string());
    add(of.source);
    add(of.arch);
    add(of.variant.unwrap_or_default());
    add(of.fragment);
    add(of.suffix);
    add(of.compiler);
    let patches = of.bed.iter().chain(of.patches);
    for patch in patches.filter(|patch| patch.builds()) {
        add(&patch.sha256);
    }
    format!("{:x}", hash.finalize())[..24].to_string()
}

/// The SHA-256 of a file.
///
/// # Errors
/// When it cannot be read.
pub fn checksum(path: &Path) -> Result<String> {
    let mut file = File::open(path).with_context(|| path.display().to_string())?;
    let mut hash = Sha256::new();
    std::io::copy(&mut file, &mut hash)?;
    Ok(format!("{:x}", hash.finalize()))
}

/// The versions of compiler and linker, as their first lines of output.
fn compiler() -> Result<String> {
    let mut lines = Vec::new();
    for program in ["gcc", "ld"] {
        let output = process::output(Command::new(program).arg("--version").env("LC_ALL", "C"))?;
        lines.push(output.out.lines().next().unwrap_or_default().to_string());
    }
    Ok(lines.join("; "))
}

/// A line that names an image and its path.
pub fn describe(built: &Built) -> Step {
    Step::Note {
        text: format!("{}: {}", built.label, built.image.display()),
    }
}
