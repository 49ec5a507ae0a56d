//! `hotset sim` as a user runs it.
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn sim(dir: &Path, words: &str, input: &str) -> (String, String, Option<i32>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hotset"))
        .current_dir(dir)
        .arg("sim")
        .args(words.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // What does not want it closes it unread.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let out = child.wait_with_output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (said(&out.stdout), said(&out.stderr), out.status.code())
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
        let words = format!("sweep - --format text {sweep} --shard {part}/3");
        let (json, _, _) = sim(dir, &words, &trace());
        fs::write(dir.join(format!("{part}.json")), json).unwrap();
    }
    let (merged, _, code) = sim(dir, "merge 3.json 1.json 2.json --json --plot m.svg", "");
    assert_eq!(code, Some(0));
    assert_eq!(serde_json::from_str::<Value>(&merged).unwrap(), whole);
    assert!(fs::read_to_string(dir.join("m.svg"))
        .unwrap()
        .contains("<polyline"));
    let (_, said, code) = sim(dir, "merge 1.json 3.json", "");
    assert_ne!(code, Some(0));
    assert!(said.contains("8 of 24 jobs are missing"), "{said}");
}

#[test]
fn what_does_not_fit_is_estimated_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let words = "sweep - --format text --policy lru --size 10% --threads 1";
    let (csv, said, _) = sim(dir, &format!("{words} --csv"), &trace());
    assert!(
        csv.starts_with("trace,policy,size,requests,misses,miss_ratio\n"),
        "{csv}"
    );
    assert!(!said.contains("ESTIMATES"), "{said}");
    let (csv, said, code) = sim(dir, &format!("{words} --csv --memory 64Ki"), &trace());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("ESTIMATES"), "{said}");
    assert!(
        csv.lines().next().unwrap().ends_with(",misses_error_95"),
        "{csv}"
    );
    let (_, said, code) = sim(dir, "curve - --policy arc --sample 1%", "");
    assert_eq!(code, Some(2), "{said}");
}

#[test]
fn curves_of_others_are_their_sweeps() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (curve, said, _) = sim(
        dir,
        "curve - --format text --policy sieve --size 5,50 --csv",
        &trace(),
    );
    let (sweep, _, _) = sim(
        dir,
        "sweep - --format text --policy sieve --size 5,50 --csv",
        &trace(),
    );
    assert_eq!(curve, sweep, "{said}");
    assert_eq!(curve.lines().count(), 3);
}

/// What a page must be whatever it shows: well-formed, whole, and of nothing from elsewhere.
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

/// 12,345 of 12345.
fn with_commas(n: u64) -> String {
    let digits = n.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<&str> = groups.map(|g| std::str::from_utf8(g).unwrap()).collect();
    groups.join(",")
}

#[test]
fn pages_have_every_count_and_need_nothing_else() {
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
        let (json, said, code) = sim(dir, &format!("{command} --json --report p.html"), "");
        assert_eq!(code, Some(0), "{said}");
        let html = page(dir, "p.html");
        let json: Value = serde_json::from_str(&json).unwrap();
        let rows = ["rows", "policies", "points"].iter();
        let rows = rows.filter_map(|name| json[*name].as_array()).flatten();
        let mut seen = 0;
        for row in rows {
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
fn pages_say_what_is_estimated() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("t.txt"), trace()).unwrap();
    let words = "curve t.txt --sample 50% --size 50,100,400 --json --report s.html";
    let (json, said, _) = sim(dir, words, "");
    let json: Value = serde_json::from_str(&json).expect(&said);
    let html = page(dir, "s.html");
    for point in json["points"].as_array().unwrap() {
        let error = point["error_95"].as_f64().unwrap();
        assert!(html.contains(&format!("± {error:.6}")), "{error}");
    }
    assert!(html.contains("class=\"interval") && html.contains("Estimates from 50%"));
    let words = "sweep t.txt --policy lru --size 5%,10% --memory 64Ki --json --report m.html";
    let (json, said, _) = sim(dir, words, "");
    let json: Value = serde_json::from_str(&json).expect(&said);
    let html = page(dir, "m.html");
    let error = json["rows"][0]["misses_error_95"].as_u64().unwrap();
    assert!(html.contains(&format!("± {}", with_commas(error))));
    assert!(html.contains("Estimates from one object in") && !html.contains("is exact"));
    let sum = Command::new("sha256sum")
        .arg(dir.join("t.txt"))
        .output()
        .unwrap();
    let sum = String::from_utf8(sum.stdout).unwrap();
    assert!(html.contains(&sum[..64]));
    let (_, said, code) = sim(dir, "run t.txt --size 10% --report no/such/folder.html", "");
    assert!(said.contains("no/such/folder.html"), "{said}");
    assert_eq!(code, Some(2));
}

#[test]
fn charts_of_many_policies_have_their_key_beside_them() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let words = "sweep - --format text --policy all --size 5,50,500 --plot p.svg --csv";
    let (_, said, code) = sim(dir, words, &trace());
    assert_eq!(code, Some(0), "{said}");
    let svg = fs::read_to_string(dir.join("p.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let view = document.root_element().attribute("viewBox").unwrap();
    let high: f64 = view.split(' ').nth(3).unwrap().parse().unwrap();
    let texts = document.descendants().filter(|n| n.has_tag_name("text"));
    let places: Vec<f64> = texts
        .map(|n| n.attribute("y").unwrap().parse().unwrap())
        .collect();
    assert!(places.iter().all(|&y| y < high), "{places:?} in {high}");
    assert!(svg.matches("round2").count() > 1, "no two lines look alike");
}

#[test]
fn results_say_how_much_of_the_file_is_not_in_them() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(
        dir.join("t.csv"),
        "id,op\n1,read\n2,jump\n1,write\n3,read\n1,read\n",
    )
    .unwrap();
    let options = "--skip-bad --drop-writes --json --report p.html";
    for words in [
        "run t.csv --size 2",
        "curve t.csv --size 2",
        "compare t.csv --size 2",
    ] {
        let (json, said, code) = sim(dir, &format!("{words} {options}"), "");
        assert_eq!(code, Some(0), "{said}");
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["trace"]["malformed_left_out"], 1, "{words}");
        assert_eq!(json["trace"]["writes_left_out"], 1, "{words}");
        let html = fs::read_to_string(dir.join("p.html")).unwrap();
        assert!(html.contains("1 (the first: t.csv, line 3"), "{words}");
    }
    let (_, said, _) = sim(dir, "run no.csv --size 2", "");
    assert_eq!(said.matches("No such file").count(), 1, "{said}");
}
