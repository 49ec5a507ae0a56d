//! `hotset kernel list`: the sources and kernels of the cache, and the series.
use crate::shell::{document, out, outln};
use anyhow::Result;
use kbuild::build::{self, Built};
use kbuild::cache::Cache;
use kbuild::fetch::{debian, source};
use kbuild::patches::series;
use kbuild::{layout, Line};
use names::shown;
use serde_json::json;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// One series of a kernel directory.
struct Series {
    /// "7.3-swappiness".
    name: String,
    dir: PathBuf,
    patches: usize,
}

/// Everything that `hotset kernel list` shows.
struct Listing {
    cache: Cache,
    sources: Vec<source::Source>,
    kernels: Vec<build::Built>,
    debian: Vec<debian::DebianImage>,
    /// The folder of the series.
    kernel_dir: Option<PathBuf>,
    series: Vec<Series>,
}

/// Prints the sources and kernels of the cache, and the series of the kernel directory.
///
/// # Errors
/// When the cache cannot be read.
pub fn list(as_json: bool) -> Result<ExitCode> {
    let cache = Cache::of_user()?;
    // Without a kernel directory there is no series.
    let kernel_dir = layout::kernel_dir().ok();
    let today = |built: Built| built.today(kernel_dir.as_deref());
    let listing = Listing {
        sources: source::all_cached(&cache)?,
        kernels: build::all(&cache)?.into_iter().map(today).collect(),
        debian: debian::all(&cache),
        series: kernel_dir.as_deref().map(all_series).unwrap_or_default(),
        kernel_dir,
        cache,
    };
    match as_json {
        true => outln!("{}", document("kernel.list", 1, &listing.json())?)?,
        false => out!("{}", listing.text())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Every series that a kernel directory has, those of the newest line of kernels first.
fn all_series(kernel_dir: &Path) -> Vec<Series> {
    let mut found = Vec::new();
    for folder in ["series", "testbed"] {
        let entries = std::fs::read_dir(kernel_dir.join(folder));
        for entry in entries.into_iter().flatten().flatten() {
            let (dir, name) = (entry.path(), entry.file_name());
            if let Ok(patches) = series::load(&dir) {
                found.push(Series {
                    name: name.to_string_lossy().into_owned(),
                    patches: patches.len(),
                    dir,
                });
            }
        }
    }
    found.sort_by_cached_key(|series| {
        let line = series.name.split('-').next();
        let line = line.and_then(|text| text.parse::<Line>().ok());
        (Reverse(line), series.dir.clone())
    });
    found
}

impl Listing {
    fn json(&self) -> serde_json::Value {
        let row = |series: &Series| json!({ "series": series.name, "dir": series.dir, "patches": series.patches });
        json!({
            "cache": self.cache.root(), "sources": self.sources, "kernels": self.kernels,
            "debian": self.debian, "series": self.series.iter().map(row).collect::<Vec<_>>(),
        })
    }

    fn text(&self) -> String {
        // Paths are shown below their folder, so that the lines fit a terminal.
        let below = |path: &Path, folder: &Path| {
            let path = path.strip_prefix(folder).unwrap_or(path);
            shown(path).to_string()
        };
        let cached = |path: &Path| below(path, self.cache.root());
        let mut lines = vec![format!("Cache: {}", shown(self.cache.root()))];
        lines.push("Sources:".into());
        for source in &self.sources {
            let (version, dir) = (source.version.to_string(), cached(&source.dir));
            let from = source.package.as_deref().unwrap_or_default();
            lines.push(format!("  {version:8} {from:36}  {dir}"));
        }
        if self.sources.is_empty() {
            lines.push("  none; `hotset kernel fetch` gets one".into());
        }
        lines.push("Kernels:".into());
        let ours = { self.kernels.iter() }.map(|it| (&it.label, it.arch.as_str(), &it.image));
        let stock = { self.debian.iter() }.map(|it| (&it.label, "x86_64", &it.image));
        for (label, arch, image) in ours.chain(stock) {
            let image = cached(image);
            // A label with the path of a folder has a line of its own.
            let label = match label.len() > 28 {
                true => format!("{label}\n  {:28}", ""),
                false => format!("{label:28}"),
            };
            lines.push(format!("  {label} {arch:6} {image}"));
        }
        if self.kernels.is_empty() && self.debian.is_empty() {
            lines.push("  none; `hotset kernel build` makes one".into());
        }
        let folder = self.kernel_dir.as_deref();
        lines.push(match folder {
            Some(folder) => format!("Series, in {}:", shown(folder)),
            None => "Series:".into(),
        });
        let widest = { self.series.iter() }.map(|series| series.name.len()).max();
        let widest = widest.unwrap_or(0);
        for series in &self.series {
            let patches = match series.patches {
                1 => "1 patch".into(),
                count => format!("{count} patches"),
            };
            let dir = folder.map_or_else(String::new, |folder| below(&series.dir, folder));
            lines.push(format!("  {:widest$} {patches:9} {dir}", series.name));
        }
        if self.series.is_empty() {
            lines.push("  none".into());
        }
        lines.join("\n") + "\n"
    }
}
