//! `hotset status` against a socket that stands for the daemon's.
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use terminal::terminal;

#[path = "common/terminal.rs"]
mod terminal;

/// A document with the fields that every daemon sends, and `more`.
fn document(more: &str) -> String {
    let with = match more {
        "" => String::new(),
        more => format!(",{more}"),
    };
    let mut fields = r#""schema":"hotset.status.1","version":"1.2.3","aggressiveness":2,"modules":{},"watermarks":{},
"rates":{},"counts":{}"#
        .to_owned();
    for list in ["nodes", "knobs", "actions"] {
        if !more.contains(&format!("\"{list}\":")) {
            fields += &format!(",\"{list}\":[]");
        }
    }
    format!("{{{fields}{with}}}")
}

/// Answers `times` times with `document`.
fn daemon(place: &Path, document: &str, times: usize) -> std::thread::JoinHandle<()> {
    let listener = UnixListener::bind(place).unwrap();
    let document = document.to_owned();
    std::thread::spawn(move || {
        for _ in 0..times {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(document.as_bytes()).unwrap();
        }
    })
}

fn status(socket: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    command
        .arg("status")
        .args(arguments)
        .arg("--socket")
        .arg(socket);
    command.output().unwrap()
}

const NODE: &str = r#""pid":77,"page_size":4096,"nodes":[{"id":0,
"free_pages":262144,"min":1,"low":2,"high":3,"time_to_low_s":90.0,"earliest_low_s":60.0}]"#;

#[test]
fn the_status_is_shown_as_text_and_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("status.sock");
    let daemon = daemon(&place, &document(NODE), 2);
    let done = status(&place, &[]);
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success());
    assert!(text.starts_with("hotsetd 1.2.3, pid 77"), "{text}");
    assert!(text.contains("Node 0: 1.0 GiB free"), "{text}");
    assert!(
        text.contains("at low in 1 min 30 s, in 1 min 0 s at the earliest"),
        "{text}"
    );
    let done = status(&place, &["--json"]);
    let found: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(
        found,
        serde_json::from_str::<serde_json::Value>(&document(NODE)).unwrap()
    );
    daemon.join().unwrap();
}

fn err(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

#[test]
fn without_a_daemon_it_ends_with_1_and_names_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("status.sock");
    // There is no socket; then one that nobody listens at.
    for _ in 0..2 {
        let done = status(&place, &[]);
        assert_eq!(done.status.code(), Some(1));
        for part in ["status.sock", "systemctl start hotsetd"] {
            assert!(err(&done).contains(part), "{}", err(&done));
        }
        assert!(!err(&done).contains("os error"), "{}", err(&done));
        let text = String::from_utf8(done.stdout).unwrap();
        assert!(text.contains("watermarks "), "{text}");
        let done = status(&place, &["--json"]);
        let found: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(found["schema"], "hotset.machine.1");
        assert!(
            found["nodes"][0]["free_pages"].as_u64() > Some(0),
            "{found}"
        );
        drop(UnixListener::bind(&place));
    }
}

#[test]
fn an_answer_that_is_not_from_hotsetd_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    for (number, answer) in ["220 mail.example ESMTP\r\n", "", "[1]", "{\"a\":"]
        .iter()
        .enumerate()
    {
        let place = folder.path().join(format!("{number}.sock"));
        let daemon = daemon(&place, answer, 1);
        let done = status(&place, &["--json"]);
        assert_eq!(done.status.code(), Some(3), "{answer:?}: {}", err(&done));
        assert!(err(&done).contains(".sock: "), "{}", err(&done));
        assert!(done.stdout.is_empty());
        daemon.join().unwrap();
    }
}

#[test]
fn an_object_without_the_fields_of_a_daemon_is_no_status() {
    let folder = tempfile::tempdir().unwrap();
    let lacks = |name: &str| {
        let mut fields: serde_json::Map<_, _> = serde_json::from_str(&document("")).unwrap();
        fields.remove(name).unwrap();
        serde_json::to_string(&fields).unwrap()
    };
    let newer = document("").replace("status.1", "status.2");
    let cases = [
        ("{}".to_owned(), "--socket"),
        (r#"{"schema":"hotset.replay.1"}"#.to_owned(), "--socket"),
        (
            r#"{"schema":"hotset.status.2"}"#.to_owned(),
            "hotset.status.2",
        ),
        (newer, "hotset.status.2"),
        (r#"{"schema":"hotset.status.1"}"#.to_owned(), "`version`"),
        (lacks("nodes"), "`nodes`"),
        (lacks("counts"), "`counts`"),
    ];
    for (number, (answer, named)) in cases.iter().enumerate() {
        let place = folder.path().join(format!("{number}.sock"));
        let daemon = daemon(&place, answer, 2);
        for arguments in [&[][..], &["--json"]] {
            let done = status(&place, arguments);
            assert_eq!(done.status.code(), Some(3), "{answer}");
            assert!(done.stdout.is_empty(), "{answer}");
            assert!(err(&done).contains(named), "{answer}: {}", err(&done));
        }
        daemon.join().unwrap();
    }
}

/// A status in which nothing is left out.
fn everything() -> status::Status {
    status::Status {
        nodes: vec![Default::default()],
        knobs: vec![Default::default()],
        actions: vec![Default::default()],
        protect: Some(status::Protection {
            last_victim: Some(Default::default()),
            locked: Some(status::LockedFiles {
                files: vec![Default::default()],
                ..Default::default()
            }),
            cgroups: Some(vec![Default::default()]),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// Names of all fields, at any depth.
fn names(value: &serde_json::Value, found: &mut BTreeSet<String>) {
    use serde_json::Value;
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                found.insert(name.clone());
                names(value, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| names(value, found)),
        _ => {}
    }
}

#[test]
fn the_guide_has_every_field_of_the_status_and_no_other() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/output.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let mut sections = guide.split("\n## ");
    let section = sections.find(|part| part.starts_with("hotset status\n"));
    let section = section.expect("a section of the guide");
    assert!(section.contains(status::SCHEMA));
    let mut sent = BTreeSet::new();
    names(&serde_json::to_value(everything()).unwrap(), &mut sent);
    assert!(sent.remove("schema"));
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let mut listed = BTreeSet::new();
    for row in rows {
        let first = row.split('|').nth(1).unwrap();
        // Columns that follow may name fields of an object as well as values.
        let words = |column: &str| -> Vec<String> {
            let words = column.split('`').skip(1).step_by(2);
            words
                .map(|word| word.trim_end_matches("[]").into())
                .collect()
        };
        let unknown: Vec<_> = words(first)
            .into_iter()
            .filter(|name| !sent.contains(name))
            .collect();
        assert!(unknown.is_empty(), "{row}: {unknown:?}");
        listed.extend(words(row));
    }
    let missing: Vec<_> = sent.difference(&listed).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn an_interval_out_of_its_range_is_a_usage_error() {
    for wrong in ["0", "nan", "86401", "-1", "soon"] {
        let done = status(Path::new("/none"), &[&format!("--watch={wrong}")]);
        assert_eq!(done.status.code(), Some(2), "{wrong}");
        for part in ["--watch", wrong, "0.1", "86400"] {
            assert!(err(&done).contains(part), "{part}: {}", err(&done));
        }
    }
}

#[test]
fn watch_goes_on_until_the_daemon_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("status.sock");
    let daemon = daemon(&place, &document(""), 3);
    let done = status(&place, &["--json", "--watch", "0.1"]);
    daemon.join().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    assert_eq!(text.lines().count(), 3, "{text}");
    assert_eq!(done.status.code(), Some(1));
}

#[test]
fn a_full_disk_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("status.sock");
    let daemon = daemon(&place, &document(NODE), 2);
    for arguments in [&["status"][..], &["status", "--json"]] {
        let full = File::options().write(true).open("/dev/full");
        let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
        command.args(arguments).arg("--socket").arg(&place);
        let done = command.stdout(full.unwrap()).output().unwrap();
        assert_eq!(done.status.code(), Some(3), "{}", err(&done));
        assert!(!err(&done).is_empty() && !err(&done).contains("panicked"));
    }
    daemon.join().unwrap();
}

/// Between two documents that are an hour apart nothing is written, so no write finds the pipe closed.
#[test]
fn a_watch_ends_when_its_reader_has_gone() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("status.sock");
    let daemon = daemon(&place, &document(""), 1);
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    command.args(["status", "--watch=3600", "--json", "--socket"]);
    let mut child = command.arg(&place).stdout(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.read_line(&mut String::new()).unwrap();
    drop(reader);
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(141), "{status}");
    daemon.join().unwrap();
}

const EVIL: &str = r#""pid":"1\u001b[2J","actions":[{"at_unix_s":0,"action":"a\u009b1m","reason":"r\r\u001b]0;x\u0007","outcome":"o"}],
"knobs":[{"name":"k\u001b[2J","value":"v\u001b","original":"o\u007f"}],"protect":{"enforcer":"hotsetd","other_killers":["x\u001b[2J"],
"locked":{"files":[{"path":"/a\u001b[2J\nb","users":1}]},"cgroups":[{"knob":"c\u001b[2J"}],
"last_victim":{"name":"evil\u001b[2J\n\u202egnp","cause":"\u001b[2J"}}"#;

#[test]
fn names_from_outside_do_not_control_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("status.sock");
    let daemon = daemon(&place, &document(EVIL), 2);
    for arguments in [&[][..], &["--json"]] {
        let done = status(&place, arguments);
        assert!(done.status.success(), "{}", err(&done));
        let text = String::from_utf8(done.stdout).unwrap();
        let controls = text.chars().filter(|&c| c != '\n' && c.is_control());
        assert_eq!(controls.count(), 0, "{text:?}");
        assert!(text.contains("evil"), "{text}");
        if arguments.is_empty() {
            assert!(text.contains("evil\\u{1b}[2J"), "{text}");
            assert!(
                text.lines().all(|line| line.chars().count() <= 80),
                "{text}"
            );
        }
    }
    daemon.join().unwrap();
    // The document is one line, whatever the daemon sends.
    let done = status(Path::new("/none\x1b[2J"), &[]);
    assert!(!err(&done).contains('\x1b'), "{:?}", err(&done));
}

/// Whether the terminal shows what is typed and gives it line by line.
fn is_usual(terminal: &File) -> bool {
    // SAFETY: the structure is plain data, and tcgetattr fills it.
    let mode = unsafe {
        let mut mode: libc::termios = std::mem::zeroed();
        assert_eq!(libc::tcgetattr(terminal.as_raw_fd(), &mut mode), 0);
        mode
    };
    let usual = libc::ICANON | libc::ECHO;
    mode.c_lflag & usual == usual
}

/// A watch in a session of its own on a terminal, once its first text is there.
fn watching(place: &Path, term: &str) -> (Child, File, File, String) {
    let (program, mut user) = terminal();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    command
        .args(["status", "--watch=3600", "--socket"])
        .arg(place);
    command.env("TERM", term).stderr(Stdio::null());
    command.stdin(program.try_clone().unwrap());
    command.stdout(program.try_clone().unwrap());
    // SAFETY: setsid and ioctl may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::setsid();
            match libc::ioctl(0, libc::TIOCSCTTY, 0) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    let child = command.spawn().unwrap();
    let mut shown = String::new();
    let mut bytes = [0; 4096];
    while !shown.contains("Done") || !shown.ends_with('\n') {
        let count = user.read(&mut bytes).unwrap();
        shown.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    (child, program, user, shown)
}

#[test]
fn q_ends_a_watch_and_the_terminal_is_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("status.sock");
    let daemon = daemon(&place, &document(NODE), 1);
    let (mut child, program, mut user, shown) = watching(&place, "xterm");
    assert!(shown.contains("\x1b[2J"), "{shown:?}");
    assert!(!is_usual(&program));
    user.write_all(b"xq").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(is_usual(&program));
    daemon.join().unwrap();
}

#[test]
fn a_signal_ends_a_watch_and_the_terminal_is_as_before() {
    let folder = tempfile::tempdir().unwrap();
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let place = folder.path().join(format!("{signal}.sock"));
        let daemon = daemon(&place, &document(NODE), 1);
        let (mut child, program, mut user, _) = watching(&place, "xterm");
        match signal {
            // Ctrl-C.
            libc::SIGINT => user.write_all(b"\x03").unwrap(),
            // SAFETY: kill only sends; the child is ours and not yet waited for.
            _ => assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0),
        }
        assert_eq!(child.wait().unwrap().signal(), Some(signal));
        assert!(is_usual(&program), "{signal}");
        daemon.join().unwrap();
    }
}

#[test]
fn a_dumb_terminal_gets_no_escape_sequences() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("status.sock");
    let daemon = daemon(&place, &document(NODE), 1);
    let (mut child, _program, user, shown) = watching(&place, "dumb");
    assert!(!shown.contains('\x1b'), "{shown:?}");
    // The terminal hangs up.
    drop(user);
    child.wait().unwrap();
    daemon.join().unwrap();
}
