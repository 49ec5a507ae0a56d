//! Bootable images, each built once.
use crate::cache::{self, Cache, Partial};
use crate::progress::{Progress, Step};
use crate::rooms;
use crate::series::{self, Overlay, Patch};
use crate::source::{self, Fetch, Origin, Source};
use crate::version::Line;
use crate::workshop::Workshop;
use crate::{proc, version};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Raised when images that were built before must not be used any more.
const SCHEMA: u32 = 1;

/// With or without the patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flavour {
    Vanilla,
    Series,
}

/// Which kernel is wanted.
#[derive(Clone, Debug)]
pub struct Request {
    pub line: Line,
    pub flavour: Flavour,
    /// As for `make ARCH=`; there must be a fragment of its name in kernel/config.
    pub arch: String,
    pub origin: Origin,
    pub fetch: Fetch,
    /// Instead of `kernel/series/<line>`.
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

    /// The patches of the series directory, whatever the flavour.
    ///
    /// # Errors
    /// As [`series::load`].
    pub fn patches(&self) -> Result<Vec<Patch>> {
        match &self.series_dir {
            Some(dir) => series::load(dir),
            None => series::load(&rooms::series_dir(&self.kernel_dir()?, self.line)),
        }
    }

    pub(crate) fn fragment(&self) -> Result<PathBuf> {
        rooms::fragment(&self.kernel_dir()?, &self.arch, self.line)
    }

    fn kernel_dir(&self) -> Result<PathBuf> {
        self.kernel_dir.clone().map_or_else(rooms::kernel_dir, Ok)
    }

    pub(crate) fn source(&self, cache: &Cache, progress: &mut Progress) -> Result<Source> {
        source::get(cache, &self.origin, &self.fetch, progress)
    }
}

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
    /// The tree's version, "7.3.4".
    pub version: String,
    /// See [`Source::identity`].
    pub source: String,
    /// First line of `gcc --version`.
    pub compiler: String,
    /// File names of the patches, in order; none for vanilla.
    pub patches: Vec<String>,
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

/// Returns the wanted image, fetching, patching and building whatever is not there.
///
/// # Errors
/// Each names the file and what to do: no source, no patch, a hunk that does not apply, a
/// configuration line without effect, the compiler's own words.
pub fn ensure(request: &Request, progress: &mut Progress) -> Result<Built> {
    let cache = request.cache()?;
    let patches = match request.flavour {
        Flavour::Vanilla => Vec::new(),
        Flavour::Series => request.patches()?,
    };
    let fragment = request.fragment()?;
    let source = request.source(&cache, progress)?;
    let compiler = compiler()?;
    let fragment_text = std::fs::read_to_string(&fragment)
        .with_context(|| format!("{}: cannot read the fragment", fragment.display()))?;
    let key = key(&Ingredients {
        source: &source.identity,
        arch: &request.arch,
        fragment: &fragment_text,
        patches: &patches,
        compiler: &compiler,
    });
    let room = cache.room("kernel")?;
    if let Some(built) = look_up(&room.join(&key)) {
        return Ok(built);
    }

    let workshop = Workshop::open(&cache, &source, &request.arch, request.jobs, progress)?;
    // Another process may have built it while this one waited.
    if let Some(built) = look_up(&room.join(&key)) {
        return Ok(built);
    }
    let begun = Instant::now();
    let overlay = Overlay::of(&patches, &source.dir)?;
    workshop.set(&overlay, progress)?;
    workshop.configure(&fragment, progress)?;
    let label = label(&source.version, &patches);
    workshop.build(
        &format!("Building {label} ({})", request.arch),
        suffix(&patches),
        progress,
    )?;
    let built = Built {
        schema: SCHEMA,
        key: key.clone(),
        label,
        release: workshop.release()?,
        flavour: request.flavour,
        arch: request.arch.clone(),
        version: source.version.to_string(),
        source: source.identity.clone(),
        compiler,
        series_id: if patches.is_empty() {
            String::new()
        } else {
            series::id(&patches)
        },
        patches: patches.iter().map(|patch| patch.name.clone()).collect(),
        image_sha256: checksum(&workshop.image())?,
        built: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_secs()),
        seconds: begun.elapsed().as_secs(),
        image: PathBuf::new(),
        config: PathBuf::new(),
        log: PathBuf::new(),
    };
    publish(&workshop, &built, &room)?;
    look_up(&room.join(&key)).with_context(|| {
        format!(
            "{}: what was just built does not read back; is the disk sound?",
            room.join(&key).display()
        )
    })
}

/// Names that a table can carry.
fn label(version: &version::Version, patches: &[Patch]) -> String {
    if patches.is_empty() {
        format!("{version} vanilla")
    } else {
        format!("{version} + hotset series")
    }
}

/// Behind the release's name: `uname -r` tells a patched kernel from a plain one.
pub(crate) fn suffix(patches: &[Patch]) -> &'static str {
    if patches.is_empty() {
        ""
    } else {
        "-hotset"
    }
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
    pub fragment: &'a str,
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
    add(of.fragment);
    add(of.compiler);
    for patch in of.patches {
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
