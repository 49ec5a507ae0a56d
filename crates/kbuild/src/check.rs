//! Checks a series patch by patch: each applies, builds without new warnings, boots, and passes
//! checkpatch, with the patches before it and without those behind it.
use crate::build::Recipe;
use crate::checkpatch::checkpatch;
use crate::flavour::Flavour;
use crate::proc;
use crate::progress::{Progress, Step, Unit};
use crate::request::Request;
use crate::series::{Overlay, Patch};
use crate::warnings;
use crate::workshop::Workshop;
use anyhow::{bail, Result};
use serde::Serialize;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;

/// What a boot told.
#[derive(Clone, Debug, Serialize)]
pub struct BootInfo {
    /// `uname -r` as the guest said it.
    pub release: String,
    /// From start to the guest's first words.
    pub seconds: f64,
}

/// Boots an image to userspace.
pub type Boot<'a> = dyn Fn(&Path) -> Result<BootInfo> + 'a;

/// Which patches to check, by their numbers: "3", "3..", "..3", "2..4" (both included).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Only {
    pub first: u32,
    pub last: u32,
}

impl Only {
    pub const ALL: Only = Only {
        first: 0,
        last: u32::MAX,
    };

    fn has(self, number: u32) -> bool {
        (self.first..=self.last).contains(&number)
    }
}

impl FromStr for Only {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Only> {
        let number = |part: &str, default: u32| match part.trim() {
            "" => Ok(default),
            digits => digits.parse::<u32>(),
        };
        let parsed = match text.split_once("..") {
            Some((first, last)) => {
                let last = last.trim_start_matches('=');
                number(first, 0).and_then(|first| Ok((first, number(last, u32::MAX)?)))
            }
            None => text.trim().parse().map(|only: u32| (only, only)),
        };
        match parsed {
            Ok((first, last)) if first <= last => Ok(Only { first, last }),
            _ => bail!("{text:?}: say 3, 3.., ..3 or 2..4, by the patches' numbers"),
        }
    }
}

/// How one test of one patch went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum Verdict {
    /// `note` is short: "2 objects", "0.5 s".
    Ok {
        note: String,
    },
    /// Not done, and why.
    NotRun {
        why: String,
    },
    Failed {
        why: String,
    },
}

impl Verdict {
    pub(crate) fn ok(note: impl Into<String>) -> Verdict {
        Verdict::Ok { note: note.into() }
    }

    pub(crate) fn failed(why: impl std::fmt::Display) -> Verdict {
        Verdict::Failed {
            why: why.to_string(),
        }
    }

    pub fn is_failure(&self) -> bool {
        matches!(self, Verdict::Failed { .. })
    }

    /// A table's cell: "ok 0.5 s", "FAILED", "-".
    pub fn cell(&self) -> String {
        match self {
            Verdict::Ok { note } if note.is_empty() => "ok".into(),
            Verdict::Ok { note } => format!("ok, {note}"),
            Verdict::NotRun { .. } => "-".into(),
            Verdict::Failed { .. } => "FAILED".into(),
        }
    }
}

/// The names of the tests, in the order of [`PatchReport::verdicts`].
pub const TESTS: [&str; 6] = ["applies", "builds", "W=1", "sparse", "boots", "checkpatch"];

/// How one patch did.
#[derive(Clone, Debug, Serialize)]
pub struct PatchReport {
    pub patch: String,
    pub subject: String,
    pub verdicts: Vec<Verdict>,
}

/// How a series did.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The kernel that it was applied to, "7.3.4".
    pub version: String,
    /// Which series: of [`Flavour::Both`] only the second is checked, on top of the first.
    pub flavour: Flavour,
    pub arch: String,
    pub patches: Vec<PatchReport>,
}

impl Report {
    pub fn good(&self) -> bool {
        !self
            .patches
            .iter()
            .flat_map(|patch| &patch.verdicts)
            .any(Verdict::is_failure)
    }
}

/// Checks the last series of `request`'s flavour, on top of those before it. `boot` is `None` to
/// leave booting out. A patch that does not apply or build ends the check: those behind it stand on
/// it. A whole series that is good leaves its kernel in the cache, where [`crate::ensure`] finds it.
///
/// # Errors
/// When the check cannot be made. A patch that fails is no error: it is in the report.
pub fn check(
    request: &Request,
    only: Only,
    boot: Option<&Boot>,
    progress: &mut Progress,
) -> Result<Report> {
    let cache = request.cache()?;
    let mut series = request.series()?;
    let Some(patches) = series.pop() else {
        bail!("{} kernels carry no series to check", request.flavour);
    };
    if !patches.iter().any(|patch| only.has(patch.number)) {
        bail!("no patch of the series has such a number");
    }
    let recipe = Recipe::of(request, progress)?;
    let mut bench = Bench {
        workshop: recipe.workshop(&cache, progress)?,
        recipe: &recipe,
        overlay: Overlay::of(&series.concat(), &recipe.source.dir)?,
        current: false,
        boot,
    };
    let mut report = Report {
        version: recipe.source.version.to_string(),
        flavour: request.flavour,
        arch: request.arch.clone(),
        patches: Vec::new(),
    };
    let mut last_is_built = false;
    for (index, patch) in patches.iter().enumerate() {
        if patch.number > only.last {
            break;
        }
        progress(Step::Note {
            what: format!("{} ({} of {})", patch.name, index + 1, patches.len()),
        });
        let verdicts = if only.has(patch.number) {
            bench.patch(patch, progress)?
        } else {
            match bench.overlay.apply(patch, &recipe.source.dir) {
                Ok(()) => continue,
                Err(error) => vec![Verdict::failed(format!("{error:#}"))],
            }
        };
        let stuck = verdicts.iter().take(2).any(Verdict::is_failure);
        report.patches.push(PatchReport {
            patch: patch.name.clone(),
            subject: patch.subject.clone(),
            verdicts,
        });
        if stuck {
            break;
        }
        last_is_built = index + 1 == patches.len();
    }
    if last_is_built && report.good() {
        recipe.keep(&bench.workshop, &cache)?;
    }
    Ok(report)
}

/// One tree that is carried from patch to patch.
struct Bench<'a> {
    workshop: Workshop,
    recipe: &'a Recipe<'a>,
    overlay: Overlay,
    /// Whether the workshop's tree and objects are those of `overlay`.
    current: bool,
    boot: Option<&'a Boot<'a>>,
}

impl Bench<'_> {
    /// All tests of one patch on top of what lies there.
    fn patch(&mut self, patch: &Patch, progress: &mut Progress) -> Result<Vec<Verdict>> {
        let not_run = |why: &str| Verdict::NotRun { why: why.into() };
        let tree = &self.recipe.source.dir;
        let style = checkpatch(tree, &patch.path, progress)?;
        let c_files: Vec<String> = patch
            .files
            .iter()
            .filter(|file| file.extension().is_some_and(|extension| extension == "c"))
            .map(|file| file.display().to_string())
            .collect();

        // The state before, for warnings that are not the patch's. A whole kernel of it is needed
        // only to know what this kernel is made of; objects of any other tell that as well.
        if !self.current {
            self.workshop.set(&self.overlay, progress)?;
            self.workshop.configure(&self.recipe.fragment, progress)?;
            if !self.workshop.built_before() {
                if let Err(error) = self.build("before the patch", progress) {
                    return Ok(vec![
                        not_run("the tree before does not build"),
                        Verdict::failed(format!("before the patch: {error:#}")),
                    ]);
                }
            }
        }
        let sparse = proc::say(Command::new("sparse").arg("--version")).is_ok();
        let before = self.warnings(&c_files, sparse, progress)?;

        self.current = false;
        if let Err(error) = self.overlay.apply(patch, tree) {
            return Ok(vec![Verdict::failed(format!("{error:#}"))]);
        }
        self.workshop.set(&self.overlay, progress)?;
        let built = self
            .workshop
            .configure(&self.recipe.fragment, progress)
            .and_then(|()| self.build(&patch.name, progress));
        if let Err(error) = built {
            return Ok(vec![Verdict::ok(""), Verdict::failed(format!("{error:#}"))]);
        }
        self.current = true;
        let booted = self.booted(progress);
        let after = self.warnings(&c_files, sparse, progress)?;
        let touched: Vec<String> = patch
            .files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        let compare = |before: &str, after: &str| {
            let new = warnings::new_ones(before, after, &touched);
            if after.is_empty() {
                not_run("no C file of this patch is built in this configuration")
            } else if new.is_empty() {
                Verdict::ok("")
            } else {
                Verdict::failed(new.join("\n"))
            }
        };
        Ok(vec![
            Verdict::ok(""),
            Verdict::ok(""),
            compare(&before.0, &after.0),
            if sparse {
                compare(&before.1, &after.1)
            } else {
                not_run("sparse is not installed")
            },
            booted,
            style,
        ])
    }

    fn build(&self, what: &str, progress: &mut Progress) -> Result<()> {
        let suffix = self.recipe.request.flavour.suffix();
        self.workshop
            .build(&format!("Building {what}"), suffix, progress)
    }

    /// What W=1 and sparse say of those of `c_files` that are part of this kernel. The objects are
    /// rebuilt by the next build, whose flags differ.
    fn warnings(
        &self,
        c_files: &[String],
        sparse: bool,
        progress: &mut Progress,
    ) -> Result<(String, String)> {
        let objects: Vec<String> = c_files
            .iter()
            .map(|file| format!("{}o", file.trim_end_matches('c')))
            .filter(|object| self.workshop.objects().join(object).exists())
            .collect();
        if objects.is_empty() {
            return Ok((String::new(), String::new()));
        }
        let plain =
            self.workshop
                .objects_with(&["W=1"], &objects, "Compiling with W=1", progress)?;
        let checked = if sparse {
            self.workshop
                .objects_with(&["C=2"], &objects, "Running sparse", progress)?
        } else {
            String::new()
        };
        Ok((plain, checked))
    }

    fn booted(&self, progress: &mut Progress) -> Verdict {
        let Some(boot) = self.boot else {
            return Verdict::NotRun {
                why: "left out".into(),
            };
        };
        progress(Step::Begin {
            what: "Booting".into(),
            total: None,
            unit: Unit::Steps,
        });
        let suffix = self.recipe.request.flavour.suffix();
        let verdict = match boot(&self.workshop.image()) {
            Ok(info) if info.release.ends_with(suffix) => {
                Verdict::ok(format!("{:.1} s", info.seconds))
            }
            Ok(info) => Verdict::failed(format!("another kernel came up: {}", info.release)),
            Err(error) => Verdict::failed(format!("{error:#}")),
        };
        progress(Step::End {
            what: format!("Boot: {}", verdict.cell()),
        });
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_patches() {
        let only = |text: &str| text.parse::<Only>().map(|only| (only.first, only.last));
        assert_eq!(only("3").unwrap(), (3, 3));
        assert_eq!(only("3..").unwrap(), (3, u32::MAX));
        assert_eq!(only("..3").unwrap(), (0, 3));
        assert_eq!(only("2..4").unwrap(), (2, 4));
        assert!(only("4..2").is_err() && only("x").is_err() && only("").is_err());
    }
}
