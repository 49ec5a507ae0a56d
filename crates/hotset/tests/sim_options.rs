//! The options of `hotset sim`, its files and its forms of output, as a careful user tries them.
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(dir: &Path, words: &[&str], stdout: Stdio) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hotset"))
        .current_dir(dir)
        .arg("sim")
        .args(words)
        .stdin(Stdio::null())
        .stdout(stdout)
        .output()
        .unwrap()
}

/// Standard output, standard error and the status. Words are separated by blanks.
fn sim(dir: &Path, args: &str) -> (String, String, i32) {
    let words: Vec<&str> = args
        .split(' ')
        .map(|word| word.trim_matches('\''))
        .collect();
    let out = run(dir, &words, Stdio::piped());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let status = out.status.code().unwrap();
    (text(out.stdout), text(out.stderr), status)
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let ids = (0..5000u64).map(|n| format!("{}\n", n * n % 701));
    fs::write(dir.path().join("t.txt"), ids.collect::<String>()).unwrap();
    dir
}

/// Files of the folder, partial ones included.
fn files(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_the_simulation() {
    let dir = folder();
    let dir = dir.path();
    for option in ["--plot no/such/p.svg", "--report no/such/p.html"] {
        for command in ["run", "sweep", "compare", "curve"] {
            let (out, err, status) = sim(dir, &format!("{command} t.txt --size 5 {option}"));
            assert_eq!((out.as_str(), status), ("", 3), "{command}: {err}");
            assert!(err.contains("no/such/p."), "{err}");
        }
    }
    assert_eq!(files(dir), ["t.txt"]);
}

#[test]
fn a_disk_that_is_full_does_not_cost_the_table() {
    let dir = folder();
    let dir = dir.path();
    for option in ["--plot /dev/full", "--report /dev/full"] {
        let (out, err, status) = sim(dir, &format!("sweep t.txt --policy lru --size 5 {option}"));
        assert_eq!(status, 3, "{err}");
        assert!(
            out.contains("lru") && err.contains("/dev/full"),
            "{out}{err}"
        );
    }
}

#[test]
fn a_full_standard_output_is_a_failure_and_no_panic() {
    let dir = folder();
    let dir = dir.path();
    for words in [
        "policies",
        "run t.txt --size 5",
        "sweep t.txt --policy lru --size 5 --csv",
        "compare t.txt --size 5 --json",
        "curve t.txt",
        "reproduce arc --repetitions 1",
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let words: Vec<&str> = words.split(' ').collect();
        let out = run(dir, &words, full.into());
        let err = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(3), "{words:?}: {err}");
    }
}

#[test]
fn files_are_replaced_with_force_alone_and_inputs_never() {
    let dir = folder();
    let dir = dir.path();
    let before = fs::read(dir.join("t.txt")).unwrap();
    fs::write(dir.join("p.html"), "mine").unwrap();
    let (_, err, status) = sim(dir, "run t.txt --size 5 --report p.html");
    assert_eq!(status, 2, "{err}");
    assert!(err.contains("p.html") && err.contains("--force"), "{err}");
    assert_eq!(fs::read(dir.join("p.html")).unwrap(), b"mine");
    let (_, err, status) = sim(dir, "run t.txt --size 5 --report p.html --force");
    assert_eq!(status, 0, "{err}");
    assert_ne!(fs::read(dir.join("p.html")).unwrap(), b"mine");
    fs::rename(dir.join("t.txt"), dir.join("t")).unwrap();
    for option in ["--report", "--plot"] {
        let (_, err, status) = sim(dir, &format!("run t --size 5 {option} t --force"));
        assert_eq!(status, 2, "{err}");
        assert_eq!(fs::read(dir.join("t")).unwrap(), before);
    }
}

#[test]
fn nonsense_is_refused_and_named() {
    let dir = folder();
    let dir = dir.path();
    for (args, named) in [
        ("sweep t.txt --size 5 --policy ''", "--policy"),
        ("sweep t.txt --size 5 --policy ,", "--policy"),
        ("run t.txt --size 5 --object-size 0", "--object-size"),
        ("run t.txt --size 99999999999999999999999999999", "--size"),
        ("sweep t.txt --size 5 --plot x.png", "--plot"),
        ("run t.txt --size 5 --report x.svg", "--report"),
        ("run t.txt --size 5 --report -", "--report"),
        ("sweep t.txt --size 5 --plot -", "--plot"),
        ("run t.txt --size 5 --report ''", "--report"),
        ("run t.txt --size 5 --plot ''", "--plot"),
        ("run t.txt --size 5 --sample 10%", "sim curve"),
        (
            "run t.txt --size 5 --policy lru:k=2",
            "lru has no parameters",
        ),
        ("curve t.txt --sample 5", "--sample"),
        ("curve t.txt --sample 5% --policy arc", "--sample"),
        ("curve t.txt --sample 5% --memory 1M", "--memory"),
        ("run t.txt --size 5 --policy lirs:history=x", "--policy"),
        ("run t.txt --size 5 --policy lirs:histori=2", "history"),
        ("run t.txt --size 5 --policy s3-fif", "s3-fifo"),
        ("policies lri", "lru"),
    ] {
        let (out, err, status) = sim(dir, args);
        assert_eq!((out.as_str(), status), ("", 2), "{args}: {err}");
        assert!(err.contains(named), "{args}: {err}");
    }
    assert_eq!(files(dir), ["t.txt"]);
}

#[test]
fn a_slip_is_answered_with_one_name() {
    let dir = folder();
    for (args, meant) in [
        ("run t.txt --size 5 --policy s3-fif", "did you mean s3-fifo"),
        (
            "run t.txt --size 5 --policy lirs:histori=2",
            "did you mean history",
        ),
    ] {
        let (_, err, _) = sim(dir.path(), args);
        assert!(err.contains(meant), "{err}");
    }
}

#[test]
fn what_is_far_from_any_name_is_answered_without_a_guess() {
    let dir = folder();
    let output = Command::new(env!("CARGO_BIN_EXE_hotset"))
        .args(["trace", "generate", "mix", "--part", "0.5:foo", "x.txt"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(
        err.contains("foo") && !err.contains("did you mean"),
        "{err}"
    );
    let (_, err, _) = sim(dir.path(), "run t.txt --size 5 --sample 10%");
    assert!(!err.contains("--names"), "{err}");
}

#[test]
fn policies_and_papers_have_one_spelling_and_take_the_others() {
    let dir = folder();
    let dir = dir.path();
    let (exact, _, _) = sim(dir, "run t.txt --size 50 --policy s3-fifo --csv");
    assert!(exact.contains(",s3-fifo,"), "{exact}");
    for name in ["s3fifo", "S3-FIFO", "S3_FIFO"] {
        let (out, err, _) = sim(dir, &format!("run t.txt --size 50 --policy {name} --csv"));
        assert_eq!(out, exact, "{err}");
    }
    for paper in ["s3-fifo", "s3fifo"] {
        let (_, err, status) = sim(dir, &format!("reproduce {paper} --repetitions 1"));
        assert_eq!(status, 0, "{err}");
    }
}

#[test]
fn earlier_names_of_options_go_on_working() {
    let dir = folder();
    let dir = dir.path();
    let (today, _, _) = sim(dir, "sweep t.txt --size 5 --jobs 1 --csv");
    let (out, err, _) = sim(dir, "sweep t.txt --size 5 --threads 1 --csv");
    assert_eq!(out, today);
    assert!(err.contains("--jobs"), "{err}");
    let (today, _, _) = sim(dir, "reproduce lirs --repetitions 2 --json");
    let (out, err, _) = sim(dir, "reproduce lirs --runs 2 --json");
    assert_eq!(out, today);
    assert!(err.contains("--repetitions"), "{err}");
    let (_, err, status) = sim(dir, "kernel no-such-folder");
    assert!(status == 3 && err.contains("validate"), "{status}: {err}");
}

#[test]
fn results_name_the_whole_file() {
    let dir = folder();
    let dir = dir.path();
    fs::copy(dir.join("t.txt"), dir.join("a.b.txt")).unwrap();
    let (csv, _, _) = sim(dir, "run ./a.b.txt --size 5 --csv");
    assert!(csv.lines().nth(1).unwrap().starts_with("a.b.txt,"), "{csv}");
    let (json, _, _) = sim(dir, "curve a.b.txt --size 5 --json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["trace"]["name"], "a.b.txt");
    let (table, _, _) = sim(dir, "compare a.b.txt --size 5");
    assert!(table.starts_with("a.b.txt"), "{table}");
}

#[test]
fn csv_has_the_same_columns_for_all_commands_and_estimates() {
    let dir = folder();
    let dir = dir.path();
    let head = |args: &str| {
        let (csv, err, _) = sim(dir, &format!("{args} --csv"));
        let head = csv.lines().next().expect(&err).to_string();
        let columns = head.split(',').count();
        assert!(
            csv.lines().all(|line| line.split(',').count() == columns),
            "{csv}"
        );
        head
    };
    let heads: BTreeSet<String> = [
        "run t.txt --size 5",
        "sweep t.txt --size 5 --policy arc,mglru",
        "curve t.txt --size 5",
        "curve t.txt --size 5 --policy sieve",
        "curve t.txt --size 5,100 --sample 50%",
    ]
    .into_iter()
    .map(head)
    .collect();
    assert_eq!(heads.len(), 1, "{heads:?}");
    // A comparison has these, and two more.
    let compared = head("compare t.txt --size 5");
    let more = compared.strip_prefix(heads.first().unwrap()).unwrap();
    assert_eq!(more, ",misses_of_lru,way_from_lru_to_opt_percent");
}

#[test]
fn a_comparison_has_the_same_rows_in_json_and_csv_and_they_are_those_of_a_sweep() {
    let dir = folder();
    let dir = dir.path();
    // Skewed, so that policies differ.
    let ids = (0..9000u64).map(|n| format!("{}\n", (n * n * 31 + n % 7) % (n % 900 + 40)));
    fs::write(dir.join("skewed.txt"), ids.collect::<String>()).unwrap();
    let args = "skewed.txt --policy lru,opt,mglru,sieve --size 5,300";
    let json = |command: &str| -> Value {
        let (json, err, _) = sim(dir, &format!("{command} {args} --json"));
        serde_json::from_str(&json).expect(&err)
    };
    let (compared, swept) = (json("compare"), json("sweep"));
    assert_eq!(compared["jobs"], swept["jobs"]);
    let (csv, _, _) = sim(dir, &format!("compare {args} --csv"));
    let mut lines = csv.lines().skip(1);
    let (mut last, mut measured) = ((0, 0), 0);
    for row in compared["rows"].as_array().unwrap() {
        let line: Vec<&str> = lines.next().unwrap().split(',').collect();
        assert_eq!(row["policy"], line[1]);
        let number = |name: &str| row[name].as_u64().unwrap();
        assert_eq!(
            [number("size"), number("misses")].map(|n| n.to_string()),
            [line[2], line[4]]
        );
        // Best first.
        assert!(last <= (number("size"), number("misses")), "{csv}");
        last = (number("size"), number("misses"));
        for (name, field) in [
            ("misses_of_lru", line[8]),
            ("way_from_lru_to_opt_percent", line[9]),
        ] {
            match row.get(name) {
                Some(exact) => {
                    let off = exact.as_f64().unwrap() - field.parse::<f64>().unwrap();
                    assert!(off.abs() < 1e-6, "{row} {field}");
                    measured += 1;
                }
                None => assert_eq!(field, "", "{row}"),
            }
        }
        // The rest is the row of a sweep, and absent where it does not apply.
        let mut rest = row.clone();
        let fields = rest.as_object_mut().unwrap();
        fields.remove("misses_of_lru");
        fields.remove("way_from_lru_to_opt_percent");
        assert!(!fields.contains_key("miss_ratio_95") && !fields.contains_key("not_available"));
        assert!(swept["rows"].as_array().unwrap().contains(&rest), "{rest}");
    }
    assert_eq!(lines.next(), None);
    assert_eq!(measured, 16, "{csv}");
}

#[test]
fn tables_of_a_paper_add_up() {
    let dir = folder();
    for paper in ["arc", "lirs", "s3-fifo", "lru-k"] {
        let (out, err, _) = sim(dir.path(), &format!("reproduce {paper} --repetitions 3"));
        let mut rows = 0;
        for line in out.lines() {
            let numbers: Vec<f64> = line
                .split_whitespace()
                .rev()
                .map_while(|word| word.parse().ok())
                .collect();
            let [difference, ours, beside, ..] = numbers[..] else {
                continue;
            };
            assert!((ours - beside - difference).abs() < 1e-9, "{line}");
            rows += 1;
        }
        assert!(rows >= 10, "{out}{err}");
        let (json, _, _) = sim(
            dir.path(),
            &format!("reproduce {paper} --repetitions 3 --json"),
        );
        let json: Value = serde_json::from_str(&json).unwrap();
        let cell = &json["tables"][0]["cells"][0];
        // The LRU-K paper alone printed its values.
        assert_eq!(cell["paper"].is_number(), paper == "lru-k");
        assert_eq!(cell["reference"].is_number(), paper != "lru-k");
        for table in json["tables"].as_array().unwrap() {
            let source = table["source"].as_str().unwrap();
            assert_eq!(source.starts_with("table 4."), paper == "lru-k", "{source}");
            assert_eq!(
                source.contains("this simulator"),
                paper != "lru-k",
                "{source}"
            );
        }
    }
}

/// Names of all fields, those of objects in lists included. Names that are not fixed are left out.
fn fields(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                found.insert(name.clone());
                if name != "counters" {
                    fields(value, found);
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| fields(value, found)),
        _ => {}
    }
}

#[test]
fn every_field_of_json_is_in_the_guide() {
    let dir = folder();
    let dir = dir.path();
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/output.md");
    let guide = fs::read_to_string(guide).unwrap();
    fs::write(
        dir.join("t.csv"),
        "id,op\n1,read\n2,jump\n1,write\n3,read\n1,read\n",
    )
    .unwrap();
    let (part, _, _) = sim(dir, "sweep t.txt --size 5 --policy lru --shard 1/1 --json");
    fs::write(dir.join("part.json"), part).unwrap();
    for args in [
        "policies",
        "run t.csv --size 2 --policy mglru --skip-bad --drop-writes",
        "sweep t.txt --size 5 --shard 1/2",
        "compare t.txt --size 5",
        "curve t.txt --size 5,100 --sample 50%",
        "merge part.json",
        "reproduce arc --repetitions 1",
        "reproduce lru-k --repetitions 1",
    ] {
        let (json, err, status) = sim(dir, &format!("{args} --json"));
        assert_eq!(status, 0, "{args}: {err}");
        let json: Value = serde_json::from_str(&json).expect(&err);
        let command = args.split(' ').next().unwrap();
        let schema = format!("hotset.sim.{command}.1");
        assert_eq!(json["schema"], schema.as_str());
        let heading = format!("## hotset sim {command}");
        let section = guide
            .split("\n## ")
            .find(|part| format!("## {part}").starts_with(&heading));
        let section = section.unwrap_or_else(|| panic!("no section {heading}"));
        let mut found = BTreeSet::new();
        fields(&json, &mut found);
        // All results have the fields of a run.
        let shared = guide
            .split("\n## ")
            .find(|part| part.starts_with("hotset sim run"));
        let text = format!("{section}{}", shared.unwrap());
        let listed = |name: &str| {
            let forms = ["`NAME`", "`NAME[]`", ".NAME`", "`NAME."];
            let mut forms = forms.iter().map(|form| form.replace("NAME", name));
            name == "schema" || forms.any(|form| text.contains(&form))
        };
        let missing: Vec<_> = found.iter().filter(|name| !listed(name)).collect();
        assert!(missing.is_empty(), "{heading}: {missing:?}");
        assert!(section.contains(&schema), "{heading}: {schema}");
    }
}
