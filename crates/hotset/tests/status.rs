//! `hotset status` against a socket that stands for the daemon's.
use std::io::Write;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output};

/// Answers so many times with `document`.
fn daemon(place: &Path, document: &'static str, times: usize) -> std::thread::JoinHandle<()> {
    let listener = UnixListener::bind(place).unwrap();
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

const DOCUMENT: &str = r#"{"version":"1.2.3","pid":77,"page_size":4096,"nodes":[{"id":0,
"free_pages":262144,"min":1,"low":2,"high":3,"time_to_low_s":90.0,"earliest_low_s":60.0}]}"#;

#[test]
fn in_words_and_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("status.sock");
    let daemon = daemon(&place, DOCUMENT, 2);
    let done = status(&place, &[]);
    let words = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success());
    assert!(words.starts_with("hotsetd 1.2.3, pid 77"), "{words}");
    assert!(words.contains("Node 0: 1.0 GiB free"), "{words}");
    assert!(
        words.contains("at low in 1 min 30 s, in 1 min 0 s at the earliest"),
        "{words}"
    );
    let done = status(&place, &["--json"]);
    let found: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(
        found,
        serde_json::from_str::<serde_json::Value>(DOCUMENT).unwrap()
    );
    daemon.join().unwrap();
}

#[test]
fn without_a_daemon_it_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let done = status(&folder.path().join("status.sock"), &[]);
    assert_eq!(done.status.code(), Some(1));
    let words = String::from_utf8(done.stderr).unwrap();
    assert!(
        words.contains("no daemon answers") && words.contains("systemctl"),
        "{words}"
    );
}

#[test]
fn what_is_no_hotsetd_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("status.sock");
    let daemon = daemon(&place, "220 mail.example ESMTP\r\n", 1);
    let done = status(&place, &["--json"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8(done.stderr)
        .unwrap()
        .contains("is no hotsetd"));
    daemon.join().unwrap();
}

#[test]
fn watching_goes_on_until_the_daemon_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("status.sock");
    let daemon = daemon(&place, r#"{"version":"1"}"#, 3);
    let done = status(&place, &["--json", "--watch", "0.1"]);
    daemon.join().unwrap();
    let words = String::from_utf8(done.stdout).unwrap();
    assert_eq!(words.lines().count(), 3, "{words}");
    assert_eq!(done.status.code(), Some(1));
}
