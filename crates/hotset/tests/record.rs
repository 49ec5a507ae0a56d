//! `hotset record` as a program: a signal ends it with a whole file.
use kernfs::samples::{Reader, Record};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

fn hotset() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/kernfs/6.18");
    command.args(["record", "--interval", "0.005", "--root", root]);
    command
}

fn unpacked(path: &Path) -> Vec<u8> {
    let packed = std::fs::read(path).unwrap();
    let mut plain = Vec::new();
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(packed.as_slice()).unwrap();
    decoder.read_to_end(&mut plain).unwrap();
    plain
}

#[test]
fn sigint_and_sigterm_leave_a_whole_file() {
    let dir = tempfile::tempdir().unwrap();
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let path = dir.path().join(format!("{signal}.jsonl.zst"));
        let mut child = hotset().arg(&path).stderr(Stdio::piped()).spawn().unwrap();
        // The file is made after the first sample, when signals are already caught.
        while !path.exists() {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::yield_now();
        }
        // SAFETY: kill(2) of a child that has not been waited for.
        assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, signal) }, 0);
        assert!(child.wait().unwrap().success());
        let mut said = String::new();
        child.stderr.unwrap().read_to_string(&mut said).unwrap();
        let records: Vec<Record> = Reader::new(unpacked(&path).as_slice())
            .map(Result::unwrap)
            .collect();
        assert!(!records.is_empty());
        assert!(
            said.contains(&format!("{} samples in", records.len())),
            "{said}"
        );
        assert_eq!(records[0].machine.as_ref().unwrap().release, "6.18.44");
    }
}

#[test]
fn lines_come_one_by_one_on_standard_output() {
    let mut child = hotset().arg("-").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..5 {
        let record: Record = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(record.nodes[0].blocks.len(), 11);
    }
    // The reader goes away, as `| head` does.
    drop(lines);
    assert!(!child.wait().unwrap().success(), "ended by SIGPIPE");
}
