//! Bootable images, each built once.
use crate::cache::{self, Cache, Partial};
use crate::config::Fragment;
use crate::flavour::Flavour;
use crate::proc;
use crate::progress::{Progress, Step};
use crate::request::Request;
use crate::series::{self, Overlay, Patch};
use crate::source::Source;
use crate::workshop::Workshop;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Part of every key. To be raised whenever the same ingredients come to give another image: when
/// make's arguments ([`crate::make`], [`Workshop`]) or the recipe of the configuration change, for
/// those are in no ingredient, and an image of the old recipe would go on being taken for the new.
const SCHEMA: u32 = 2;

/// An image in the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Built {
    pub schema: u32,
    /// Hash of all that the image is made from.
    pub key: String,
    /// For tables: "7.3.4 vanilla", "7.3.4 + hotset series".
    pub label: String,
    /// As `uname -r` says it.
    pub release: String,
    pub flavour: Flavour,
    pub arch: String,
    /// See [`Request::variant`].
    pub variant: Option<String>,
    /// The tree's version, "7.3.4".
    pub version: String,
    /// See [`crate::source::Source::identity`].
    pub source: String,
    /// First line of `gcc --version`.
    pub compiler: String,
    /// File names of the patches, in order; none for vanilla.
    pub patches: Vec<String>,
    /// File names of what the test bed lays under them, vanilla included.
    #[serde(default)]
    pub bed: Vec<String>,
    /// Short checksum over the patches; empty for vanilla.
    pub series_id: String,
    pub image_sha256: String,
    /// Seconds since the epoch.
    pub built: u64,
    /// Seconds that the build took.
    pub seconds: u64,
    /// Absolute paths; set when the image is looked up.
    #[serde(default)]
    pub image: PathBuf,
    #[serde(default)]
    pub config: PathBuf,
    #[serde(default)]
    pub log: PathBuf,
}

/// All that goes into an image.
pub(crate) struct Recipe<'a> {
    pub request: &'a Request,
    /// Laid first: see [`Request::bed`].
    pub bed: Vec<Patch>,
    pub patches: Vec<Patch>,
    pub fragment: Fragment,
    pub source: Source,
    compiler: String,
}

impl Recipe<'_> {
    /// Reads, or fetches, what `request` names.
    pub fn of<'a>(request: &'a Request, progress: &mut Progress) -> Result<Recipe<'a>> {
        Ok(Recipe {
            request,
            bed: request.bed()?,
            patches: request.patches()?,
            fragment: request.fragment()?,
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
            suffix: self.request.flavour.suffix(),
            bed: &self.bed,
            patches: &self.patches,
            compiler: &self.compiler,
        })
    }

    fn label(&self) -> String {
        let label = self.request.flavour.label();
        let variant = match &self.request.variant {
            Some(variant) => format!(", {variant}"),
            None => String::new(),
        };
        format!("{} {label}{variant}", self.source.version)
    }

    /// The tree under the patches.
    pub fn ground(&self) -> Result<Overlay> {
        Overlay::of(&self.bed, &self.source.dir).with_context(|| {
            format!(
                "{}: these patches lie under every {} kernel of Linux {}; take them away if the \
                 source has their change",
                self.request.bed_dir().unwrap_or_default().display(),
                self.request.arch,
                self.request.line
            )
        })
    }

    pub fn workshop_name(&self) -> String {
        let variant = self.request.variant.as_deref();
        Workshop::name(&self.source, &self.request.arch, variant)
    }

    pub fn workshop(&self, cache: &Cache, progress: &mut Progress) -> Result<Workshop> {
        let request = self.request;
        let variant = request.variant.as_deref();
        let jobs = request.jobs;
        Workshop::open(cache, &self.source, &request.arch, variant, jobs, progress)
    }

    /// Puts the kernel that the workshop has just built from this recipe into the cache.
    pub fn keep(&self, workshop: &Workshop, cache: &Cache) -> Result<Built> {
        let room = cache.room("kernel")?;
        let series_id = match self.patches.as_slice() {
            [] => String::new(),
            patches => series::id(patches),
        };
        let built = Built {
            schema: SCHEMA,
            key: self.key(),
            label: self.label(),
            release: workshop.release()?,
            flavour: self.request.flavour,
            arch: self.request.arch.clone(),
            variant: self.request.variant.clone(),
            version: self.source.version.to_string(),
            source: self.source.identity.clone(),
            compiler: self.compiler.clone(),
            series_id,
            patches: names(&self.patches),
            bed: names(&self.bed),
            image_sha256: checksum(&workshop.image())?,
            built: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |time| time.as_secs()),
            seconds: workshop.seconds(),
            image: PathBuf::new(),
            config: PathBuf::new(),
            log: PathBuf::new(),
        };
        publish(workshop, &built, &room)?;
        let place = room.join(&built.key);
        look_up(&place).with_context(|| {
            format!(
                "{}: what was just built does not read back; is the disk sound?",
                place.display()
            )
        })
    }
}

fn names(patches: &[Patch]) -> Vec<String> {
    patches.iter().map(|patch| patch.name.clone()).collect()
}

/// Returns the wanted image if it has been built before, from what source and patches are now.
///
/// # Errors
/// As [`ensure`], but for those of building.
pub fn built_before(request: &Request, progress: &mut Progress) -> Result<Option<Built>> {
    let recipe = Recipe::of(request, progress)?;
    Ok(look_up(
        &request.cache()?.room("kernel")?.join(recipe.key()),
    ))
}

/// Returns the wanted image, fetching, patching and building whatever is not there.
///
/// # Errors
/// Each names the file and what to do: no source, no patch, a hunk that does not apply, a
/// configuration line without effect, the compiler's own words.
pub fn ensure(request: &Request, progress: &mut Progress) -> Result<Built> {
    let cache = request.cache()?;
    let recipe = Recipe::of(request, progress)?;
    let place = cache.room("kernel")?.join(recipe.key());
    if let Some(built) = look_up(&place) {
        return Ok(built);
    }

    let workshop = recipe.workshop(&cache, progress)?;
    // Another process may have built it while this one waited.
    if let Some(built) = look_up(&place) {
        return Ok(built);
    }
    let mut overlay = recipe.ground()?;
    for patch in &recipe.patches {
        overlay.apply(patch, &recipe.source.dir)?;
    }
    workshop.set(&overlay, progress)?;
    workshop.configure(&recipe.fragment, progress)?;
    workshop.build(
        &format!("Building {} ({})", recipe.label(), request.arch),
        request.flavour.suffix(),
        progress,
    )?;
    recipe.keep(&workshop, &cache)
}

/// Moves the workshop's products to their place, whole.
fn publish(workshop: &Workshop, built: &Built, room: &Path) -> Result<()> {
    cache::need_space(room, 50_000_000, "keeping a kernel")?;
    let partial = Partial::begin(room, &built.key)?;
    let inside = partial.path().join("whole");
    std::fs::create_dir(&inside)?;
    for (from, name) in [
        (workshop.image(), "linux"),
        (workshop.objects().join(".config"), "config"),
        (workshop.log(), "build.log"),
    ] {
        let to = inside.join(name);
        std::fs::copy(&from, &to).with_context(|| format!("keeping {}", from.display()))?;
        // On disk before its name is: a power cut must not leave an empty file with a good name.
        File::open(&to)?.sync_all()?;
    }
    let meta = inside.join("meta.json");
    std::fs::write(&meta, serde_json::to_string_pretty(built)?)?;
    File::open(&meta)?.sync_all()?;
    partial.finish(&inside, &room.join(&built.key))
}

/// Reads an image of the cache; `None` where there is none that is whole.
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

/// What an image is made from.
pub struct Ingredients<'a> {
    pub source: &'a str,
    pub arch: &'a str,
    pub variant: Option<&'a str>,
    pub fragment: &'a str,
    /// Behind the release's name.
    pub suffix: &'a str,
    /// Under the patches.
    pub bed: &'a [Patch],
    pub patches: &'a [Patch],
    pub compiler: &'a str,
}

/// Hash over all ingredients; the name of the image in the cache.
pub fn key(of: &Ingredients) -> String {
    let mut hash = Sha256::new();
    let mut add = |part: &str| {
        // Each part with its length: moving text from one to the next must change the hash.
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

fn checksum(path: &Path) -> Result<String> {
    let mut file = File::open(path).with_context(|| path.display().to_string())?;
    let mut hash = Sha256::new();
    std::io::copy(&mut file, &mut hash)?;
    Ok(format!("{:x}", hash.finalize()))
}

/// First lines of what compiler and linker say that they are.
fn compiler() -> Result<String> {
    let mut lines = Vec::new();
    for program in ["gcc", "ld"] {
        let said = proc::say(Command::new(program).arg("--version").env("LC_ALL", "C"))?;
        lines.push(said.out.lines().next().unwrap_or_default().to_string());
    }
    Ok(lines.join("; "))
}

/// Says in a line what was found or built.
pub fn describe(built: &Built) -> Step {
    Step::Note {
        what: format!("{}: {}", built.label, built.image.display()),
    }
}
