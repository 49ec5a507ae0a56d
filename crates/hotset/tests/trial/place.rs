//! A machine of files, and trials on it.
use crate::signals;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

pub const KNOB: &str = "proc/sys/vm/watermark_scale_factor";

/// A folder with a machine of files in `root`.
pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kernfs/6.18");
        copy(&from, &place.path("root"));
        fs::create_dir(place.path("root/run")).unwrap();
        place.put(KNOB, "10\n");
        place
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub fn put(&self, path: &str, text: &str) {
        fs::write(self.path("root").join(path), text).unwrap();
    }

    pub fn knob(&self) -> String {
        let text = fs::read_to_string(self.path("root").join(KNOB)).unwrap();
        text.trim().to_string()
    }

    /// A trial that begins each run at once.
    pub fn trial(&self, words: &[&str]) -> Command {
        let mut hotset = Command::new(env!("CARGO_BIN_EXE_hotset"));
        hotset
            .current_dir(self.0.path())
            .args(["trial", "--root", "root", "--output", "out"]);
        if !words.contains(&"--lead") {
            hotset.args(["--lead", "0"]);
        }
        signals::by_default(hotset.args(words));
        hotset
    }

    pub fn run(&self, words: &[&str]) -> Output {
        self.trial(words).output().unwrap()
    }

    /// Starts a trial whose command and its helper run until they are ended, and waits until they run.
    pub fn endless(&self, more: &[&str]) -> Child {
        let shell = "sh -c 'echo $$ >pid-1; exec sleep 1000' & sleep 1000 & echo $! >pid-2; \
                     echo $$ >new; mv new pid-3; wait";
        let mut words = vec!["--b", "watermark:300", "--a", "watermark:200"];
        words.extend(more);
        words.extend(["--", "sh", "-c", shell]);
        let child = self.trial(&words).stderr(Stdio::piped()).spawn().unwrap();
        // The processes write these files in any order.
        let begun =
            |file: &str| fs::read_to_string(self.path(file)).is_ok_and(|it| it.ends_with('\n'));
        until("the command starts", || {
            ["pid-1", "pid-2", "pid-3"].into_iter().all(begun)
        });
        child
    }

    /// Waits until the processes of [`Place::endless`] are gone.
    pub fn gone(&self) {
        for file in ["pid-1", "pid-2", "pid-3"] {
            let pid = fs::read_to_string(self.path(file)).unwrap();
            let stat = format!("/proc/{}/stat", pid.trim());
            until(&format!("{file} ends"), || {
                let stat = fs::read_to_string(&stat).unwrap_or_default();
                stat.rsplit_once(") ")
                    .is_none_or(|(_, rest)| rest.starts_with('Z'))
            });
            fs::remove_file(self.path(file)).unwrap();
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => fs::write(target, fs::read(entry.path()).unwrap()).unwrap(),
        }
    }
}

pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !so() {
        assert!(since.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn signal(pid: u32, number: i32) {
    // SAFETY: kill only sends; the process is a child of this test, or a child's.
    unsafe { libc::kill(pid as i32, number) };
}

/// The keeper that a trial has started.
pub fn keeper(trial: &Child) -> u32 {
    let all = fs::read_dir("/proc").unwrap();
    let found = all.filter_map(|entry| {
        let entry = entry.ok()?;
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let parent: u32 = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
        (parent == trial.id()).then_some(pid)
    });
    let found: Vec<u32> = found.collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0]
}
