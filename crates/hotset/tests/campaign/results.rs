//! What a campaign finds is what single commands find, in one table with the same bytes however it was made.
use crate::bed::{campaign, folder, json, text, FILE, ROWS};
use ::campaign::table::{self, Row};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn one_process_many_and_divided_traces_give_the_same_bytes() {
    let dir = folder();
    let dir = dir.path();
    // So short that each size is a task of its own.
    fs::write(
        dir.join("d.toml"),
        format!("{FILE}\n[tasks]\nseconds = 1e-5\n"),
    )
    .unwrap();
    let one = json(dir, "run c.toml -o one -j 1", 0);
    let many = json(dir, "run c.toml -o many -j 4", 0);
    let divided = json(dir, "run d.toml -o divided", 0);
    assert_eq!((&one["tasks"], &one["rows"]), (&7.into(), &ROWS.into()));
    assert_eq!(divided["tasks"], 21);
    assert_eq!(many["done"], 7);
    let bytes = |name: &str| fs::read(dir.join(name).join("results.parquet")).unwrap();
    assert_eq!(&bytes("one")[..4], b"PAR1");
    assert!(bytes("one") == bytes("many"), "several processes");
    assert!(bytes("one") == bytes("divided"), "divided traces");
    assert!(
        bytes("one") == {
            fs::remove_file(dir.join("one/results.parquet")).unwrap();
            assert!(campaign(dir, "merge one").status.success());
            bytes("one")
        }
    );
}

#[test]
fn misses_are_those_of_a_sweep() {
    let dir = folder();
    let dir = dir.path();
    json(dir, "run c.toml -o out", 0);
    let sweep = Command::new(env!("CARGO_BIN_EXE_hotset"))
        .current_dir(dir)
        .args(["sim", "sweep", "traces/a.txt", "--json"])
        .args(["--size", "1%,10%,64K"])
        .args(["--policy", "fifo,lru,s3-fifo,opt"])
        .output()
        .unwrap();
    let sweep: serde_json::Value = serde_json::from_slice(&sweep.stdout).unwrap();
    let rows = sweep["rows"].as_array().unwrap().iter();
    let expected = rows.map(|row| {
        let number = |key: &str| row[key].as_u64().unwrap();
        let policy = row["policy"].as_str().unwrap().to_string();
        (policy, number("size"), number("misses"))
    });
    let expected: BTreeSet<_> = expected.collect();
    let mut table = table::read(&dir.join("out/results.parquet")).unwrap();
    let rows = Row::of(&mut table).unwrap().into_iter();
    let rows = rows.filter(|row| row.trace == "traces/a.txt");
    let found: BTreeSet<_> = rows
        .map(|row| (row.policy, row.size_objects, row.misses))
        .collect();
    assert_eq!(found.len(), 4 * 3);
    assert_eq!(found, expected);
}

/// Names of all fields of a document.
fn fields(value: &serde_json::Value, found: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(object) => {
            for (name, value) in object {
                found.insert(name.clone());
                if name != "hosts" {
                    fields(value, found);
                }
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| fields(value, found)),
        _ => {}
    }
}

#[test]
fn every_field_of_json_is_in_the_guide() {
    let dir = folder();
    let dir = dir.path();
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/output.md");
    let guide = fs::read_to_string(guide).unwrap();
    let (_, section) = guide.split_once("## hotset sim campaign\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    fs::write(dir.join("b.csv"), "id\nx\n1\n").unwrap();
    for (args, status, schema) in [
        ("run c.toml -o out --dry-run", 0, "plan"),
        ("run c.toml -o out", 1, "run"),
        ("status out", 0, "status"),
        ("report out", 0, "report"),
    ] {
        // A line that is no number is an error of one trace.
        if schema == "run" {
            fs::write(dir.join("b.csv"), "id\n1\n\"\n").unwrap();
        }
        let document = json(dir, args, status);
        let name = format!("hotset.sim.campaign.{schema}.1");
        assert_eq!(document["schema"], name.as_str());
        let (_, mine) = section.split_once(&format!("`{name}`")).expect(&name);
        let mine = mine.split("\n`hotset").next().unwrap();
        let mut found = BTreeSet::new();
        fields(&document, &mut found);
        found.remove("schema");
        assert!(found.len() > 5, "{found:?}");
        for field in found {
            let ticked = [format!("`{field}`"), format!("`{field}[]`")];
            assert!(
                ticked.iter().any(|name| mine.contains(name)),
                "{name}: {field}"
            );
        }
    }
}

#[test]
fn the_report_has_a_table_and_a_page() {
    let dir = folder();
    let dir = dir.path();
    json(dir, "run c.toml -o out", 0);
    let shown = campaign(dir, "report out --report page.html");
    let table = text(&shown.stdout);
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    let lines = || table.lines().filter(|line| line.starts_with("s3-fifo"));
    assert_eq!(lines().count(), 3, "{table}");
    // Five figures for each yardstick, and wins.
    assert!(
        lines().all(|line| line.split_whitespace().count() == 12),
        "{table}"
    );
    assert!(
        table.lines().all(|line| line.chars().count() <= 80),
        "{table}"
    );
    let page = fs::read_to_string(dir.join("page.html")).unwrap();
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..roxmltree::ParsingOptions::default()
    };
    roxmltree::Document::parse_with_options(&page, options).unwrap();
    assert!(page.contains("against lru"), "{page}");
    let again = campaign(dir, "report out --report page.html");
    assert_eq!(again.status.code(), Some(2), "an existing page is kept");
}
