//! `hotset metrics` against a socket that stands for the daemon's.
use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output};

fn metrics(root: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    command
        .args(["metrics", "--root"])
        .arg(root)
        .args(arguments);
    command.output().unwrap()
}

/// A root whose daemon is told to serve metrics at a socket.
fn root() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for folder in ["etc/hotset", "run/hotset"] {
        fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    let conf = "[metrics]\nlisten = \"unix:/run/hotset/metrics.sock\"\n";
    fs::write(root.path().join("etc/hotset/hotsetd.conf"), conf).unwrap();
    root
}

/// Gives this answer to the next client.
fn serve(root: &Path, answer: &'static str) -> std::thread::JoinHandle<()> {
    let place = root.join("run/hotset/metrics.sock");
    let _ = fs::remove_file(&place);
    let listener = UnixListener::bind(place).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0; 25];
        stream.read_exact(&mut asked).unwrap();
        assert!(asked.starts_with(b"GET /metrics HTTP/1.0\r\n"));
        stream.write_all(answer.as_bytes()).unwrap();
    })
}

#[test]
fn the_page_is_printed_or_replaces_a_file() {
    let root = root();
    let good = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhotset_dry_run 0\n";
    let daemon = serve(root.path(), good);
    let done = metrics(root.path(), &[]);
    daemon.join().unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), "hotset_dry_run 0\n");
    let file = root.path().join("hotset.prom");
    fs::write(&file, "of yesterday").unwrap();
    let daemon = serve(root.path(), good);
    let done = metrics(root.path(), &["--output", file.to_str().unwrap()]);
    daemon.join().unwrap();
    assert!(done.status.success() && done.stdout.is_empty());
    assert_eq!(fs::read_to_string(&file).unwrap(), "hotset_dry_run 0\n");
    // A failure leaves the last page: its age is seen by node_exporter.
    let daemon = serve(root.path(), "HTTP/1.1 404 Not Found\r\n\r\nno\n");
    let done = metrics(root.path(), &["--output", file.to_str().unwrap()]);
    daemon.join().unwrap();
    assert_eq!(done.status.code(), Some(3));
    assert_eq!(fs::read_to_string(&file).unwrap(), "hotset_dry_run 0\n");
}

#[test]
fn a_missing_daemon_and_a_missing_setting_are_errors() {
    let root = root();
    let done = metrics(root.path(), &[]);
    assert_eq!(done.status.code(), Some(3));
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(text.contains("run/hotset/metrics.sock"), "{text}");
    fs::write(root.path().join("etc/hotset/hotsetd.conf"), "").unwrap();
    let done = metrics(root.path(), &[]);
    assert_eq!(done.status.code(), Some(3));
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(text.contains("[metrics]"), "{text}");
}
