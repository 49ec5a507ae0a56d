//! The status socket and the metrics.
use crate::common::FakeMachine;
use crate::started::{started, status, QUICK};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

#[test]
fn metrics_are_served_over_a_unix_socket() {
    let machine = FakeMachine::new();
    let conf = "[metrics]\nlisten = \"unix:/run/hotset/metrics.sock\"\n";
    machine.put("etc/hotset/hotsetd.conf", conf);
    let _process = started(&machine, &[]);
    let mut stream = UnixStream::connect(machine.path("run/hotset/metrics.sock")).unwrap();
    // The request comes in two pieces, as over a slow network.
    stream.write_all(b"GET /metrics HTTP/1.1\r\n").unwrap();
    std::thread::sleep(Duration::from_millis(20));
    stream.write_all(b"Host: here\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(answer.contains("\nhotset_samples_total "), "{answer}");
    assert!(
        answer.contains("\nhotset_free_bytes{node=\"0\"} 1228800000\n"),
        "{answer}"
    );
}

#[test]
fn metrics_are_served_over_loopback() {
    let machine = FakeMachine::new();
    // A port that is free now; the kernel gives it to nobody else so soon.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let conf = format!("[metrics]\nlisten = \"127.0.0.1:{port}\"\n");
    machine.put("etc/hotset/hotsetd.conf", &conf);
    let _process = started(&machine, &[]);
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("text/plain; version=0.0.4"), "{answer}");
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/monitor.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let names = answer
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    let unsaid: Vec<&str> = names
        .filter(|name| !guide.contains(&format!("`{name}`")))
        .collect();
    assert!(
        unsaid.is_empty() && answer.matches("# TYPE").count() > 15,
        "{unsaid:?}"
    );
}

#[test]
fn idle_clients_do_not_stop_sampling() {
    let machine = FakeMachine::new();
    let conf = "[metrics]\nlisten = \"unix:/run/hotset/metrics.sock\"\n";
    machine.put("etc/hotset/hotsetd.conf", &format!("{conf}{QUICK}"));
    let mut process = started(&machine, &[]);
    let mut idle = Vec::new();
    for _ in 0..20 {
        idle.push(UnixStream::connect(machine.path("run/hotset/metrics.sock")).unwrap());
        idle.push(UnixStream::connect(machine.path("run/hotset/status.sock")).unwrap());
    }
    let before = status(&machine).unwrap().counts.samples;
    process.until("sampling goes on", |_| {
        status(&machine).is_some_and(|status| status.counts.samples > before + 1)
    });
}

#[test]
fn the_status_document_begins_with_its_schema() {
    let machine = FakeMachine::new();
    let _process = started(&machine, &[]);
    let mut stream = UnixStream::connect(machine.path("run/hotset/status.sock")).unwrap();
    let mut document = String::new();
    stream.read_to_string(&mut document).unwrap();
    let begin = format!("{{\"schema\":\"{}\",", status::SCHEMA);
    assert!(document.starts_with(&begin), "{document}");
}
