//! A place to run `hotset lab run` in, and the processes and files that a run leaves there.
use crate::kernels::{alone, beside_others, programs};
use protocol::record::Trial;
use std::any::Any;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// An experiment that any kernel can run.
const GOOD: &str = include_str!("../data/good.toml");

/// A folder with an experiment, a cache and room for results.
pub struct Bench {
    pub dir: TempDir,
    kernel: PathBuf,
    bed: &'static str,
    /// The right to run guests, until the end of the test.
    _turn: Box<dyn Any>,
}

impl Bench {
    /// A bench for guests on `bed` with a kernel of the bed's architecture.
    pub fn new(bed: &'static str, kernel: PathBuf) -> Bench {
        Bench::during(bed, kernel, Box::new(beside_others()))
    }

    /// A bench as of [`Bench::new`], while no other test runs guests.
    pub fn alone(bed: &'static str, kernel: PathBuf) -> Bench {
        Bench::during(bed, kernel, Box::new(alone()))
    }

    fn during(bed: &'static str, kernel: PathBuf, _turn: Box<dyn Any>) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("good.toml"), GOOD).unwrap();
        Bench {
            dir,
            kernel,
            bed,
            _turn,
        }
    }

    /// A bench for guests on User-Mode Linux, with another experiment.
    pub fn with(kernel: PathBuf, experiment: &str) -> Bench {
        let bench = Bench::new("uml", kernel);
        std::fs::write(bench.path("good.toml"), experiment).unwrap();
        bench
    }

    /// Runs the experiment, which must go well.
    pub fn runs(&self) {
        let output = self.run(&[], &[]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `hotset lab run` on the experiment, after `prefix` if there is one.
    pub fn run(&self, prefix: &[&str], args: &[&str]) -> Command {
        let hotset = programs().join("hotset");
        let mut command = match prefix.split_first() {
            Some((program, rest)) => {
                let mut command = Command::new(program);
                command.args(rest).arg(hotset);
                command
            }
            None => Command::new(hotset),
        };
        command
            .args(["lab", "run"])
            .arg(self.path("good.toml"))
            .args(["--bed", self.bed, "--jobs", "1", "--output"])
            .arg(self.path("out"))
            .args(args)
            // Without a probe of KVM, which takes a while. A test of the bed probes KVM.
            .env("HOTSET_QEMU_ACCEL", "tcg")
            .env("HOTSET_KERNEL_VANILLA", &self.kernel)
            .env("HOTSET_GUEST", programs().join("hotset-guest"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("TMPDIR", self.dir.path())
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn trials(&self) -> Vec<Trial> {
        trials(&self.path("out"))
    }

    /// Runs a command of the bench in a mount namespace where `full` is a tmpfs of `size`; afterwards
    /// its contents are in `full-copy`.
    pub fn on_small_disk(&self, full: &str, size: &str, args: &[&str]) -> Output {
        let root = rustix::process::geteuid().is_root();
        let guests = self.path(if full == "tmp" { full } else { "." });
        let (full, copy) = (self.path(full), self.path("full-copy"));
        std::fs::create_dir_all(&full).unwrap();
        let script = format!(
            "mount -t tmpfs -o size={size} none '{0}' || exit 99; \"$@\"; code=$?; cp -r '{0}' '{1}'; \
             exit $code",
            full.display(),
            copy.display()
        );
        let unshare = if root { "-m" } else { "-rm" };
        let output = self
            .run(&["unshare", unshare, "sh", "-c", &script, "sh"], args)
            // Most tests have no folder for guests on the small disk.
            .env("TMPDIR", guests)
            .output()
            .unwrap();
        assert_ne!(
            output.status.code(),
            Some(99),
            "this test needs to mount a tmpfs in a namespace of its own (root, or user namespaces): {}",
            shown(&output)
        );
        output
    }
}

pub fn trials(out: &Path) -> Vec<Trial> {
    let mut trials = Vec::new();
    for entry in std::fs::read_dir(out.join("trials")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(path.extension().unwrap(), "json", "{}", path.display());
        let text = std::fs::read_to_string(&path).unwrap();
        let trial = serde_json::from_str(&text);
        trials.push(trial.unwrap_or_else(|error| panic!("{}: {error}", path.display())));
    }
    trials
}

pub fn shown(output: &Output) -> String {
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    format!("{}\n{out}\n{err}", output.status)
}

/// Processes whose command line or folder names this bench: every guest's does.
pub fn left(bench: &Bench) -> Vec<String> {
    let here = bench.dir.path();
    let mut left = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let cwd = std::fs::read_link(entry.path().join("cwd"));
        if cwd.is_ok_and(|cwd| cwd.starts_with(here)) {
            let name = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            left.push(format!("{:?} {}", entry.file_name(), name.trim()));
        }
    }
    left
}

/// Waits until `done`, a minute at most.
pub fn until(event: &str, mut done: impl FnMut() -> bool) {
    let limit = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < limit, "waited a minute for: {event}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

pub fn guests_run(bench: &Bench) -> bool {
    // Only the guests of trials have console logs, unlike the guest that fills the disk.
    let logs = std::fs::read_dir(bench.path("out/console"));
    let log = logs.ok().and_then(|mut logs| logs.next()).is_some();
    // As /proc/PID/comm has it, cut to 15 letters.
    let name = match bench.bed {
        "uml" => "uml-userspace",
        _ => "qemu-system-x86",
    };
    log && left(bench).iter().any(|process| process.contains(name))
}

pub fn end(child: Child) -> Output {
    child.wait_with_output().unwrap()
}
