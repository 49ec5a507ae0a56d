//! `hotset lab loop`.
use crate::bench::{demand, err, hotset, out, output, status};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;

#[test]
fn the_loop_shows_controllers_by_the_names_that_choose_them() {
    let dir = tempfile::tempdir().unwrap();
    let trace = demand(dir.path());
    let names = ["none", "static:10", "static:3000", "hotset:1", "hotset"];
    let line = format!("lab loop --controller {} --demand", names.join(","));
    let rows = out(&output(
        &line.replace("--demand", "--json --demand"),
        &[&trace],
    ));
    let rows = rows
        .lines()
        .map(|row| serde_json::from_str::<Value>(row).unwrap());
    let found: Vec<Value> = rows.map(|row| row["controller"].clone()).collect();
    assert_eq!(found, names);
    let table = out(&output(&line, &[&trace]));
    for name in names {
        assert!(table.contains(&format!("\n  {name} ")), "{table}");
    }
    assert!(
        table.lines().all(|line| line.chars().count() <= 80),
        "{table}"
    );
}

#[test]
fn the_loop_explains_each_action_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let trace = demand(dir.path());
    let output = output("lab loop --explain --demand", &[&trace]);
    assert_eq!(status(&output), 0, "{}", err(&output));
    let first = err(&output);
    let first = first.lines().next().unwrap();
    // The first action of the daemon on any machine.
    let action = first
        .find("kswapd0: nice ")
        .unwrap_or_else(|| panic!("{first}"));
    assert!(
        first[action..].split(": ").nth(2).is_some(),
        "a reason: {first}"
    );
}

#[test]
fn an_error_of_the_loop_prints_no_table_and_names_the_path() {
    let dir = tempfile::tempdir().unwrap();
    let trace = demand(dir.path());
    let none = dir.path().join("none.csv");
    for (line, paths, code, named) in [
        (
            "lab loop --generate",
            vec![Path::new("/dev/null")],
            2,
            "/dev/null",
        ),
        (
            "lab loop --generate",
            vec![Path::new("/dev/null/x")],
            3,
            "/dev/null/x",
        ),
        (
            "lab loop --demand",
            vec![trace.as_path(), &none],
            3,
            "none.csv",
        ),
        ("lab loop", vec![], 2, "--generate"),
        ("lab loop --generate", vec![Path::new("-")], 2, "--generate"),
        (
            "lab run three-workers --dry-run --output",
            vec![Path::new("-")],
            2,
            "--output",
        ),
    ] {
        let output = output(line, &paths);
        assert_eq!(
            (status(&output), out(&output).as_str()),
            (code, ""),
            "{line}"
        );
        assert!(err(&output).contains(named), "{}", err(&output));
        assert!(!err(&output).contains("os error"), "{}", err(&output));
    }
}

#[test]
fn traces_have_their_names_as_on_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let plain = demand(dir.path());
    let packed = plain.with_extension("csv.zst");
    let bytes = fs::read(&plain).unwrap();
    let mut packer = trace::Packer::new(Vec::new(), trace::Packing::Zstd);
    packer.write_all(&bytes).unwrap();
    fs::write(&packed, packer.finish().unwrap()).unwrap();
    let rows = out(&output("lab loop --json --demand", &[&plain, &packed]));
    let rows = rows
        .lines()
        .map(|row| serde_json::from_str::<Value>(row).unwrap());
    let found: Vec<Value> = rows.map(|row| row["trace"].clone()).collect();
    assert_eq!(found, [plain.to_str().unwrap(), packed.to_str().unwrap()]);
}

#[test]
fn no_name_controls_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let plain = demand(dir.path());
    let path = dir.path().join("a\x1b[31mb.csv");
    fs::rename(plain, &path).unwrap();
    let mut command = hotset("lab loop --explain --demand", &[&path]);
    // A pipe alone takes escape sequences away.
    let output = command.env("CLICOLOR_FORCE", "1").output().unwrap();
    assert_eq!(status(&output), 0, "{}", err(&output));
    for text in [out(&output), err(&output)] {
        assert!(text.contains("u{1b}[31mb.csv"), "{text:?}");
        assert!(!text.contains('\x1b'), "{text:?}");
    }
}

#[test]
fn generated_traces_replace_no_other_file() {
    let dir = tempfile::tempdir().unwrap();
    let line = "lab loop --controller none --seed 3 --generate";
    assert_eq!(status(&output(line, &[dir.path()])), 0);
    // The same traces may be there already.
    assert_eq!(status(&output(line, &[dir.path()])), 0);
    let path = dir.path().join("burst_g3.csv");
    fs::write(&path, "precious").unwrap();
    let refused = output(line, &[dir.path()]);
    assert_eq!(status(&refused), 2);
    assert!(err(&refused).contains("burst_g3.csv"), "{}", err(&refused));
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    assert_eq!(
        status(&output(
            &format!("lab loop --force {}", &line[9..]),
            &[dir.path()]
        )),
        0
    );
    assert_ne!(fs::read_to_string(&path).unwrap(), "precious");
}
