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

/// Why tests of a patch were not run that the last patch of its group stands for.
pub const WITH_THE_LAST: &str = "with the last patch";

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

/// What is to be checked, and how thoroughly.
pub struct Plan<'a> {
    pub only: Only,
    /// Build, compile with warnings and boot with all patches laid alone, not after each one.
    pub at_end: bool,
    /// Compile what the patches touch, and build and boot no kernel.
    pub touched_only: bool,
    /// `None` leaves booting out.
    pub boot: Option<&'a Boot<'a>>,
}

/// Checks the last series of `request`'s flavour, on top of those before it. A patch that does not
/// apply or build ends the check: those behind it stand on it. A whole series that is good leaves its
/// kernel in the cache, where [`crate::ensure`] finds it.
///
/// # Errors
/// When the check cannot be made. A patch that fails is no error: it is in the report.
pub fn check(request: &Request, plan: &Plan, progress: &mut Progress) -> Result<Report> {
    let cache = request.cache()?;
    let mut series = request.series()?;
    let Some(patches) = series.pop() else {
        bail!("{} kernels carry no series to check", request.flavour);
    };
    let before = series.concat();
    let skipped = patches.iter().filter(|it| it.number < plan.only.first);
    let chosen: Vec<&Patch> = patches
        .iter()
        .filter(|patch| plan.only.has(patch.number))
        .collect();
    let Some(last) = chosen.last() else {
        bail!("no patch of the series has such a number");
    };
    let to_the_end = patches.last().map(|it| it.number) == Some(last.number);
    let recipe = Recipe::of(request, progress)?;
    let mut overlay = recipe.ground()?;
    for patch in before.iter().chain(skipped) {
        overlay.apply(patch, &recipe.source.dir)?;
    }
    let mut bench = Bench {
        workshop: recipe.workshop(&cache, progress)?,
        recipe: &recipe,
        overlay,
        current: false,
        touched_only: plan.touched_only,
        boot: plan.boot,
    };
    let mut report = Report {
        version: recipe.source.version.to_string(),
        flavour: request.flavour,
        arch: request.arch.clone(),
        patches: Vec::new(),
    };
    let size = if plan.at_end { chosen.len() } else { 1 };
    for group in chosen.chunks(size) {
        let reports = bench.group(group, progress)?;
        let mut verdicts = reports.iter().flat_map(|it| it.verdicts.iter().take(2));
        let stuck = verdicts.any(Verdict::is_failure);
        report.patches.extend(reports);
        if stuck {
            break;
        }
    }
    if to_the_end && !plan.touched_only && report.good() {
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
    touched_only: bool,
    boot: Option<&'a Boot<'a>>,
}

impl Bench<'_> {
    /// All tests of patches that are built together, on top of what lies there.
    fn group(&mut self, group: &[&Patch], progress: &mut Progress) -> Result<Vec<PatchReport>> {
        let tree = &self.recipe.source.dir;
        let files: Vec<String> = group
            .iter()
            .flat_map(|patch| &patch.files)
            .map(|file| file.display().to_string())
            .collect();
        let mut c_files: Vec<&str> = files.iter().map(String::as_str).collect();
        // tools/ has its own make; selftests are built and run by the lab.
        c_files.retain(|file| file.ends_with(".c") && !file.starts_with("tools/"));
        c_files.sort_unstable();
        c_files.dedup();

        // The state before, for warnings that are not the patches'.
        if !self.current {
            self.workshop.set(&self.overlay, progress)?;
            self.workshop.configure(&self.recipe.fragment, progress)?;
        }
        let sparse = proc::say(Command::new("sparse").arg("--version")).is_ok();
        let before = self.warnings(&c_files, sparse, true, progress)?;
        self.current = false;

        let mut reports = Vec::new();
        for patch in group {
            progress(Step::Note {
                what: patch.name.clone(),
            });
            let mut report = PatchReport {
                patch: patch.name.clone(),
                subject: patch.subject.clone(),
                verdicts: Vec::new(),
            };
            if let Err(error) = self.overlay.apply(patch, tree) {
                report.verdicts.push(Verdict::failed(format!("{error:#}")));
                reports.push(report);
                return Ok(reports);
            }
            report.verdicts.push(Verdict::ok(""));
            report.verdicts.resize(
                TESTS.len() - 1,
                Verdict::NotRun {
                    why: WITH_THE_LAST.into(),
                },
            );
            report
                .verdicts
                .push(checkpatch(tree, &patch.path, progress)?);
            reports.push(report);
        }
        let Some(last) = reports.last_mut() else {
            return Ok(reports);
        };

        self.workshop.set(&self.overlay, progress)?;
        let built = self
            .workshop
            .configure(&self.recipe.fragment, progress)
            .and_then(|()| match self.touched_only {
                true => Ok(()),
                false => self.build(&last.patch, progress),
            });
        // The state before the next patch is this one; without a build there are no objects of it.
        self.current = !self.touched_only;
        let after = built.and_then(|()| {
            let booted = self.booted(progress);
            let after = self.warnings(&c_files, sparse, false, progress)?;
            Ok((booted, after))
        });
        let (booted, after) = match after {
            Ok(after) => after,
            Err(error) => {
                last.verdicts.truncate(1);
                last.verdicts.push(Verdict::failed(format!("{error:#}")));
                return Ok(reports);
            }
        };
        let not_run = |why: &str| Verdict::NotRun { why: why.into() };
        let compare = |before: &str, after: &str| {
            let new = warnings::new_ones(before, after, &files);
            if after.is_empty() {
                not_run("no C file of this patch is built in this configuration")
            } else if new.is_empty() {
                Verdict::ok("")
            } else {
                Verdict::failed(new.join("\n"))
            }
        };
        last.verdicts.splice(
            1..TESTS.len() - 1,
            [
                Verdict::ok(if self.touched_only {
                    "what it touches"
                } else {
                    ""
                }),
                compare(&before.0, &after.0),
                if sparse {
                    compare(&before.1, &after.1)
                } else {
                    not_run("sparse is not installed")
                },
                booted,
            ],
        );
        Ok(reports)
    }

    fn build(&self, what: &str, progress: &mut Progress) -> Result<()> {
        let suffix = self.recipe.request.flavour.suffix();
        self.workshop
            .build(&format!("Building {what}"), suffix, progress)
    }

    /// What W=1 and sparse say of those of `c_files` that are part of this kernel. The objects are
    /// rebuilt by the next build, whose flags differ. `loose`: which objects these are may not be
    /// known yet, for want of a build, and one that does not compile is left out.
    fn warnings(
        &self,
        c_files: &[&str],
        sparse: bool,
        loose: bool,
        progress: &mut Progress,
    ) -> Result<(String, String)> {
        let all_known = self.workshop.built_before();
        let objects: Vec<String> = c_files
            .iter()
            .filter(|file| !loose || self.workshop.tree().join(file).is_file())
            .map(|file| format!("{}o", file.trim_end_matches('c')))
            .filter(|object| !all_known || was_made(&self.workshop.objects(), object))
            .collect();
        if objects.is_empty() {
            return Ok((String::new(), String::new()));
        }
        let run = |setting: &str, what: &str, progress: &mut Progress| {
            self.workshop
                .objects_with(setting, &objects, loose, what, progress)
        };
        let plain = run("W=1", "Compiling with W=1", progress)?;
        let checked = if sparse {
            run("C=2", "Running sparse", progress)?
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
        if self.touched_only {
            return Verdict::NotRun {
                why: "no kernel is built".into(),
            };
        }
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

/// Whether make has made this object, ever. After a check that was interrupted it may be gone, and with
/// it would be the state before; what it was made by is there still.
fn was_made(objects: &Path, object: &str) -> bool {
    let object = objects.join(object);
    let name = object.file_name().unwrap_or_default().to_string_lossy();
    object.exists() || object.with_file_name(format!(".{name}.cmd")).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_that_was_made_once_is_part_of_the_kernel() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("mm")).unwrap();
        std::fs::write(dir.path().join("mm/.vmscan.o.cmd"), "").unwrap();
        assert!(was_made(dir.path(), "mm/vmscan.o"));
        assert!(!was_made(dir.path(), "mm/memory-tiers.o"));
    }

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
