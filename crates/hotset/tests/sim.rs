//! `hotset sim` as a user runs it.
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn sim(dir: &Path, args: &str, input: &str) -> (String, String, Option<i32>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hotset"))
        .current_dir(dir)
        .arg("sim")
        .args(args.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input closes the pipe unread.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let out = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&out.stdout), text(&out.stderr), out.status.code())
}

/// Skewed, so that policies differ.
fn trace() -> String {
    (0..20_000u64)
        .map(|n| format!("{}\n", (n * n * 31 + n % 7) % (n % 900 + 40)))
        .collect()
}

#[test]
fn a_sweep_reads_its_trace_once_and_parts_are_the_whole() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let sweep = "--policy lru,opt,mglru --size 1%..50%:8 --json";
    // A pipe can be read once only.
    let (whole, _, code) = sim(dir, &format!("sweep - --format text {sweep}"), &trace());
    assert_eq!(code, Some(0));
    let whole: Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole["rows"].as_array().unwrap().len(), 24);
    for part in 1..=3 {
        let args = format!("sweep - --format text {sweep} --shard {part}/3");
        let (json, _, _) = sim(dir, &args, &trace());
        fs::write(dir.join(format!("{part}.json")), json).unwrap();
    }
    let (merged, _, code) = sim(dir, "merge 3.json 1.json 2.json --json --plot m.svg", "");
    assert_eq!(code, Some(0));
    let mut merged: Value = serde_json::from_str(&merged).unwrap();
    assert_eq!(merged["schema"], "hotset.sim.merge.1");
    merged["schema"] = whole["schema"].clone();
    assert_eq!(merged, whole);
    assert!(fs::read_to_string(dir.join("m.svg"))
        .unwrap()
        .contains("<polyline"));
}

#[test]
fn merge_names_the_part_to_run_again() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let sweep = "sweep - --format text --policy lru,arc --size 5,50,100,500 --json";
    for (part, of) in [(1, 4), (2, 4), (4, 4), (3, 5)] {
        let (json, _, _) = sim(dir, &format!("{sweep} --shard {part}/{of}"), &trace());
        fs::write(dir.join(format!("{part}-{of}.json")), json).unwrap();
    }
    fs::write(dir.join("empty.json"), "").unwrap();
    let whole = fs::read_to_string(dir.join("1-4.json")).unwrap();
    fs::write(dir.join("cut.json"), &whole[..whole.len() / 2]).unwrap();
    for (files, status, named) in [
        ("1-4.json 2-4.json 4-4.json", 2, "part 3/4 is missing"),
        ("1-4.json 4-4.json", 2, "parts 2,3 of 4 are missing"),
        (
            "1-4.json 2-4.json 3-5.json 4-4.json",
            2,
            "3-5.json is part 3 of 5, the others of 4",
        ),
        (
            "1-4.json empty.json",
            3,
            "empty.json is empty: run that part again",
        ),
        (
            "1-4.json cut.json",
            3,
            "cut.json is cut off: run that part again",
        ),
    ] {
        let (stdout, stderr, code) = sim(dir, &format!("merge {files}"), "");
        assert_eq!((stdout.as_str(), code), ("", Some(status)), "{stderr}");
        assert!(stderr.contains(named), "{stderr}");
    }
}

#[test]
fn a_trace_that_does_not_fit_is_estimated_and_marked() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let args = "sweep - --format text --policy lru --size 20% --jobs 1";
    let (json, stderr, _) = sim(dir, &format!("{args} --json"), &trace());
    assert!(!stderr.contains("ESTIMATES"), "{stderr}");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["trace"]["objects_estimated"], Value::Null);
    let exact = json["rows"][0]["miss_ratio"].as_f64().unwrap();
    let (json, stderr, code) = sim(dir, &format!("{args} --json --memory 128K"), &trace());
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("ESTIMATES"), "{stderr}");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["trace"]["objects_estimated"], true);
    assert!(json["trace"]["sampled_share"].as_f64().unwrap() < 1.0);
    let ends = &json["rows"][0]["miss_ratio_95"];
    let (low, high) = (ends[0].as_f64().unwrap(), ends[1].as_f64().unwrap());
    assert!(low <= exact && exact <= high && low < high, "{json}");
    let (table, _, _) = sim(dir, &format!("{args} --memory 128K"), &trace());
    assert!(table.lines().next().unwrap().contains("about"), "{table}");
}

#[test]
fn too_small_a_sample_gives_no_number() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for args in [
        "curve - --format text --sample 0.0001% --size 5,50",
        "curve - --format text --sample 5% --size 5,50",
        "sweep - --format text --policy mglru,sieve --size 1,300 --memory 128K",
    ] {
        let (json, stderr, code) = sim(dir, &format!("{args} --json"), &trace());
        assert_eq!(code, Some(0), "{stderr}");
        let json: Value = serde_json::from_str(&json).unwrap();
        for row in json["rows"].as_array().unwrap() {
            assert_eq!(
                (&row["misses"], &row["miss_ratio"]),
                (&Value::Null, &Value::Null)
            );
            assert!(row["not_available"].is_string(), "{row}");
        }
        let (table, _, _) = sim(dir, args, &trace());
        assert!(table.contains("n/a"), "{table}");
    }
}

#[test]
fn too_little_memory_is_refused_with_an_amount_that_works() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let args = "run - --format text --size 20% --jobs 1 --memory";
    let (stdout, stderr, code) = sim(dir, &format!("{args} 0"), &trace());
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
    assert!(stderr.contains("--memory"), "{stderr}");
    let words = stderr.split(|c: char| !c.is_ascii_digit());
    let most: u64 = words.filter_map(|word| word.parse().ok()).max().unwrap();
    let (_, stderr, code) = sim(dir, &format!("{args} {most}"), &trace());
    assert_eq!(code, Some(0), "{stderr}");
}

#[test]
fn what_is_enough_memory_follows_from_the_sizes() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let args = "sweep - --format text --policy lru,arc --size 5%,20% --jobs 1 --memory";
    let numbers = |text: &str| -> Vec<u64> {
        let words = text.split(|c: char| !c.is_ascii_digit());
        words.filter_map(|word| word.parse().ok()).collect()
    };
    for few in [0, 8504] {
        let (stdout, stderr, code) = sim(dir, &format!("{args} {few}"), &trace());
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{stderr}");
        let (_, cure) = stderr.split_once("too few").unwrap();
        let [one, all] = numbers(cure)[..] else {
            panic!("{stderr}");
        };
        // Room for the largest size; the line about the smaller one has what is enough for both.
        let (table, stderr, code) = sim(dir, &format!("{args} {one}"), &trace());
        assert_eq!(code, Some(0), "{stderr}");
        assert!(table.contains(".."), "{table}");
        let (_, line) = table.split_once("n/a at ").unwrap();
        let line = line.replace('\n', " ");
        assert!(
            line.contains(&format!("--memory {all} is enough for all sizes")),
            "{line}"
        );
        let (json, _, _) = sim(dir, &format!("{args} {all} --json"), &trace());
        let json: Value = serde_json::from_str(&json).unwrap();
        for row in json["rows"].as_array().unwrap() {
            let reason = row["not_available"].as_str().unwrap_or_default();
            assert!(!reason.contains("fit the cache"), "{all}: {row}");
        }
    }
}

#[test]
fn many_sizes_without_an_estimate_take_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let args = "curve - --format text --size 20,30..300:14 --sample";
    let (table, stderr, _) = sim(dir, &format!("{args} 2%"), &trace());
    assert_eq!(table.matches("n/a at").count(), 1, "{table}{stderr}");
    let (_, cure) = table.split_once("--sample ").unwrap();
    let share = cure.split_whitespace().next().unwrap();
    let (table, stderr, _) = sim(dir, &format!("{args} {share}"), &trace());
    assert!(!table.contains("fit the cache"), "{table}{stderr}");
}

#[test]
fn curves_of_policies_other_than_lru_are_their_sweeps() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (curve, stderr, _) = sim(
        dir,
        "curve - --format text --policy sieve --size 5,50 --csv",
        &trace(),
    );
    let (sweep, _, _) = sim(
        dir,
        "sweep - --format text --policy sieve --size 5,50 --csv",
        &trace(),
    );
    assert_eq!(curve, sweep, "{stderr}");
    assert_eq!(curve.lines().count(), 3);
}

/// Asserts that a page is well-formed, whole, and loads nothing.
fn page(dir: &Path, name: &str) -> String {
    let html = fs::read_to_string(dir.join(name)).unwrap();
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    let document = roxmltree::Document::parse_with_options(&html, options).unwrap();
    for node in document.descendants().filter(|n| n.is_element()) {
        let tag = node.tag_name().name();
        assert!(!["script", "link", "img", "iframe", "use"].contains(&tag));
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            assert!(name != "src" && (name != "href" || value.starts_with('#')));
        }
        if tag == "polyline" {
            let points = node.attribute("points").unwrap().split(' ');
            for point in points {
                let (x, y) = point.split_once(',').unwrap();
                let inside = |n: &str| n.parse::<f64>().is_ok_and(|n| (0.0..=800.0).contains(&n));
                assert!(inside(x) && inside(y), "{point}");
            }
        }
    }
    assert!(!html.contains("http:") && !html.contains("https:") && !html.contains("url("));
    html
}

/// Formats 12345 as 12,345.
fn with_commas(n: u64) -> String {
    let digits = n.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<&str> = groups.map(|g| std::str::from_utf8(g).unwrap()).collect();
    groups.join(",")
}

#[test]
fn pages_have_every_count_and_load_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("t&<b>.txt"), trace()).unwrap();
    for (command, lines) in [
        ("sweep t&<b>.txt --policy lru,opt,mglru --size 1%..50%:8", 6),
        ("run t&<b>.txt --policy mglru --size 10%", 0),
        ("compare t&<b>.txt --policy arc,mglru --size 1%,10%", 8),
        ("curve t&<b>.txt --policy lru,sieve --size 5,50", 4),
        ("curve t&<b>.txt --size 5,50,500", 2),
    ] {
        let (json, stderr, code) = sim(
            dir,
            &format!("{command} --json --report p.html --force"),
            "",
        );
        assert_eq!(code, Some(0), "{stderr}");
        let html = page(dir, "p.html");
        let json: Value = serde_json::from_str(&json).unwrap();
        let mut seen = 0;
        for row in json["rows"].as_array().unwrap() {
            let misses = with_commas(row["misses"].as_u64().unwrap());
            assert!(
                html.contains(&format!(">{misses}</span>")),
                "{command}: {misses}"
            );
            for (name, n) in row["counters"].as_object().into_iter().flatten() {
                let n = with_commas(n.as_u64().unwrap());
                assert!(html.contains(name) && html.contains(&format!(">{n}</span>")));
            }
            seen += 1;
        }
        assert!(seen > 0);
        // Drawn for wide and for narrow screens; keys are drawn with lines too.
        let drawn = html.split("class=\"chart").skip(1);
        let drawn: usize = drawn
            .map(|svg| {
                svg.split("</svg>")
                    .next()
                    .unwrap()
                    .matches("<polyline")
                    .count()
            })
            .sum();
        assert_eq!(drawn, lines, "{command}");
        let digest = json["trace"]["digest"].as_str().unwrap();
        assert!(html.contains(digest) && html.contains("t&amp;&lt;b&gt;"));
        assert!(html.contains("hotset sim "), "the command");
    }
}

#[test]
fn pages_mark_estimates() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("t.txt"), trace()).unwrap();
    for args in [
        "curve t.txt --sample 50% --size 50,100,400 --json --report s.html --force",
        "sweep t.txt --policy lru --size 20%,40% --memory 128K --jobs 1 --json --report s.html --force",
        "sweep t.txt --policy lru,arc --size 20%,40% --memory 128K --jobs 1 --json --report s.html --force",
    ] {
        let (json, stderr, _) = sim(dir, args, "");
        let json: Value = serde_json::from_str(&json).expect(&stderr);
        let html = page(dir, "s.html");
        for row in json["rows"].as_array().unwrap() {
            for end in row["miss_ratio_95"].as_array().unwrap() {
                assert!(html.contains(&format!("{:.6}", end.as_f64().unwrap())), "{end}");
            }
        }
        assert!(html.contains("class=\"interval") && html.contains("Estimates from"));
        assert!(!html.contains("is exact"));
    }
    let html = page(dir, "s.html");
    let sum = Command::new("sha256sum")
        .arg(dir.join("t.txt"))
        .output()
        .unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    assert!(html.contains(&sum[..64]));
}

#[test]
fn charts_of_many_policies_have_their_key_beside_them() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let args = "sweep - --format text --policy all --size 5,50,500 --plot p.svg --csv";
    let (_, stderr, code) = sim(dir, args, &trace());
    assert_eq!(code, Some(0), "{stderr}");
    let svg = fs::read_to_string(dir.join("p.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let view = document.root_element().attribute("viewBox").unwrap();
    let high: f64 = view.split(' ').nth(3).unwrap().parse().unwrap();
    let texts = document.descendants().filter(|n| n.has_tag_name("text"));
    let places: Vec<f64> = texts
        .map(|n| n.attribute("y").unwrap().parse().unwrap())
        .collect();
    assert!(places.iter().all(|&y| y < high), "{places:?} in {high}");
    assert!(
        svg.matches("round2").count() > 1,
        "two lines have the same style"
    );
}

#[test]
fn results_have_the_counts_of_left_out_requests() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(
        dir.join("t.csv"),
        "id,op\n1,read\n2,jump\n1,write\n3,read\n1,read\n",
    )
    .unwrap();
    let options = "--skip-bad --drop-writes --json --report p.html --force";
    for args in [
        "run t.csv --size 2",
        "curve t.csv --size 2",
        "compare t.csv --size 2",
    ] {
        let (json, stderr, code) = sim(dir, &format!("{args} {options}"), "");
        assert_eq!(code, Some(0), "{stderr}");
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["trace"]["malformed_left_out"], 1, "{args}");
        assert_eq!(json["trace"]["writes_left_out"], 1, "{args}");
        let html = fs::read_to_string(dir.join("p.html")).unwrap();
        assert!(html.contains("1 (the first: t.csv, line 3"), "{args}");
    }
    let (_, stderr, _) = sim(dir, "run no.csv --size 2", "");
    assert_eq!(stderr.matches("No such file").count(), 1, "{stderr}");
}
