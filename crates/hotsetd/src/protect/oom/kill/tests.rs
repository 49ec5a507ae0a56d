//! The killer, and processes of the test's own.
use super::super::dying::{ASKED_S, LITTLE_TIME_S, PATIENCE_S, SETTLE_S};
use super::*;
use crate::protect::oom::rules::Rules;
use std::os::unix::process::ExitStatusExt;

fn killer() -> Killer {
    below("/".as_ref())
}

fn below(root: &std::path::Path) -> Killer {
    let processes = Processes::open(root, 4096, Rules::default()).unwrap();
    Killer::new(processes, false, Clock::System)
}

fn candidate(killer: &mut Killer, pid: u32) -> Candidate {
    killer.processes.sample(0.0, 0.0, 0).unwrap();
    let list = &killer.processes.list;
    *list.iter().find(|one| one.pid == pid as i32).unwrap()
}

fn strike(killer: &mut Killer, signal: Signal, one: &Candidate) -> Result<Option<OwnedFd>, Errno> {
    killer.signals.send(signal, one, &mut killer.processes)
}

fn pidfd_of(one: &Candidate) -> Option<OwnedFd> {
    let pid = Pid::from_raw(one.pid).unwrap();
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

impl Killer {
    fn is_waiting(&mut self, now_s: f64) -> bool {
        self.wait(now_s, f64::INFINITY) == Some(Killed::Waiting)
    }
}

/// A process that ends with its test, however that ends.
struct Child(std::process::Child);

impl std::ops::Deref for Child {
    type Target = std::process::Child;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl std::ops::DerefMut for Child {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn sleeper() -> Child {
    let child = std::process::Command::new("sleep").arg("1000").spawn();
    Child(child.unwrap())
}

#[test]
fn a_killed_child_is_waited_for_until_it_has_ended() {
    let mut child = sleeper();
    let mut killer = killer();
    let one = candidate(&mut killer, child.id());
    let pidfd = strike(&mut killer, Signal::KILL, &one).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
    killer.wait_for(Dying::new(&one, pidfd, false, 10.0));
    assert!(killer.is_waiting(10.0));
    assert!(!killer.is_waiting(10.0 + 2.0 * SETTLE_S));
}

/// Memory is short again some time after the victim's end: its memory is long there.
#[test]
fn an_end_that_was_noticed_is_not_waited_for_at_the_next_exhaustion() {
    let mut child = sleeper();
    let mut killer = killer();
    let one = candidate(&mut killer, child.id());
    let pidfd = strike(&mut killer, Signal::KILL, &one).unwrap();
    child.wait().unwrap();
    killer.wait_for(Dying::new(&one, pidfd, false, 10.0));
    killer.notice_end(10.1);
    assert!(!killer.is_waiting(10.1 + 2.0 * SETTLE_S));
}

/// Linux 4.18 to 5.2.
#[test]
fn a_kernel_without_pidfds_is_killed_on_all_the_same() {
    let mut child = sleeper();
    let mut killer = killer();
    assert!(killer.has_pidfds());
    killer.signals.has_pidfds = false;
    let one = candidate(&mut killer, child.id());
    let pidfd = strike(&mut killer, Signal::KILL, &one).unwrap();
    assert!(pidfd.is_none());
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
    killer.wait_for(Dying::new(&one, pidfd, false, 10.0));
    assert!(killer.is_waiting(10.0));
    // Its end is not seen: it gets half of the time.
    assert!(killer.is_waiting(10.0 + PATIENCE_S / 2.0));
    assert!(!killer.is_waiting(10.0 + PATIENCE_S / 2.0 + 2.0 * SETTLE_S));
}

#[test]
fn a_pid_that_another_process_has_by_now_is_not_killed() {
    let mut child = sleeper();
    let mut killer = killer();
    let mut one = candidate(&mut killer, child.id());
    one.start += 1;
    for has_pidfds in [true, false] {
        killer.signals.has_pidfds = has_pidfds;
        assert_eq!(
            strike(&mut killer, Signal::KILL, &one).err(),
            Some(Errno::SRCH)
        );
        assert!(child.try_wait().unwrap().is_none());
    }
}

#[test]
fn a_victim_that_does_not_end_is_not_chosen_again() {
    let child = sleeper();
    let mut killer = killer();
    let one = candidate(&mut killer, child.id());
    // No signal is sent: the child lives on, as if it hung in the kernel.
    killer.wait_for(Dying::new(&one, pidfd_of(&one), false, 0.0));
    assert!(killer.is_waiting(PATIENCE_S * 0.9));
    assert!(!killer.is_waiting(PATIENCE_S * 1.1));
    killer.processes.sample(3.0, 0.0, 0).unwrap();
    assert!(killer
        .processes
        .list
        .iter()
        .all(|other| other.pid != one.pid));
}

/// Writes a process of `mb` MB; one that is `dying` has its SIGKILL.
fn put(root: &std::path::Path, pid: i32, mb: u32, dying: bool) {
    let folder = root.join(format!("proc/{pid}"));
    std::fs::create_dir_all(&folder).unwrap();
    let pending = if dying { 1 << (libc::SIGKILL - 1) } else { 0 };
    for (file, text) in [
        (
            "status",
            format!("Name:\ta\nRssAnon:\t{mb}000 kB\nSigPnd:\t{pending:016x}\n"),
        ),
        (
            "stat",
            format!("{pid} (a) S 1 1 1 {}1 0\n", "0 ".repeat(15)),
        ),
        ("oom_score_adj", "0\n".to_owned()),
        ("cgroup", "0::/\n".to_owned()),
        ("statm", "1 1 0 0 0 0 0\n".to_owned()),
    ] {
        std::fs::write(folder.join(file), text).unwrap();
    }
}

/// The victim's memory is free and used up again, while the victim is kept from its CPU.
#[test]
fn a_victim_that_is_slow_to_end_holds_up_the_next_kill_for_a_moment_only() {
    let child = sleeper();
    let one = candidate(&mut killer(), child.id());
    let root = tempfile::tempdir().unwrap();
    put(root.path(), 10, 400, false);
    let mut killer = below(root.path());
    killer.wait_for(Dying::new(&one, pidfd_of(&one), false, 10.0));
    let mut kill = |now_s| killer.kill(now_s, 0.0, 1 << 20, 4096);
    assert_eq!(kill(10.0 + REST_S / 2.0), Killed::Waiting);
    let late = kill(10.0 + REST_S * 1.5);
    assert!(matches!(late, Killed::Done(victim) if victim.pid == 10));
}

/// /proc is read shortly before the end, and the dying still hold enough.
#[test]
fn the_next_kill_is_due_as_soon_as_a_slow_victim_has_ended() {
    let mut child = sleeper();
    let one = candidate(&mut killer(), child.id());
    let root = tempfile::tempdir().unwrap();
    put(root.path(), 10, 400, false);
    put(root.path(), 11, 300, true);
    let mut killer = below(root.path());
    killer.wait_for(Dying::new(&one, pidfd_of(&one), false, 10.0));
    let read_s = 10.0 + REST_S * 1.5;
    let before = killer.kill(read_s, 0.0, 1 << 20, 4096);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(before, Killed::Waiting);
    std::fs::remove_dir_all(root.path().join("proc/11")).unwrap();
    killer.notice_end(read_s);
    let next = killer.kill(read_s + SETTLE_S * 1.5, 0.0, 1 << 20, 4096);
    assert!(matches!(next, Killed::Done(victim) if victim.pid == 10));
}

#[test]
fn where_nobody_may_be_killed_processes_are_not_sampled_again_at_once() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("proc")).unwrap();
    let mut killer = below(root.path());
    assert_eq!(killer.kill(1.0, 0.0, 1 << 20, 4096), Killed::Nobody);
    assert_eq!(
        killer.kill(1.0 + REST_S / 2.0, 0.0, 1 << 20, 4096),
        Killed::Waiting
    );
    assert_eq!(
        killer.kill(1.0 + REST_S * 1.5, 0.0, 1 << 20, 4096),
        Killed::Nobody
    );
}

#[test]
fn only_processes_of_this_machine_are_killed() {
    assert!(!killer().dry_run);
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("proc")).unwrap();
    assert!(below(root.path()).dry_run);
}

#[test]
fn a_process_that_does_not_end_when_asked_is_killed_a_second_later() {
    // A signal that sh ignores stays ignored over exec. With exec no process is left behind.
    let child = std::process::Command::new("sh")
        .args(["-c", "trap '' TERM; echo ready; exec sleep 1000"])
        .stdout(std::process::Stdio::piped())
        .spawn();
    let mut child = Child(child.unwrap());
    let mut line = String::new();
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    let mut killer = killer();
    let one = candidate(&mut killer, child.id());
    let pidfd = strike(&mut killer, Signal::TERM, &one).unwrap();
    killer.wait_for(Dying::new(&one, pidfd, true, 10.0));
    assert!(killer.is_waiting(10.5));
    assert!(child.try_wait().unwrap().is_none());
    assert_eq!(
        killer.wait(10.0 + ASKED_S, f64::INFINITY),
        Some(Killed::Insisted(one.pid))
    );
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
    assert!(killer.is_waiting(12.0));
    assert!(!killer.is_waiting(12.0 + 2.0 * SETTLE_S));
}

#[test]
fn a_process_that_was_asked_to_end_is_killed_at_once_where_memory_ends() {
    let mut child = sleeper();
    let mut killer = killer();
    let one = candidate(&mut killer, child.id());
    killer.wait_for(Dying::new(&one, pidfd_of(&one), true, 10.0));
    assert_eq!(
        killer.wait(10.1, LITTLE_TIME_S / 2.0),
        Some(Killed::Insisted(one.pid))
    );
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
}
