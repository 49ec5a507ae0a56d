//! Programs of Debian's packages in guests. The root is that of the user's cache, or is fetched into it.
mod two_cpus;

use crate::bench::{shown, Bench};
use crate::kernels::{kernel, kernel_x86};
use kbuild::cache::Cache;
use protocol::record::{Outcome, Trial};
use std::process::{Command, Output};

const PROGRAM: &str = include_str!("../../data/program.toml");
const COUNT: &str = "workers.count.does.program";
const SERVICE: &str = "workers.service.does.program";

/// `hotset lab run` with changes of the experiment, on the user's cache.
fn run(bench: &Bench, set: &[&str]) -> Command {
    let args: Vec<&str> = set.iter().flat_map(|set| ["--set", *set]).collect();
    let mut command = bench.run(&[], &args);
    let cache = Cache::of_user().unwrap();
    command.env("XDG_CACHE_HOME", cache.root().parent().unwrap());
    command
}

fn only(bench: &Bench) -> Trial {
    let mut trials = bench.trials();
    assert_eq!(trials.len(), 1);
    trials.remove(0)
}

fn printed(trial: &Trial) -> Vec<&str> {
    let events = { trial.events.iter() }.filter(|event| event.name == "program-output");
    events.map(|event| event.detail.as_str()).collect()
}

/// The message of a trial that failed, and the line of the experiment that has `text`.
fn failure(set: &[&str], text: &str) -> (String, String) {
    let bench = Bench::with(kernel(), PROGRAM);
    let output = run(&bench, set).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    let place = match set.iter().any(|set| set.contains(text)) {
        true => "--set:1: ".to_string(),
        false => {
            let line = PROGRAM
                .lines()
                .position(|line| line.contains(text))
                .unwrap();
            format!("{}:{}: ", bench.path("good.toml").display(), line + 1)
        }
    };
    match only(&bench).outcome {
        Outcome::Failed { message } => (message, place),
        other => panic!("{other:?}: {}", shown(&output)),
    }
}

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn a_program_is_measured_beside_a_service() {
    is_measured(&Bench::with(kernel(), PROGRAM));
}

#[test]
#[ignore = "guest: boots Linux 6.12 in QEMU; build it with `hotset kernel build 6.12 --arch x86_64`"]
fn a_program_is_measured_beside_a_service_in_qemu() {
    let bench = Bench::new("qemu", kernel_x86());
    std::fs::write(bench.path("good.toml"), PROGRAM).unwrap();
    is_measured(&bench);
}

fn is_measured(bench: &Bench) {
    let output = run(bench, &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let trial = only(bench);
    let scene = &trial.scenes[0];
    let of = |name: &str| scene.observations.get(name).cloned().unwrap_or_default();
    let speed: Vec<f64> = of("count.speed").iter().map(|(_, value)| *value).collect();
    assert_eq!(speed, [42.0]);
    assert_eq!(of("count.done_ms").len(), 1, "{scene:?}");
    let lines = printed(&trial);
    // The service was ready before the job began.
    assert_eq!(
        lines,
        ["service: nobody", "count: root", "count: speed: 42"]
    );
    let run: serde_json::Value =
        serde_json::from_slice(&std::fs::read(bench.path("out/run.json")).unwrap()).unwrap();
    let packages = run["packages"].as_array().unwrap();
    let gawk = |name: &serde_json::Value| name.as_str().unwrap().starts_with("gawk 1:5.");
    assert!(packages.iter().any(gawk), "{packages:?}");
}

#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn what_a_program_does_wrong_names_the_line_of_the_experiment() {
    let ends = format!("{COUNT}.command=[\"sh\", \"-c\", \"echo oh; exit 3\"]");
    let (message, place) = failure(&[&ends], "exit 3");
    assert_eq!(
        message,
        format!("{place}{COUNT}.command: sh ended badly (exit 3); its last lines:\noh")
    );

    let (message, place) = failure(
        &[&format!("{COUNT}.measure.speed=\"Speed ([0-9]+)\"")],
        "Speed",
    );
    let wanted = format!("{place}{COUNT}.measure.speed: no line of sh matched Speed ([0-9]+)");
    assert!(message.starts_with(&wanted), "{message}");
    assert!(message.ends_with("\nspeed: 42"), "{message}");

    let set = format!("{SERVICE}.ready_s=1");
    let late = format!("{SERVICE}.command=[\"sleep\", \"30\"]");
    let (message, place) = failure(&[&set, &late], "user = \"nobody\"");
    let wanted = format!("{place}{SERVICE}.ready: no line of sleep matched within 1 s");
    assert_eq!(message, format!("{wanted}; it printed nothing"));

    let short = format!("{SERVICE}.command=[\"sh\", \"-c\", \"id -un; sleep 0.2\"]");
    let (message, _) = failure(
        &[&short, &format!("{COUNT}.command=[\"sleep\", \"9\"]")],
        "id -un; sleep",
    );
    assert!(
        message.contains("sh is a service, and ended by itself (exit 0)"),
        "{message}"
    );

    let (message, _) = failure(&[&format!("{COUNT}.user=\"nobdy\"")], "cwd = ");
    assert!(
        message.contains("the root has no user \"nobdy\""),
        "{message}"
    );
}

/// A root that cannot be made is wrong configuration: no kernel boots.
#[test]
#[ignore = "guest: makes a root of Debian's packages, as the other tests here"]
fn a_root_that_lacks_something_names_the_line_of_the_experiment() {
    let bench = Bench::with(kernel(), PROGRAM);
    let wrong = |set: &str| -> Output {
        let output = run(&bench, &[set]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
        assert!(!bench.path("out").exists());
        output
    };
    let output = wrong(&format!("{COUNT}.command=[\"gawkk\"]"));
    let wanted =
        format!("--set:1: {COUNT}.command: the root has no program \"gawkk\": add its package");
    assert!(shown(&output).contains(&wanted), "{}", shown(&output));
    assert!(
        shown(&output).contains("did you mean gawk?"),
        "{}",
        shown(&output)
    );

    let output = wrong("root.prepare=[\"true\", \"echo no; exit 4\"]");
    let wanted = "--set:1: root.prepare[1]: the command ended with exit status 4:\nno";
    assert!(shown(&output).contains(wanted), "{}", shown(&output));
}

/// An arm's daemon may be a program of the root.
#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn a_daemon_of_the_root_runs_in_it() {
    let with = |daemon: &str| {
        let arm = "kernel = \"vanilla\"";
        let text = PROGRAM.replace(arm, &format!("{arm}\ndaemon = {{ {daemon} }}"));
        let bench = Bench::with(kernel(), &text);
        let output = run(&bench, &[]).output().unwrap();
        (bench, output)
    };
    let script = "cat /srv/number; id -un; exec sleep 1000";
    let daemon = format!("program = \"sh\", arguments = [\"-c\", \"{script}\"], in_root = true");
    let (bench, output) = with(&daemon);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let trial = only(&bench);
    let log: Vec<&str> = { trial.events.iter() }
        .filter(|event| event.name == "daemon-log")
        .map(|event| event.detail.as_str())
        .collect();
    assert_eq!(log, ["41", "root"]);

    let (_, output) = with("program = \"gawkk\", in_root = true");
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    let wanted = "the root has no program \"gawkk\"";
    assert!(shown(&output).contains(wanted), "{}", shown(&output));
}

/// Children that a program leaves end with the scene, and what is written ends with the guest.
#[test]
#[ignore = "guest: boots User-Mode Linux 7.3; build it with `hotset kernel build 7.3 --vanilla`"]
fn nothing_of_a_program_is_left_for_the_next_scene_or_trial() {
    // A child is called sleep once it has executed it.
    let script =
        "n() { cat /proc/[0-9]*/comm 2>/dev/null | grep -c sleep; }; ls /srv; cd /srv; n; \
                  for i in 1 2 3; do (setsid sleep 1000 &) ; done; \
                  until [ $(n) -ge 3 ]; do :; done; echo $(n) speed: 1; touch left";
    let command = format!("{COUNT}.command=[\"sh\", \"-c\", '{script}']");
    let measure = format!("{COUNT}.measure={{ speed = \"^([0-9]+) speed\" }}");
    let scenes = "scenes=[{ name = \"one\", run = [\"count\"], until = \"done\", seconds = 9 }, \
                  { name = \"two\", run = [], seconds = 0.1 }, \
                  { name = \"three\", run = [\"count\"], until = \"done\", seconds = 9 }]";
    let bench = Bench::with(kernel(), PROGRAM);
    let set = [
        command.as_str(),
        &measure,
        scenes,
        "promises=[]",
        "repetitions=2",
    ];
    let output = run(&bench, &set).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let trials = bench.trials();
    assert_eq!(trials.len(), 2);
    for trial in &trials {
        let lines = printed(trial);
        let first = ["number", "0", "3 speed: 1"];
        let wanted = first.iter().chain(&["left"]).chain(&first);
        let wanted: Vec<String> = wanted.map(|line| format!("count: {line}")).collect();
        assert_eq!(lines, wanted);
    }
}

#[test]
#[ignore = "guest: makes a root of Debian's packages, as the other tests here"]
fn a_worker_that_crashes_fails_its_trial() {
    let runs = "run = [\"count\", \"service\"]";
    let touch = "\n[workers.hold]\ndoes.touch = { size = \"1MiB\", period_ms = 100 }\n";
    let text = PROGRAM.replace(runs, "run = [\"count\", \"hold\"]") + touch;
    let kill = "sleep 1; for p in /proc/[0-9]*; do \
        grep -qaz '^hold$' $p/cmdline && kill -s ILL ${p#/proc/}; done; sleep 9";
    let bench = Bench::with(kernel(), &text);
    let command = format!("{COUNT}.command=[\"sh\", \"-c\", \"{kill}\"]");
    let output = run(&bench, &[&command]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    match only(&bench).outcome {
        Outcome::Failed { message } => {
            assert!(
                message.contains("worker hold crashed: signal 4"),
                "{message}"
            );
        }
        other => panic!("{other:?}: {}", shown(&output)),
    }
}
