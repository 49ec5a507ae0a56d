//! Processes of a folder that stands in for /proc.
use super::*;

const SMALL: u64 = 1000;

struct Fixture(tempfile::TempDir, Processes);

impl Fixture {
    /// Writes a process of `kib` KiB, in a folder of its own. `statm`: as at another time, if the same.
    fn put(&self, pid: i32, kib: u64, statm: &str, start: u64) {
        let folder = self.0.path().join(format!("proc/{pid}"));
        let other = self.0.path().join(format!("new-{pid}"));
        std::fs::create_dir(&other).unwrap();
        let fields = "0 ".repeat(15);
        for (file, text) in [
            ("status", format!("Name:\ta\nRssAnon:\t{kib} kB\n")),
            ("stat", format!("{pid} (a) S 1 1 1 {fields}{start} 0\n")),
            ("oom_score_adj", "0\n".to_owned()),
            ("cgroup", "0::/\n".to_owned()),
            ("statm", statm.to_owned()),
        ] {
            // Written into the folder that is there, or into a new one.
            std::fs::write(other.join(file), &text).unwrap();
            if folder.is_dir() {
                std::fs::write(folder.join(file), text).unwrap();
            }
        }
        if !folder.is_dir() {
            std::fs::rename(other, folder).unwrap();
        } else {
            std::fs::remove_dir_all(other).unwrap();
        }
    }

    /// Writes one file of a process.
    fn write(&self, place: &str, text: &str) {
        let path = self.0.path().join("proc").join(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// KiB of each process that is listed as dying.
    fn dying(&mut self, now_s: f64) -> Vec<u64> {
        self.1.sample(now_s, 1e9, SMALL).unwrap();
        let dying = self.1.list.iter().filter(|one| one.dying);
        dying.map(|one| one.memory * 4).collect()
    }

    /// KiB of each process at this time.
    fn sizes(&mut self, now_s: f64, small: u64) -> Vec<u64> {
        self.1.sample(now_s, 1e9, small).unwrap();
        self.1.list.iter().map(|one| one.memory * 4).collect()
    }
}

fn fixture() -> Fixture {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("proc")).unwrap();
    let processes = Processes::open(root.path(), 4096, Rules::default()).unwrap();
    Fixture(root, processes)
}

#[test]
fn only_a_process_that_is_small_and_still_is_not_read_anew() {
    let mut fixture = fixture();
    fixture.put(10, 400, "1 1 0 0 0 0 0\n", 1);
    fixture.put(11, 40_000, "1 1 0 0 0 0 0\n", 1);
    assert_eq!(fixture.sizes(0.0, SMALL), [400, 40_000]);
    fixture.put(10, 800, "1 1 0 0 0 0 0\n", 1);
    fixture.put(11, 44_000, "1 1 0 0 0 0 0\n", 1);
    assert_eq!(fixture.sizes(1.0, SMALL), [400, 44_000]);
    assert_eq!(fixture.sizes(9.0, SMALL), [400, 44_000]);
    // What has changed is read, and then for as long as it grows.
    fixture.put(10, 1200, "1 2 0 0 0 0 0\n", 1);
    assert_eq!(fixture.sizes(10.0, SMALL), [1200, 44_000]);
    assert_eq!(fixture.1.list[0].growth, 200);
    fixture.put(10, 1600, "1 2 0 0 0 0 0\n", 1);
    assert_eq!(fixture.sizes(11.0, SMALL), [1600, 44_000]);
    // Whoever is killed shows only where all are read.
    fixture.put(10, 2000, "1 2 0 0 0 0 0\n", 1);
    assert_eq!(fixture.sizes(12.0, 0), [2000, 44_000]);
}

#[test]
fn a_pid_that_another_process_has_by_now_is_read_anew() {
    let mut fixture = fixture();
    fixture.put(10, 400, "1 1 0 0 0 0 0\n", 1);
    assert_eq!(fixture.sizes(0.0, SMALL), [400]);
    let folder = fixture.0.path().join("proc/10");
    std::fs::rename(&folder, fixture.0.path().join("gone")).unwrap();
    fixture.put(10, 800, "1 1 0 0 0 0 0\n", 2);
    assert_eq!(fixture.sizes(9.0, SMALL), [800]);
    assert_eq!(fixture.1.list[0].start, 2);
}

#[test]
fn a_kernel_thread_is_read_once() {
    let mut fixture = fixture();
    fixture.put(10, 400, "0 0 0 0 0 0 0\n", 1);
    fixture.write("10/status", "Name:\ta\nThreads:\t1\n");
    assert!(fixture.sizes(0.0, SMALL).is_empty());
    fixture.put(10, 400, "1 1 0 0 0 0 0\n", 1);
    assert!(fixture.sizes(1.0, SMALL).is_empty());
}

/// The first thread may end alone: the process's own files tell of no memory then.
#[test]
fn a_process_whose_first_thread_has_ended_is_seen() {
    let mut fixture = fixture();
    fixture.put(10, 400, "0 0 0 0 0 0 0\n", 1);
    let ended = "Name:\ta\nState:\tZ (zombie)\nThreads:\t3\n";
    fixture.write("10/status", ended);
    fixture.write("10/task/10/status", ended);
    fixture.write(
        "10/task/11/status",
        "Name:\tb\nThreads:\t3\nRssAnon:\t40000 kB\n",
    );
    for at_s in [0.0, 1.0, 9.0] {
        assert_eq!(fixture.sizes(at_s, SMALL), [40_000], "{at_s}");
    }
}

/// Free pages may have been counted before the process's memory was there: whoever is killed for them dies for nothing.
#[test]
fn a_process_that_gives_its_memory_back_is_dying() {
    let mut fixture = fixture();
    fixture.put(10, 40_000, "1 1 0 0 0 0 0\n", 1);
    assert!(fixture.dying(0.0).is_empty());
    // PF_EXITING, and no memory any more.
    fixture.write("10/status", "Name:\ta\nState:\tR (running)\nThreads:\t1\n");
    let stat = |state: &str| {
        let fields = "0 ".repeat(10);
        format!("10 (a) {state} 1 1 1 0 0 4 {fields}1 0 1 0\n")
    };
    fixture.write("10/stat", &stat("R"));
    for at_s in [0.1, 0.7, 1.5] {
        assert_eq!(fixture.dying(at_s), [40_000], "{at_s}");
        // The kernel drops inodes of /proc when memory is short, and the folder has another number.
        let folder = fixture.0.path().join("proc/10");
        let other = fixture.0.path().join("proc/new");
        std::fs::create_dir(&other).unwrap();
        for file in std::fs::read_dir(&folder).unwrap() {
            let file = file.unwrap();
            std::fs::rename(file.path(), other.join(file.file_name())).unwrap();
        }
        std::fs::rename(other, folder).unwrap();
    }
    fixture.write("10/stat", &stat("Z"));
    assert!(fixture.dying(1.6).is_empty());
}

#[test]
fn a_process_that_has_ended_since_the_last_sample_is_listed_once_more() {
    let mut fixture = fixture();
    fixture.put(10, 40_000, "1 1 0 0 0 0 0\n", 1);
    fixture.put(11, 40_000, "1 1 0 0 0 0 0\n", 1);
    assert!(fixture.dying(0.0).is_empty());
    // hotsetd waits for its own victims by other means.
    let victim = fixture.1.list[1];
    fixture.1.remember_killed(&victim, 0.1);
    for pid in ["10", "11"] {
        std::fs::remove_dir_all(fixture.0.path().join("proc").join(pid)).unwrap();
    }
    assert_eq!(fixture.dying(0.2), [40_000, 0]);
    assert_eq!(fixture.dying(0.3), [0]);
    // As long as it would have been young.
    assert!(fixture.dying(9.0).is_empty());
}

#[test]
fn shared_memory_in_swap_counts() {
    let mut fixture = fixture();
    fixture.put(10, 30_000, "1 1 0 0 0 0 0\n", 1);
    fixture.put(11, 1000, "1 1 0 0 0 0 0\n", 1);
    let swapped =
        "Name:\ta\nVmHWM:\t41000 kB\nVmRSS:\t31000 kB\nRssAnon:\t30000 kB\nVmSwap:\t2000 kB\n";
    let hog =
        "Name:\ta\nVmHWM:\t90000 kB\nVmRSS:\t11000 kB\nRssAnon:\t1000 kB\nRssShmem:\t10000 kB\n";
    fixture.write("10/status", swapped);
    fixture.write("11/status", hog);
    assert_eq!(fixture.sizes(0.0, 0), [32_000, 11_000]);
    let meminfo = |free: u64| {
        format!(
            "MemTotal: 256000 kB\nMemFree: 9000 kB\nSwapCached: 1000 kB\nSwapTotal: 65000 kB\n\
             SwapFree: {free} kB\nSUnreclaim: 1000 kB\n"
        )
    };
    fixture.write("meminfo", &meminfo(62_000));
    assert_eq!(fixture.sizes(1.0, 0), [32_000, 11_000]);
    fixture.write("meminfo", &meminfo(0));
    assert_eq!(fixture.sizes(2.0, 0), [32_000, 73_000]);
}

#[test]
fn who_was_killed_counts_until_no_other_kill_follows() {
    let mut fixture = fixture();
    fixture.put(10, 40_000, "1 1 0 0 0 0 0\n", 1);
    fixture.dying(0.0);
    let victim = fixture.1.list[0];
    // Eight kills in 11 s, which are never eight in 2 s.
    for number in 0..8u8 {
        let pid = 100 + i32::from(number);
        let at_s = 1.0 + 1.5 * f64::from(number);
        fixture
            .1
            .remember_killed(&Candidate { pid, ..victim }, at_s);
    }
    let mut fallen = |at_s| {
        fixture.1.sample(at_s, 1e9, SMALL).unwrap();
        fixture.1.list.iter().filter(|one| one.fallen).count()
    };
    assert_eq!(fallen(12.0), 8);
    assert_eq!(fallen(13.4), 8);
    assert_eq!(fallen(13.6), 0);
    // Only the last of those that are far apart.
    for (pid, at_s) in [(200, 20.0), (201, 23.0), (202, 24.5)] {
        fixture
            .1
            .remember_killed(&Candidate { pid, ..victim }, at_s);
    }
    let mut fallen = |at_s| {
        fixture.1.sample(at_s, 1e9, SMALL).unwrap();
        fixture.1.list.iter().filter(|one| one.fallen).count()
    };
    assert_eq!(fallen(24.6), 2);
}
