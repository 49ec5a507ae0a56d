//! The candidates: so many patches of a series, or commits of a tree.
use crate::shell::usage;
use anyhow::{bail, Context, Result};
use lab::experiment::{Kernel, Own};
use names::shown;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The candidates from GOOD to BAD.
pub enum Steps {
    /// Candidate `n` has the first `from + n` patches of these.
    Patches {
        folder: PathBuf,
        names: Vec<String>,
        from: usize,
    },
    /// Commits, oldest first; the first is GOOD.
    Commits {
        tree: PathBuf,
        commits: Vec<(String, String)>,
    },
}

impl Steps {
    /// The candidates of a range. `0..9` are numbers of patches; `v7.3..HEAD` are revisions of git.
    ///
    /// # Errors
    /// The range names nothing that there is.
    pub fn of(range: &str, series: Option<&Path>, tree: Option<&Path>) -> Result<Steps> {
        let Some((good, bad)) = range.split_once("..") else {
            return Err(usage!(
                "{range}: expected GOOD..BAD, such as 0..9 or v7.3..HEAD"
            ));
        };
        match (series, tree) {
            (Some(folder), _) => patches(folder, good, bad),
            (None, Some(tree)) => commits(tree, good, bad),
            (None, None) => Err(usage!(
                "name the patches by --series FOLDER, or the commits by --tree FOLDER"
            )),
        }
    }

    /// The number of candidates, at least 2.
    pub fn count(&self) -> usize {
        match self {
            Steps::Patches { names, from, .. } => names.len() - from + 1,
            Steps::Commits { commits, .. } => commits.len(),
        }
    }

    /// What the step to a candidate adds: the name of a patch, or a commit with its subject.
    pub fn name(&self, candidate: usize) -> String {
        match self {
            Steps::Patches { names, from, .. } => match from + candidate {
                0 => "no patch".into(),
                count => names[count - 1].clone(),
            },
            Steps::Commits { commits, .. } => {
                let (commit, subject) = &commits[candidate];
                format!("{} {subject}", &commit[..commit.len().min(12)])
            }
        }
    }

    /// The kernel of a candidate, with its files below `folder`.
    ///
    /// # Errors
    /// Files cannot be copied, or git fails.
    pub fn kernel(&self, candidate: usize, tree: Option<&Path>, folder: &Path) -> Result<Kernel> {
        let own = match self {
            Steps::Patches {
                folder: all,
                names,
                from,
            } => {
                let to = folder.join(format!("patches-{candidate}"));
                std::fs::create_dir_all(&to).with_context(|| shown(&to).to_string())?;
                for name in &names[..from + candidate] {
                    std::fs::copy(all.join(name), to.join(name))
                        .with_context(|| shown(&to).to_string())?;
                }
                Own {
                    series_dir: Some(to).filter(|_| from + candidate > 0),
                    tree: tree.map(Path::to_owned),
                    ..Own::default()
                }
            }
            Steps::Commits { tree, commits } => {
                let to = folder.join("tree");
                if !to.join(".git").exists() {
                    let shown = to.to_string_lossy().into_owned();
                    git(tree, &["worktree", "prune"])?;
                    git(
                        tree,
                        &[
                            "worktree",
                            "add",
                            "--detach",
                            "--force",
                            &shown,
                            &commits[candidate].0,
                        ],
                    )?;
                }
                git(
                    &to,
                    &["checkout", "--detach", "--force", &commits[candidate].0],
                )?;
                Own {
                    tree: Some(to),
                    ..Own::default()
                }
            }
        };
        match own == Own::default() {
            // No patch at all is a kernel that the lab has.
            true => Ok(Kernel::Known(kbuild::Flavour::Vanilla)),
            false => Ok(Kernel::Own(own)),
        }
    }
}

fn patches(folder: &Path, good: &str, bad: &str) -> Result<Steps> {
    let entries = std::fs::read_dir(folder).with_context(|| shown(folder).to_string())?;
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".patch")).collect();
    names.sort();
    let number = |text: &str, least: usize| match text.parse::<usize>() {
        Ok(number) if (least..=names.len()).contains(&number) => Ok(number),
        _ => Err(usage!(
            "{text}: expected a number of patches, {least} to {}: {} has so many",
            names.len(),
            shown(folder)
        )),
    };
    let from = number(if good.is_empty() { "0" } else { good }, 0)?;
    let all = names.len().to_string();
    let to = number(if bad.is_empty() { &all } else { bad }, from + 1)?;
    names.truncate(to);
    Ok(Steps::Patches {
        folder: folder.to_owned(),
        names,
        from,
    })
}

fn commits(tree: &Path, good: &str, bad: &str) -> Result<Steps> {
    let bad = if bad.is_empty() { "HEAD" } else { bad };
    let one = |revision: &str| -> Result<(String, String)> {
        let text = git(tree, &["log", "-1", "--format=%H %s", revision])?;
        let (commit, subject) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        Ok((commit.into(), subject.into()))
    };
    let mut commits = vec![one(good)?];
    let range = format!("{good}..{bad}");
    let between = git(
        tree,
        &[
            "log",
            "--reverse",
            "--first-parent",
            "--format=%H %s",
            &range,
        ],
    )?;
    for line in between.lines() {
        let (commit, subject) = line.split_once(' ').unwrap_or((line, ""));
        commits.push((commit.into(), subject.into()));
    }
    if commits.len() < 2 {
        bail!("{range}: no commit lies between; is {good} before {bad}?");
    }
    Ok(Steps::Commits {
        tree: tree.to_owned(),
        commits,
    })
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .output();
    let output = output.context("git cannot be run")?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!(
            "git {} in {}: {}",
            arguments.join(" "),
            shown(folder),
            why.trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
