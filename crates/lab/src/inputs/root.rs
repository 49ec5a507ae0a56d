//! Roots of workers that are programs: images of Debian's packages, made once and shared by all trials.
//!
//! mmdebstrap has apt fetch, check and install the packages. A script makes the image of them, in a
//! namespace of its own. Below the cache's folder `root/`:
//!
//! ```text
//! base-KEY/     base.tar, of a release and names of packages
//! image-KEY/    root.ext4 and programs, of their versions, what `prepare` says and the free space
//! ```
use crate::experiment::{self, Broken, Experiment, Root};
use anyhow::{bail, Context, Result};
use kbuild::cache::{self, Cache, Partial};
use kbuild::fetch::apt;
use kbuild::fetch::mirrors::Mirrors;
use kbuild::process::{self, Event};
use progress::{Progress, Step, Unit};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of the images' contents. A new version makes cached images of the old one unused.
const FORMAT: u32 = 1;
/// Bytes that a root of packages may take while it is made, and its archive.
const BASE_BYTES: u64 = 2_000_000_000;
/// Lines of a program's output that an error quotes.
const TAIL: usize = 8;
const SCRIPT: &str = include_str!("root-image.sh");
/// Folders of a package that no program reads.
const LEFT_OUT: [&str; 4] = ["man", "doc", "locale", "info"];

/// A root that guests can have.
#[derive(Clone, Debug)]
pub struct Made {
    pub image: PathBuf,
    /// Name and version of each package.
    pub packages: Vec<String>,
}

/// The experiment's root, made if the cache has none; none for an experiment without programs.
///
/// # Errors
/// When a package does not exist or its signature is bad, a command of `prepare` fails, or the root
/// lacks a worker's program: these name the line of the experiment. When a program of the host or
/// room on the disk is missing.
pub fn image(experiment: &Experiment, progress: &mut Progress) -> Result<Option<Made>> {
    let Some(root) = &experiment.root else {
        return Ok(None);
    };
    let folder = Cache::of_user()?.folder("root")?;
    let (archive, packages) = base(experiment, root, &folder, progress)?;
    let text = format!("{FORMAT} {packages:?} {:?} {}", root.prepare, root.free_mb);
    let name = format!("image-{:016x}", random::fnv1a(text.into_bytes()));
    let _lock = cache::lock(&folder, &name, progress)?;
    let place = folder.join(&name);
    if !place.is_dir() {
        let needed = std::fs::metadata(&archive)?.len() * 3 + (root.free_mb << 20);
        cache::need_space(&folder, needed, "the image of a root")?;
        let partial = Partial::begin(&folder, &name)?;
        let inner = partial.path().join("whole");
        std::fs::create_dir(&inner)?;
        fill(experiment, root, &archive, partial.path(), &inner, progress)?;
        partial.finish(&inner, &place)?;
    }
    let programs = place.join("programs");
    let programs = std::fs::read_to_string(&programs)
        .with_context(|| format!("reading {}", programs.display()))?;
    check_commands(experiment, &programs)?;
    Ok(Some(Made {
        image: place.join("root.ext4"),
        packages,
    }))
}

/// The archive of the packages, and their names with versions.
fn base(
    experiment: &Experiment,
    root: &Root,
    folder: &Path,
    progress: &mut Progress,
) -> Result<(PathBuf, Vec<String>)> {
    let mut names = root.packages.clone();
    names.sort();
    let text = format!("{FORMAT} {} {names:?}", root.suite);
    let name = format!("base-{:016x}", random::fnv1a(text.into_bytes()));
    let _lock = cache::lock(folder, &name, progress)?;
    let place = folder.join(&name);
    if !place.is_dir() {
        cache::need_space(folder, BASE_BYTES, "a root of packages")?;
        let partial = Partial::begin(folder, &name)?;
        let inner = partial.path().join("whole");
        std::fs::create_dir(&inner)?;
        install(experiment, root, &inner.join("base.tar"), progress)?;
        partial.finish(&inner, &place)?;
    }
    let archive = place.join("base.tar");
    let status = process::output(
        Command::new("tar")
            .args(["-xOf"])
            .arg(&archive)
            .arg("./var/lib/dpkg/status"),
    )?;
    let packages = installed(&status.out);
    if packages.is_empty() {
        bail!(
            "{}: the archive has no packages; delete its folder",
            archive.display()
        );
    }
    Ok((archive, packages))
}

/// Has mmdebstrap install the packages into an archive.
fn install(
    experiment: &Experiment,
    root: &Root,
    archive: &Path,
    progress: &mut Progress,
) -> Result<()> {
    let mirrors = Mirrors::find(None, None);
    if !Path::new(apt::KEYRING).is_file() {
        bail!(
            "{}: Debian's archive keyring is missing: install debian-archive-keyring \
             (script/bootstrap does)",
            apt::KEYRING
        );
    }
    let suite = &root.suite;
    let mut command = Command::new("mmdebstrap");
    command
        .args(["--variant=essential", "--format=tar"])
        .arg(format!("--include={}", root.packages.join(",")))
        .arg("--aptopt=Acquire::Languages \"none\"")
        .arg("--dpkgopt=force-unsafe-io");
    for line in apt::machine_transport().lines() {
        command.arg(format!("--aptopt={line}"));
    }
    for folder in LEFT_OUT {
        command.arg(format!("--dpkgopt=path-exclude=/usr/share/{folder}/*"));
    }
    // Java's packages make links to manual pages, and fail where the folder is missing.
    command.arg("--essential-hook=mkdir -p \"$1\"/usr/share/man/man1");
    command.arg(suite).arg(archive);
    let source = |suite: &str| -> Result<String> {
        let mirror = mirrors.of_suite(suite)?;
        Ok(format!(
            "deb [signed-by={}] {mirror} {suite} main",
            apt::KEYRING
        ))
    };
    command.arg(source(suite)?);
    if mirrors.security.is_some() {
        command.arg(source(&format!("{suite}-security"))?);
    }
    let title = format!(
        "Installing {} of {suite} into a root",
        root.packages.join(", ")
    );
    let (done, lines) = run(command.env("LC_ALL", "C"), title, progress)?;
    if done {
        return Ok(());
    }
    for (i, name) in root.packages.iter().enumerate() {
        let missing = |line: &String| {
            line.starts_with("E: ")
                && (line.ends_with(&format!(" package {name}"))
                    || line.contains(&format!("'{name}' has no installation candidate")))
        };
        if lines.iter().any(missing) {
            let message = format!("Debian's {suite} has no package {name:?}");
            let field = format!("root.packages[{i}]");
            return Err(experiment.places.broken(&field, message).into());
        }
    }
    bail!("mmdebstrap could not make the root:\n{}", end_of(&lines))
}

/// Makes the image and the list of programs.
fn fill(
    experiment: &Experiment,
    root: &Root,
    archive: &Path,
    work: &Path,
    to: &Path,
    progress: &mut Progress,
) -> Result<()> {
    let script = work.join("script");
    std::fs::write(&script, SCRIPT)?;
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        // The user is the namespace's root; /etc/subuid has the other users of the root.
        command.args(["--user", "--map-root-user", "--map-auto"]);
    }
    command
        .args([
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "--ipc",
            "--uts",
            "--net",
        ])
        .arg("sh")
        .arg(script)
        .arg(archive)
        .arg(work.join("root"))
        .arg(to.join("root.ext4"))
        .arg(to.join("programs"))
        .arg(root.free_mb.to_string())
        .args(&root.prepare);
    let title = match root.prepare.len() {
        0 => "Making the root's image".to_string(),
        n => format!("Preparing the root ({n} commands)"),
    };
    let (done, lines) = run(&mut command, title, progress)?;
    if done {
        return Ok(());
    }
    let failed = lines.iter().rev().find_map(|line| {
        let (number, status) = line.strip_prefix("hotset-prepare ")?.split_once(' ')?;
        Some((number.to_string(), status.to_string()))
    });
    let Some((number, status)) = failed else {
        bail!("the root's image could not be made:\n{}", end_of(&lines));
    };
    let said: Vec<String> = { lines.into_iter() }
        .filter(|line| !line.starts_with("hotset-prepare "))
        .collect();
    let message = match said.is_empty() {
        true => format!("the command ended with exit status {status} and printed nothing"),
        false => format!(
            "the command ended with exit status {status}:\n{}",
            end_of(&said)
        ),
    };
    let field = format!("root.prepare[{number}]");
    Err(experiment.places.broken(&field, message).into())
}

/// Runs a program with its last line shown. Returns whether it ended well, and its output.
fn run(
    command: &mut Command,
    title: String,
    progress: &mut Progress,
) -> Result<(bool, Vec<String>)> {
    progress(Step::Begin {
        title: title.clone(),
        total: None,
        unit: Unit::Steps,
    });
    let mut lines = Vec::new();
    let status = process::run(command, &mut |event| {
        let mut detail = String::new();
        if let Event::Stdout(line) | Event::Stderr(line) = event {
            detail = line.to_string();
            lines.push(line.to_string());
        }
        progress(Step::Advance {
            done: lines.len() as u64,
            detail,
        });
    })?;
    let end = if status.success() { "done" } else { "failed" };
    progress(Step::End {
        text: format!("{title}: {end}"),
    });
    Ok((status.success(), lines))
}

fn end_of(lines: &[String]) -> String {
    lines[lines.len().saturating_sub(TAIL)..].join("\n")
}

/// Name and version of each package in the text of dpkg's status file.
fn installed(status: &str) -> Vec<String> {
    let package = |stanza: &str| {
        let field = |name: &str| stanza.lines().find_map(|line| line.strip_prefix(name));
        Some(format!("{} {}", field("Package: ")?, field("Version: ")?))
    };
    status.split("\n\n").filter_map(package).collect()
}

/// Checks that the root has the programs of all workers and daemons that run in it. `programs` are the
/// paths in the root, one a line.
fn check_commands(experiment: &Experiment, programs: &str) -> Result<(), Broken> {
    let workers = experiment.workers.iter().filter_map(|(name, worker)| {
        let orders = worker.does.program()?;
        let field = format!("workers.{name}.does.program.command");
        Some((field, orders.command.first()?, orders.cwd.as_str()))
    });
    let daemons = experiment.arms.iter().filter_map(|arm| {
        let daemon = arm.daemon.as_ref().filter(|daemon| daemon.in_root)?;
        let field = experiment::daemon_program(&arm.name);
        Some((field, daemon.program.as_ref()?, "/"))
    });
    for (field, program, cwd) in workers.chain(daemons) {
        if !has(programs, program, cwd) {
            let last = |path: &'_ str| path.rsplit('/').next().unwrap_or_default().to_string();
            let known: Vec<String> = programs.lines().map(last).collect();
            let meant = names::suggestion(&last(program), known.iter().map(String::as_str));
            let message = format!(
                "the root has no program {program:?}: add its package to `packages`{meant}"
            );
            return Err(experiment.places.broken(&field, message));
        }
    }
    Ok(())
}

/// Whether the root has a program: a path, or a name in one of the usual folders. The disks that are
/// mounted in a guest are not known here.
fn has(programs: &str, program: &str, cwd: &str) -> bool {
    let there = |path: &str| programs.lines().any(|line| line == path);
    if !program.contains('/') {
        let folders = ["local/sbin", "local/bin", "sbin", "bin"];
        return folders
            .iter()
            .any(|folder| there(&format!("/usr/{folder}/{program}")));
    }
    let path = Path::new(cwd).join(program);
    if path.starts_with("/scratch") || path.starts_with("/data") {
        return true;
    }
    let path: PathBuf = path
        .components()
        .filter(|part| part.as_os_str() != ".")
        .collect();
    let path = path.to_string_lossy();
    // /bin is a link to /usr/bin.
    there(&path) || there(&format!("/usr{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_name_by_path_and_from_its_folder() {
        let programs = "/usr/bin/make\n/usr/sbin/fdisk\n/srv/x/configure\n/usr/lib/pg/bin/initdb\n";
        for (program, cwd) in [
            ("make", "/"),
            ("fdisk", "/"),
            ("/usr/bin/make", "/"),
            ("/bin/make", "/"),
            ("./configure", "/srv/x"),
            ("x/configure", "/srv"),
            ("/lib/pg/bin/initdb", "/"),
            ("./built-later", "/scratch/tree"),
        ] {
            assert!(has(programs, program, cwd), "{program} in {cwd}");
        }
        for (program, cwd) in [
            ("mak", "/"),
            ("initdb", "/"),
            ("./make", "/srv/x"),
            ("/make", "/"),
        ] {
            assert!(!has(programs, program, cwd), "{program} in {cwd}");
        }
    }

    #[test]
    fn packages_are_read_with_their_versions() {
        let status = "Package: a\nStatus: install ok installed\nVersion: 1:2-3\n\n\
                      Package: b\nVersion: 4\nConffiles:\n /etc/b 0\n";
        assert_eq!(installed(status), ["a 1:2-3", "b 4"]);
    }
}
