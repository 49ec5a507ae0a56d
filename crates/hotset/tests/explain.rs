//! `hotset explain` as a program, on records that are written as hotsetd writes them.
use flight::{slot, Header, Layout, Process, Record};
use serde_json::{json, Value};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const GIB: u64 = 1 << 20;

fn explain(arguments: &[&str], file: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    let command = command.arg("explain").args(arguments).arg(file);
    command.env("COLUMNS", "80").output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn sealed(text: &str, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    let begin = text.strip_suffix('}').unwrap();
    bytes[..begin.len()].copy_from_slice(begin.as_bytes());
    slot::seal(&mut bytes, begin.len());
    bytes
}

/// A record of second `at`, with a leak of 200 MiB a second from the 60th on, and a stall from the 90th.
fn record(at: u64) -> Record {
    let leak = at.saturating_sub(60).min(36) * 200 * 1024;
    let waited = at.saturating_sub(90) * 900_000;
    let left = 7 * GIB - leak.min(7 * GIB - 1024);
    let pressure = json!({"some": {"total": waited}, "full": {"total": waited}});
    let mut record: Record = serde_json::from_value(json!({
        "t": at as f64, "unix_s": 1.8e9 + at as f64, "number": at, "boot": "0a1b2c3d", "whole": true,
        "vmstat": {"pgmajfault": at},
        "meminfo": {"MemTotal": 8 * GIB, "MemFree": left, "MemAvailable": left, "AnonPages": leak},
        "psi": {"memory": pressure},
        "did": if at == 99 { json!([{"unix_s": 1.8e9 + 98.5, "did": "killed leaky (700)", "why": "swap is full"}]) } else { json!([]) }
    }))
    .unwrap();
    if leak > 0 && at < 99 {
        record.processes.push(Process {
            pid: 700,
            name: "leaky".into(),
            kib: leak,
            start_s: 60.0,
            unit: "/user.slice/leaky.scope".into(),
            ..Process::default()
        });
    }
    record
}

/// A record of 120 seconds in a folder; `change` may damage it.
fn written(folder: &Path, change: impl Fn(&Layout, &mut Vec<u8>)) -> PathBuf {
    written_of(folder, record, change)
}

fn written_of(
    folder: &Path,
    record: impl Fn(u64) -> Record,
    change: impl Fn(&Layout, &mut Vec<u8>),
) -> PathBuf {
    let layout = Layout::of(2 << 20, 1);
    let header = Header {
        schema: Header::SCHEMA.into(),
        layout,
        machine: serde_json::from_value(json!({"release": "6.12", "page_size": 4096, "cpus": 2}))
            .unwrap(),
    };
    let size = layout.slot as usize;
    let mut file = vec![0; layout.bytes() as usize];
    let mut put = |place: u64, text: &str| {
        let at = place as usize * size;
        file[at..at + size].copy_from_slice(&sealed(text, size));
    };
    put(0, &serde_json::to_string(&header).unwrap());
    for at in 0..120 {
        let record = record(at);
        let text = serde_json::to_string(&record).unwrap();
        put(layout.of_record(at), &text);
        put(layout.of_second(record.unix_s), &text);
    }
    change(&layout, &mut file);
    let path = folder.join("flight");
    std::fs::write(&path, file).unwrap();
    path
}

#[test]
fn the_first_line_says_who_and_the_next_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), |_, _| {});
    let output = explain(&[], &file);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = out(&output);
    assert!(text.starts_with("leaky (700) took 6."), "{text}");
    assert!(
        text.contains("systemctl set-property leaky.scope MemoryMax=SIZE"),
        "{text}"
    );
    assert!(text.contains("killed leaky (700): swap is full"), "{text}");
    assert!(text.contains("It could be foreseen"), "{text}");
    assert!(text.contains("\nWhat would have helped:"), "{text}");
    let wide = text.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None);
}

#[test]
fn a_name_controls_neither_the_terminal_nor_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = |at| {
        let mut record = record(at);
        for process in &mut record.processes {
            process.name = "a\u{1b}[2Jb".into();
            process.unit = "/user.slice/a;reboot.scope".into();
        }
        record
    };
    let file = written_of(folder.path(), hostile, |_, _| {});
    let text = out(&explain(&["--color", "always"], &file));
    assert!(text.contains("a\\u{1b}[2Jb (700) took 6."), "{text}");
    assert!(!text.contains("\u{1b}[2J"), "{text}");
    assert!(text.contains("systemd-run --scope"), "{text}");
    assert!(!text.contains("reboot"), "{text}");
}

#[test]
fn json_has_the_same_story() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), |_, _| {});
    let found: Value = serde_json::from_str(&out(&explain(&["--json"], &file))).unwrap();
    assert_eq!(found["schema"], "hotset.explain.1");
    assert_eq!(found["verdict"]["kind"], "program");
    assert_eq!(found["verdict"]["culprit"]["who"]["program"]["pid"], 700);
    assert_eq!(found["episodes"].as_array().unwrap().len(), 1);
    let remedies = found["remedies"].as_array().unwrap();
    let of = |change: &str| remedies.iter().find(|remedy| remedy["change"] == change);
    assert_eq!(remedies.len(), 8);
    assert_eq!(of("limit").unwrap()["answer"], "helps");
    assert_eq!(remedies[0]["answer"], "helps");
    assert_eq!(of("hotsetd").unwrap()["answer"], "does not help");
    assert_eq!(
        (&found["records"], &found["torn"]),
        (&json!(120), &json!(0))
    );
}

#[test]
fn what_is_damaged_harms_no_other_record() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), |layout, file| {
        let size = layout.slot as usize;
        // Seconds 50 and 95, in each of their places.
        for at in [50, 95] {
            for place in [layout.of_record(at), layout.of_second(1.8e9 + at as f64)] {
                file[place as usize * size + 700] ^= 1;
            }
        }
    });
    let text = out(&explain(&[], &file));
    assert!(text.starts_with("leaky (700) took 6."), "{text}");
    assert!(text.contains("records could not be read"), "{text}");
    // Cut off in the middle of a record.
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() / 2 + 1000]).unwrap();
    assert_eq!(explain(&[], &file).status.code(), Some(0));
}

#[test]
fn files_of_another_kind_are_told_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let later = written(folder.path(), |layout, file| {
        let text = r#"{"schema":"hotset.flight.9"}"#;
        let size = layout.slot as usize;
        file[..size].copy_from_slice(&sealed(text, size));
    });
    let said = |file: &Path| {
        let output = explain(&[], file);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said(&later).contains("hotset.flight.9"));
    let torn = written(folder.path(), |_, file| file[200] ^= 1);
    assert!(said(&torn).contains("its first line is damaged"));
    let none = written(folder.path(), |layout, file| {
        file[layout.slot as usize..].fill(0)
    });
    assert!(said(&none).contains("nothing has been recorded yet"));
    std::fs::write(&torn, "").unwrap();
    assert!(said(&torn).contains("nothing has been recorded yet"));
    std::fs::write(&torn, "some text\n").unwrap();
    assert!(said(&torn).contains("nor a kernel's log"));
    std::fs::write(&torn, "{\"t\": }\n").unwrap();
    assert!(said(&torn).contains("not a JSON object"));
    let output = explain(&[], Path::new("no-such-file"));
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("no such file, and no time"), "{text}");
}

#[test]
fn a_calm_record_has_nothing_to_explain() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), |layout, file| {
        let size = layout.slot as usize;
        for at in 55..120 {
            for place in [layout.of_record(at), layout.of_second(1.8e9 + at as f64)] {
                file[place as usize * size..][..size].fill(0);
            }
        }
    });
    let output = explain(&[], &file);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).starts_with("Nothing froze"), "{output:?}");
}

#[test]
fn the_page_has_the_story_and_charts_and_is_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), |_, _| {});
    let page = folder.path().join("freeze.html");
    let report = |more: &[&str]| {
        let mut arguments = vec!["--report", page.to_str().unwrap()];
        arguments.extend(more);
        explain(&arguments, &file)
    };
    let output = report(&[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let html = std::fs::read_to_string(&page).unwrap();
    let parsed = roxmltree::Document::parse_with_options(
        &html,
        roxmltree::ParsingOptions {
            allow_dtd: true,
            ..Default::default()
        },
    );
    let parsed = parsed.expect("well-formed XML");
    let heading = parsed.descendants().find(|node| node.has_tag_name("h1"));
    let heading = heading.unwrap().text().unwrap();
    assert!(heading.starts_with("leaky (700) took 6."), "{heading}");
    let charts = parsed
        .descendants()
        .filter(|node| node.has_tag_name("title"));
    let charts: Vec<&str> = charts.filter_map(|node| node.text()).collect();
    for title in [
        "Where the memory was",
        "What was left",
        "Who took it",
        "Read again",
    ] {
        assert!(charts.contains(&title), "{title}: {charts:?}");
    }
    for mark in ["span", "mark end", "mark hint"] {
        let class = |node: &roxmltree::Node| node.attribute("class") == Some(mark);
        assert!(parsed.descendants().any(|node| class(&node)), "{mark}");
    }
    assert!(html.contains("systemctl set-property leaky.scope MemoryMax=SIZE"));
    assert!(
        !html.contains("http://") && !html.contains("<script"),
        "it loads something"
    );
    assert_eq!(report(&[]).status.code(), Some(2), "a file is replaced");
    assert_eq!(report(&["--force"]).status.code(), Some(0));
}

const LOG: &str = "../explain/tests/klog/cgroup-4.18.log";

#[test]
fn a_log_of_the_kernel_is_explained_as_well() {
    let log = Path::new(LOG);
    let output = explain(&[], log);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = out(&output);
    assert!(
        text.starts_with("/system.slice/app.service used all"),
        "{text}"
    );
    assert!(text.contains("What the log cannot tell"), "{text}");
    assert!(
        text.contains("11-27 15:45:19, from the kernel's log"),
        "{text}"
    );
    assert_eq!(text.lines().find(|line| line.chars().count() > 80), None);
    let text = out(&explain(&["--list"], log));
    assert!(text.contains("1 event in the kernel's log"), "{text}");
    let found: Value = serde_json::from_str(&out(&explain(&["--json"], log))).unwrap();
    assert_eq!(found["schema"], "hotset.explain.log.1");
    assert_eq!(found["finding"]["kind"], "cgroup_limit");
    assert_eq!(found["incident"]["reports"][0]["limit"]["limit"], 512 << 20);
    assert_eq!(found["incidents"][0]["kills"], 1);
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("kill.html");
    let output = explain(&["--report", page.to_str().unwrap()], log);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("Who had memory at the kill") && html.contains("<svg"));
}

#[test]
fn a_log_without_kills_or_times_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("kern.log");
    std::fs::write(
        &log,
        "[    0.0] Linux version 6.12\n[    1.0] random: done\n",
    )
    .unwrap();
    let output = explain(&[], &log);
    assert_eq!(output.status.code(), Some(1));
    let text = out(&output);
    assert!(
        text.starts_with("Nobody was killed for want of memory in 2 lines"),
        "{text}"
    );
    let boot = Path::new("../explain/tests/klog/uml-7.3.log");
    let text = out(&explain(&[], boot));
    assert!(text.contains("52 s after the start"), "{text}");
    let output = explain(&["14:03", "--file"], boot);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("no times of day"), "{text}");
    let journal = Path::new("../explain/tests/klog/journal-6.1.log");
    let text = out(&explain(&["2026-11-27 15:00", "--file"], journal));
    assert!(text.starts_with("5 processes called cc1plus had"), "{text}");
}

#[test]
fn without_a_record_the_journal_is_read() {
    if Path::new("/var/lib/hotset/flight").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("journalctl");
    let log = Path::new(LOG).canonicalize().unwrap();
    let script = format!(
        "#!/bin/sh\necho \"$@\" > {0}/asked\ncat {1}\n",
        folder.path().display(),
        log.display()
    );
    std::fs::write(&program, script).unwrap();
    let may_run = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, may_run).unwrap();
    let path = format!(
        "{}:{}",
        folder.path().display(),
        std::env::var("PATH").unwrap()
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    let output = command.arg("explain").env("PATH", path).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(
        out(&output).contains("from the kernel's log (journalctl)"),
        "{output:?}"
    );
    let asked = std::fs::read_to_string(folder.path().join("asked")).unwrap();
    assert!(
        asked.contains("_TRANSPORT=kernel + _SYSTEMD_UNIT=systemd-oomd.service"),
        "{asked}"
    );
}

#[test]
fn the_policy_runs_over_the_record_too() {
    let folder = tempfile::tempdir().unwrap();
    // Two boots; the clock of samples begins anew.
    let two = |at: u64| {
        let mut record = record(at);
        if at < 20 {
            record.boot = "ffffffff".into();
            record.sample.t += 5000.0;
        }
        record.whole = at != 50;
        record
    };
    let file = written_of(folder.path(), two, |_, _| {});
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    let output = command.arg("replay").arg("--all").arg(&file).output();
    let said = out(&output.unwrap());
    // 120 records, less 20 of an earlier boot and one that lacks a part.
    assert!(said.contains("99 samples, 99 decisions"), "{said}");
}
