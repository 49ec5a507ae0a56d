//! Checks the patches of one series, group by group.
use super::checkpatch::checkpatch;
use super::only::Only;
use super::verdict::{PatchReport, Report, Verdict, TESTS, WITH_THE_LAST};
use super::warnings;
use crate::build::build_tree::BuildTree;
use crate::build::request::Request;
use crate::build::Recipe;
use crate::patches::{Overlay, Patch};
use crate::process;
use anyhow::{bail, Result};
use progress::{Progress, Step, Unit};
use serde::Serialize;
use std::path::Path;
use std::process::Command;

/// The result of a boot.
#[derive(Clone, Debug, Serialize)]
pub struct BootInfo {
    /// `uname -r` in the guest.
    pub release: String,
    /// Seconds from the start to the guest's first message.
    pub seconds: f64,
}

/// Boots an image to userspace.
pub type Boot<'a> = dyn Fn(&Path) -> Result<BootInfo> + 'a;

/// Which patches to check, and how thoroughly.
pub struct Plan<'a> {
    pub only: Only,
    /// Build, compile with warnings and boot only once, with all patches applied.
    pub at_end: bool,
    /// Compile only the files that the patches touch; build and boot no kernel.
    pub touched_only: bool,
    /// None: boot no kernel.
    pub boot: Option<&'a Boot<'a>>,
}

/// Checks the last series of `request`'s flavour, on top of the series before it. A patch that does
/// not apply or build ends the check. A whole series that passes leaves its kernel in the cache,
/// where [`crate::ensure`] finds it.
///
/// # Errors
/// When the check cannot be run. A patch that fails is no error: the report has it.
pub fn check(request: &Request, plan: &Plan, progress: &mut Progress) -> Result<Report> {
    let cache = request.cache()?;
    let mut series = request.series()?;
    let Some(patches) = series.pop() else {
        bail!("a {} kernel carries no series to check", request.flavour);
    };
    let before = series.concat();
    let skipped = patches.iter().filter(|it| it.number < plan.only.first);
    let chosen: Vec<&Patch> = patches
        .iter()
        .filter(|patch| plan.only.has(patch.number))
        .collect();
    let Some(last) = chosen.last() else {
        bail!(
            "no patch of the series has a number from {} to {}",
            plan.only.first,
            plan.only.last
        );
    };
    let to_the_end = patches.last().map(|it| it.number) == Some(last.number);
    let recipe = Recipe::of(request, progress)?;
    let mut overlay = recipe.ground()?;
    for patch in before.iter().chain(skipped) {
        overlay.apply(patch, &recipe.source.dir)?;
    }
    let mut checker = Checker {
        build_tree: recipe.build_tree(&cache, progress)?,
        recipe: &recipe,
        overlay,
        current: false,
        touched_only: plan.touched_only,
        boot: plan.boot,
    };
    let mut report = Report {
        version: recipe.source.version.to_string(),
        flavour: recipe.flavour,
        arch: request.arch.clone(),
        patches: Vec::new(),
    };
    let size = if plan.at_end { chosen.len() } else { 1 };
    for group in chosen.chunks(size) {
        let reports = checker.group(group, progress)?;
        let mut verdicts = reports.iter().flat_map(|it| it.verdicts.iter().take(2));
        let stuck = verdicts.any(Verdict::is_failure);
        report.patches.extend(reports);
        if stuck {
            break;
        }
    }
    if to_the_end && !plan.touched_only && report.good() {
        recipe.keep(&checker.build_tree, &cache)?;
    }
    Ok(report)
}

/// One build tree that goes from patch to patch.
struct Checker<'a> {
    build_tree: BuildTree,
    recipe: &'a Recipe<'a>,
    overlay: Overlay,
    /// Whether the tree and the objects of `build_tree` are those of `overlay`.
    current: bool,
    touched_only: bool,
    boot: Option<&'a Boot<'a>>,
}

impl Checker<'_> {
    /// Runs all tests of patches that are built together, on top of the patches before them.
    fn group(&mut self, group: &[&Patch], progress: &mut Progress) -> Result<Vec<PatchReport>> {
        let files: Vec<String> = group
            .iter()
            .flat_map(|patch| &patch.files)
            .map(|file| file.display().to_string())
            .collect();
        let c_files = compiled(&files);
        // The state before, for warnings that the patches did not cause.
        if !self.current {
            self.build_tree.set(&self.overlay, progress)?;
            self.build_tree.configure(&self.recipe.fragment, progress)?;
        }
        let sparse = process::output(Command::new("sparse").arg("--version")).is_ok();
        let before = self.warnings(&c_files, sparse, true, progress)?;
        self.current = false;

        let mut reports = self.apply(group, progress)?;
        let Some(last) = reports.last_mut() else {
            return Ok(reports);
        };
        if last.verdicts.iter().take(1).any(Verdict::is_failure) {
            return Ok(reports);
        }
        self.build_tree.set(&self.overlay, progress)?;
        match self.compile(&last.patch, &c_files, sparse, progress) {
            Ok((booted, after)) => {
                let built = if self.touched_only {
                    "the touched files"
                } else {
                    ""
                };
                let sparse = match sparse {
                    true => compare(&before.1, &after.1, &files),
                    false => Verdict::not_run("sparse is not installed"),
                };
                let plain = compare(&before.0, &after.0, &files);
                let verdicts = [Verdict::ok(built), plain, sparse, booted];
                last.verdicts.splice(1..TESTS.len() - 1, verdicts);
            }
            Err(error) => {
                last.verdicts.truncate(1);
                last.verdicts.push(Verdict::failed(format!("{error:#}")));
            }
        }
        Ok(reports)
    }

    /// Applies patches and runs checkpatch on each. A patch that does not apply is the last report, with
    /// one verdict.
    fn apply(&mut self, group: &[&Patch], progress: &mut Progress) -> Result<Vec<PatchReport>> {
        let tree = &self.recipe.source.dir;
        let mut reports = Vec::new();
        for patch in group {
            progress(Step::Note {
                text: patch.name.clone(),
            });
            let mut report = PatchReport {
                patch: patch.name.clone(),
                subject: patch.subject.clone(),
                verdicts: Vec::new(),
            };
            if let Err(error) = self.overlay.apply(patch, tree) {
                report.verdicts.push(Verdict::failed(format!("{error:#}")));
                reports.push(report);
                break;
            }
            report.verdicts.push(Verdict::ok(""));
            let later = Verdict::not_run(WITH_THE_LAST);
            report.verdicts.resize(TESTS.len() - 1, later);
            let style = checkpatch(tree, &patch.path, progress)?;
            report.verdicts.push(style);
            reports.push(report);
        }
        Ok(reports)
    }

    /// Builds and boots the tree as it is, and collects the warnings of `c_files`: of W=1 and of sparse.
    fn compile(
        &mut self,
        title: &str,
        c_files: &[&str],
        sparse: bool,
        progress: &mut Progress,
    ) -> Result<(Verdict, (String, String))> {
        let built = self
            .build_tree
            .configure(&self.recipe.fragment, progress)
            .and_then(|()| match self.touched_only {
                true => Ok(()),
                false => self.build(title, progress),
            });
        // The present state is the one before the next patch. Without a build it has no objects.
        self.current = !self.touched_only;
        built?;
        let booted = self.booted(progress);
        let after = self.warnings(c_files, sparse, false, progress)?;
        Ok((booted, after))
    }

    fn build(&self, title: &str, progress: &mut Progress) -> Result<()> {
        let suffix = self.recipe.flavour.suffix();
        self.build_tree
            .build(&format!("Building {title}"), suffix, progress)
    }

    /// The warnings of W=1 and of sparse for those of `c_files` that are part of this kernel. The
    /// next build compiles these objects again, since its flags differ. With `loose`, objects that
    /// do not compile are skipped: before a first build it is not known which objects are part of
    /// the kernel.
    fn warnings(
        &self,
        c_files: &[&str],
        sparse: bool,
        loose: bool,
        progress: &mut Progress,
    ) -> Result<(String, String)> {
        let all_known = self.build_tree.built_before();
        let objects: Vec<String> = c_files
            .iter()
            .filter(|file| !loose || self.build_tree.tree().join(file).is_file())
            .map(|file| format!("{}o", file.trim_end_matches('c')))
            .filter(|object| match all_known {
                true => was_made(&self.build_tree.objects(), object),
                false => is_wanted(&self.build_tree.tree(), &self.build_tree.objects(), object),
            })
            .collect();
        if objects.is_empty() {
            return Ok((String::new(), String::new()));
        }
        let run = |setting: &str, title: &str, progress: &mut Progress| {
            self.build_tree
                .objects_with(setting, &objects, loose, title, progress)
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
        if self.touched_only {
            return Verdict::not_run("no kernel is built");
        }
        let Some(boot) = self.boot else {
            return Verdict::not_run("left out");
        };
        progress(Step::Begin {
            title: "Booting".into(),
            total: None,
            unit: Unit::Steps,
        });
        let suffix = self.recipe.flavour.suffix();
        let verdict = match boot(&self.build_tree.image()) {
            Ok(info) if info.release.ends_with(suffix) => {
                Verdict::ok(format!("{:.1} s", info.seconds))
            }
            Ok(info) => Verdict::failed(format!("another kernel came up: {}", info.release)),
            Err(error) => Verdict::failed(format!("{error:#}")),
        };
        progress(Step::End {
            text: format!("Boot: {}", verdict.cell()),
        });
        verdict
    }
}

/// The C files that the kernel's own make compiles. tools/ has its own make; the lab builds and runs
/// selftests.
fn compiled(files: &[String]) -> Vec<&str> {
    let mut c_files: Vec<&str> = files.iter().map(String::as_str).collect();
    c_files.retain(|file| file.ends_with(".c") && !file.starts_with("tools/"));
    c_files.sort_unstable();
    c_files.dedup();
    c_files
}

/// Whether `after` has warnings of `files` that `before` has not.
fn compare(before: &str, after: &str, files: &[String]) -> Verdict {
    let new = warnings::new_ones(before, after, files);
    if after.is_empty() {
        Verdict::not_run("no C file of this patch is built in this configuration")
    } else if new.is_empty() {
        Verdict::ok("")
    } else {
        Verdict::failed(new.join("\n"))
    }
}

/// Whether make has ever made this object. After an interrupted check the object may be gone, but
/// kbuild's record of its command stays.
fn was_made(objects: &Path, object: &str) -> bool {
    let object = objects.join(object);
    let name = object.file_name().unwrap_or_default().to_string_lossy();
    object.exists() || object.with_file_name(format!(".{name}.cmd")).exists()
}

/// Whether the configuration in `objects` has this object: not where the Makefile beside its source
/// makes it for an option that is off. What make is told to make, it makes in any configuration.
fn is_wanted(tree: &Path, objects: &Path, object: &str) -> bool {
    let path = Path::new(object);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let makefile = tree.join(path.with_file_name("Makefile"));
    let (Ok(rules), Ok(config)) = (
        std::fs::read_to_string(makefile),
        std::fs::read_to_string(objects.join(".config")),
    ) else {
        return true;
    };
    let option = rules.lines().find_map(|line| {
        let (option, made) = line.strip_prefix("obj-$(")?.split_once(')')?;
        made.split_whitespace()
            .any(|word| word == name)
            .then_some(option)
    });
    option.is_none_or(|option| {
        let is_on = |line: &str| {
            line.strip_prefix(option)
                .is_some_and(|value| value.starts_with("=y") || value.starts_with("=m"))
        };
        config.lines().any(is_on)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_of_an_option_that_is_off_is_not_wanted() {
        let dir = tempfile::tempdir().unwrap();
        let mm = dir.path().join("mm");
        std::fs::create_dir(&mm).unwrap();
        let rules =
            "obj-y := filemap.o\nobj-$(CONFIG_A) += a.o wsprot.o\nobj-$(CONFIG_AB)\t+= ab.o\n";
        std::fs::write(mm.join("Makefile"), rules).unwrap();
        let config = "# CONFIG_A is not set\nCONFIG_AB=y\n";
        std::fs::write(dir.path().join(".config"), config).unwrap();
        let wanted = |object| is_wanted(dir.path(), dir.path(), object);
        assert!(wanted("mm/filemap.o") && wanted("mm/ab.o") && wanted("fs/exec.o"));
        assert!(!wanted("mm/wsprot.o") && !wanted("mm/a.o"));
    }

    #[test]
    fn an_object_with_a_record_of_its_command_counts_as_made() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("mm")).unwrap();
        std::fs::write(dir.path().join("mm/.vmscan.o.cmd"), "").unwrap();
        assert!(was_made(dir.path(), "mm/vmscan.o"));
        assert!(!was_made(dir.path(), "mm/memory-tiers.o"));
    }
}
