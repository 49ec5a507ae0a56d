//! Any bytes as the files of two processes in /proc, and as the lines of reads: no reader panics, and whoever is
//! chosen may be.
//!
//! The input is the files, with `--` on a line between them: status, stat, oom_score_adj, cgroup, maps, trace_pipe,
//! and the status of a thread.
#![no_main]
use hotsetd::protect::mlock::{mapped::mapped, read_events::ReadEvents};
use hotsetd::protect::oom::processes::Processes;
use hotsetd::protect::oom::rules::{Rule, Rules};
use libfuzzer_sys::fuzz_target;
use policy::victim::{choose, Choice};
use std::path::PathBuf;
use std::sync::OnceLock;

const EVENT: &str = "events/filemap/mm_filemap_get_pages";

fn root() -> &'static PathBuf {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let root = PathBuf::from(format!("/dev/shm/hotset-fuzz-{}", std::process::id()));
        let tracing = root.join("sys/kernel/tracing");
        for folder in ["proc/5000/task/5002", "proc/5001"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        for folder in [EVENT.to_owned(), format!("instances/hotset/{EVENT}")] {
            std::fs::create_dir_all(tracing.join(folder)).unwrap();
        }
        root
    })
}

fuzz_target!(|data: &[u8]| {
    let root = root();
    let text = data.to_vec();
    let mut parts: Vec<&[u8]> = Vec::new();
    let mut begin = 0;
    while let Some(at) = text[begin..].windows(4).position(|at| at == b"\n--\n") {
        parts.push(&text[begin..=begin + at]);
        begin += at + 4;
    }
    parts.push(&text[begin..]);
    let part = |at: usize| parts.get(at).copied().unwrap_or_default();
    let other = [
        "Name:\tother\nPPid:\t1\nUid:\t1000\t0\nRssAnon:\t40000 kB\nVmSwap:\t0 kB\n",
        "5001 (other) S 1 5001 900 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1000 0 0\n",
        "0\n",
        "0::/user.slice\n",
        "1-2 r-xp 0 08:01 7 /lib.so\n",
    ];
    for (at, name) in ["status", "stat", "oom_score_adj", "cgroup", "maps"]
        .into_iter()
        .enumerate()
    {
        std::fs::write(root.join("proc/5000").join(name), part(at)).unwrap();
        std::fs::write(root.join("proc/5001").join(name), other[at]).unwrap();
    }
    std::fs::write(root.join("proc/5000/task/5002/status"), part(6)).unwrap();
    let rules = Rules {
        protect: ["sshd", "unit:x.service", "cgroup:/machine"]
            .map(|one| Rule::parse(one).unwrap())
            .into(),
        prefer: vec![Rule::parse("stress*").unwrap()],
    };
    let mut processes = Processes::open(root, 4096, rules).unwrap();
    for step in 0..3 {
        processes
            .sample(f64::from(step), 1000.0 + f64::from(step), 0)
            .unwrap();
    }
    let mut list = processes.list.to_vec();
    assert!(list.iter().any(|one| one.pid == 5001));
    match choose(&mut list, 1 << 20, 4096) {
        Choice::Nobody => panic!("the other process may be killed"),
        Choice::Wait(one) => assert_eq!(one.pid, 5000),
        Choice::One(one) => assert!(!one.is_spared()),
        Choice::Storm(_) => panic!("two processes are no storm"),
    }
    let _ = processes.is_still(&list[0]);
    let _ = (processes.cgroup(5000), processes.oom_group(5000));
    let found = mapped(root);
    assert!(found.iter().any(|one| one.path.ends_with("lib.so")));
    let pipe = root.join("sys/kernel/tracing/instances/hotset/trace_pipe");
    std::fs::write(pipe, part(5)).unwrap();
    let mut events = 0;
    ReadEvents::open(root).unwrap().drain(|_| events += 1);
    assert!(events <= part(5).len());
});
