//! Who is chosen when memory is exhausted.
use crate::common::FakeMachine;
use crate::fake_process::FakeProcess;
use crate::fixture::{config, Fixture};
use crate::memory::Memory;
use hotsetd::protect::settings::When;

/// A session: the processes that it stands on, and fifty small programs.
fn session() -> FakeMachine {
    let machine = FakeMachine::new();
    for process in [
        FakeProcess::new(1, "systemd").memory(50_000_000),
        FakeProcess::new(2, "kthreadd").kernel_thread(),
        FakeProcess::new(700, "gnome-shell").memory(600_000_000),
        FakeProcess::new(701, "sshd").memory(500_000_000),
        FakeProcess::new(702, "database")
            .memory(900_000_000)
            .adj(-1000),
    ] {
        process.write(&machine);
    }
    for pid in 1000..1050 {
        FakeProcess::new(pid, "small")
            .memory(30_000_000)
            .write(&machine);
    }
    machine
}

#[test]
fn only_the_hog_is_ever_chosen() {
    let machine = session();
    FakeProcess::new(5000, "hog")
        .memory(400_000_000)
        .swap(300_000_000)
        .write(&machine);
    let memory = Memory::exhausted(&machine);
    let mut fixture = Fixture::new(machine, memory, config());
    for _ in 0..400 {
        fixture.take(1);
        let victim = fixture.protection().last_victim;
        assert!(victim.is_none_or(|victim| victim.pid == 5000));
    }
    let victim = fixture.protection().last_victim.unwrap();
    assert!(victim.dry_run);
    assert_eq!((victim.processes, victim.bytes), (1, 699_998_208));
}

#[test]
fn the_metrics_count_the_kills_of_a_machine_of_files() {
    let machine = session();
    let memory = Memory::exhausted(&machine);
    let mut fixture = Fixture::new(machine, memory, config());
    fixture.take_until_kill();
    let metrics = String::from_utf8(fixture.daemon.metrics()).unwrap();
    for line in [
        "hotset_protect_kills_total 0\n",
        "hotset_protect_kills_dry_run_total 1\n",
        "hotset_protect_exhausted 1\n",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
}

#[test]
fn a_fork_storm_is_chosen_as_a_whole_and_nobody_else_with_it() {
    const PARENT: u32 = 6_000_000;
    let mut fixture = Fixture::new(session(), Memory::plenty(), config());
    // Three hundred processes that have just been started, by a parent that sleeps. Their pids are above
    // every real one: the test's own process is spared.
    FakeProcess::new(PARENT, "storm")
        .session(PARENT)
        .memory(200_000)
        .write(&fixture.machine);
    for pid in PARENT + 1..=PARENT + 300 {
        FakeProcess::new(pid, "storm")
            .parent(PARENT)
            .session(PARENT)
            .memory(5_000_000)
            .young()
            .write(&fixture.machine);
    }
    fixture.memory = Memory::exhausted(&fixture.machine);
    fixture.take_until_kill();
    assert_eq!(fixture.kills(), 1);
    let victim = fixture.protection().last_victim.unwrap();
    assert_eq!((victim.name.as_str(), victim.processes), ("storm", 301));
}

#[test]
fn a_process_that_is_dying_already_is_waited_for() {
    let machine = session();
    FakeProcess::new(5000, "hog")
        .memory(400_000_000)
        .dying()
        .write(&machine);
    let memory = Memory::exhausted(&machine);
    let mut fixture = Fixture::new(machine, memory, config());
    fixture.take(100);
    assert!(fixture.protection().exhausted);
    assert_eq!(fixture.kills(), 0);
}

#[test]
fn another_killer_is_in_the_status_and_once_in_the_log() {
    let machine = FakeMachine::new();
    FakeProcess::new(300, "earlyoom")
        .memory(2_000_000)
        .uid(61_234)
        .write(&machine);
    let mut fixture = Fixture::new(machine, Memory::plenty(), config());
    fixture.steps(5);
    assert_eq!(fixture.protection().other_killers, ["earlyoom"]);
    let lines = fixture.daemon.log().lines().iter();
    let named = lines.filter(|line| line.contains("earlyoom"));
    assert_eq!(named.count(), 1);
}

/// Two killers kill twice for one shortage.
#[test]
fn the_kill_is_left_to_another_killer_unless_it_is_asked_for() {
    for (when, name, uid, kills) in [
        (When::Auto, "earlyoom", 61_234, 0),
        (When::Always, "earlyoom", 61_234, 1),
        // A person's program is no killer, whatever its name.
        (When::Auto, "earlyoom", 1000, 1),
    ] {
        let machine = session();
        FakeProcess::new(300, name)
            .memory(2_000_000)
            .uid(uid)
            .write(&machine);
        let memory = Memory::exhausted(&machine);
        let mut config = config();
        config.protect.kill.when = when;
        let mut fixture = Fixture::new(machine, memory, config);
        fixture.take(100);
        assert!(fixture.protection().exhausted);
        assert_eq!(fixture.kills().min(1), kills, "{when:?} {name} {uid}");
    }
}

/// The victim's name where memory is exhausted beside fifty small programs and these processes.
fn victim_among(processes: &[FakeProcess]) -> String {
    let machine = session();
    for process in processes {
        process.write(&machine);
    }
    let memory = Memory::exhausted(&machine);
    let mut fixture = Fixture::new(machine, memory, config());
    fixture.take_until_kill();
    fixture.protection().last_victim.unwrap().name
}

#[test]
fn shared_memory_and_page_tables_count_and_so_does_a_user_of_thousands_of_groups() {
    let memfd = FakeProcess::new(5000, "memfd").shared(700_000_000);
    assert_eq!(victim_among(&[memfd]), "memfd");
    let tables = FakeProcess::new(5000, "tables").tables(700_000_000);
    assert_eq!(victim_among(&[tables]), "tables");
    for groups in [1_300, 65_536] {
        let many = FakeProcess::new(5000, "groups")
            .groups(groups)
            .memory(700_000_000);
        assert_eq!(victim_among(&[many]), "groups");
    }
}

#[test]
fn a_hog_is_not_spared_by_a_name_that_it_has_taken() {
    for name in ["sshd", "X", "hotsetd", "systemd"] {
        let hog = FakeProcess::new(5000, name).memory(900_000_000);
        assert_eq!(victim_among(&[hog]), name);
    }
    let slice = "/user.slice/user-1000.slice/user@1000.service/session.slice/x.scope";
    let hog = FakeProcess::new(5000, "hog")
        .cgroup(slice)
        .memory(900_000_000);
    assert_eq!(victim_among(&[hog]), "hog");
    let root = FakeProcess::new(5000, "sshd")
        .uid(0)
        .contained()
        .memory(900_000_000);
    assert_eq!(victim_among(&[root]), "sshd");
    // The real one is spared, and so is a session beside a larger program of its user.
    let real = FakeProcess::new(5000, "sshd").uid(0).memory(900_000_000);
    let browser = FakeProcess::new(5001, "browser").memory(700_000_000);
    assert_eq!(victim_among(&[real, browser]), "browser");
}

/// Whoever may make cgroups makes one whose path ends with a path of another unit.
#[test]
fn a_long_cgroup_of_a_user_takes_no_unit_along_that_dies_as_a_whole() {
    let machine = session();
    machine.put(
        "sys/fs/cgroup/system.slice/db.service/memory.oom.group",
        "1\n",
    );
    machine.put(
        "sys/fs/cgroup/system.slice/db.service/cgroup.procs",
        "7000\n",
    );
    FakeProcess::new(7000, "db")
        .uid(114)
        .memory(10_000_000)
        .write(&machine);
    let mut end = format!("/system.slice/db.service/{}/", "a".repeat(240));
    end.push_str(&"b".repeat(512 - end.len()));
    FakeProcess::new(5000, "hog")
        .cgroup(&format!("/user.slice/user-1000.slice{end}"))
        .memory(700_000_000)
        .write(&machine);
    let memory = Memory::exhausted(&machine);
    let mut fixture = Fixture::new(machine, memory, config());
    fixture.take_until_kill();
    let victim = fixture.protection().last_victim.unwrap();
    assert_eq!((victim.name.as_str(), victim.processes), ("hog", 1));
}

/// Twenty processes have had their SIGKILL for long: a file server is dead. That one hangs makes it no killer.
#[test]
fn processes_that_hang_in_the_kernel_are_passed_over() {
    let machine = session();
    for pid in 5000..5020 {
        let name = if pid == 5000 { "earlyoom" } else { "hangs" };
        FakeProcess::new(pid, name)
            .memory(800_000_000)
            .dying()
            .write(&machine);
    }
    FakeProcess::new(6000, "hog")
        .memory(700_000_000)
        .write(&machine);
    let memory = Memory::exhausted(&machine);
    let mut fixture = Fixture::new(machine, memory, config());
    fixture.take_until_kill();
    assert_eq!(fixture.protection().last_victim.unwrap().name, "hog");
    // A hung program with a killer's name is no killer, though it is spared.
    fixture.take(300);
    assert!(fixture.protection().other_killers.is_empty());
}

/// The kubelet gives processes of guaranteed pods an `oom_score_adj` of -997, and those of best-effort pods 1000.
#[test]
fn a_pods_quality_of_service_decides_by_its_oom_score_adj() {
    let pod = |pid, name, class: &str| {
        let cgroup = format!("/kubepods.slice/kubepods-{class}.slice/cri-containerd-1.scope");
        FakeProcess::new(pid, name)
            .uid(0)
            .contained()
            .cgroup(&cgroup)
    };
    let guaranteed = || pod(5000, "guaranteed", "pod1").memory(900_000_000);
    let best_effort = pod(5001, "best-effort", "besteffort").memory(200_000_000);
    let victim = victim_among(&[guaranteed().adj(-997), best_effort.adj(1000)]);
    assert_eq!(victim, "best-effort");
    // By size alone it would be the other.
    let best_effort = pod(5001, "best-effort", "besteffort").memory(200_000_000);
    assert_eq!(victim_among(&[guaranteed(), best_effort]), "guaranteed");
}

/// The kubelet sets `memory.oom.group` of each container's cgroup.
#[test]
fn the_processes_of_a_container_go_together_and_the_pods_others_stay() {
    let machine = session();
    let pod = "/kubepods.slice/kubepods-pod1.slice";
    for (container, pids) in [("a", [5000, 5001]), ("b", [5002, 5003])] {
        let cgroup = format!("{pod}/cri-containerd-{container}.scope");
        machine.put(&format!("sys/fs/cgroup{cgroup}/memory.oom.group"), "1\n");
        let list = pids.map(|pid| format!("{pid}\n")).concat();
        machine.put(&format!("sys/fs/cgroup{cgroup}/cgroup.procs"), &list);
        for pid in pids {
            FakeProcess::new(pid, container)
                .uid(0)
                .contained()
                .cgroup(&cgroup)
                .memory(if pid == 5000 { 900_000_000 } else { 40_000_000 })
                .write(&machine);
        }
    }
    machine.put(&format!("sys/fs/cgroup{pod}/memory.oom.group"), "0\n");
    let memory = Memory::exhausted(&machine);
    let mut fixture = Fixture::new(machine, memory, config());
    fixture.take_until_kill();
    let victim = fixture.protection().last_victim.unwrap();
    assert_eq!((victim.pid, victim.processes), (5000, 2));
}
