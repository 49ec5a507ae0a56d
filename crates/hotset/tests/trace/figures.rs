//! What `hotset trace` says and writes, as a user runs it.
use super::{fails, works};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn a_generated_trace_survives_conversion_and_has_its_statistics() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    works(
        dir,
        "generate zipf --count 20e3 --objects 1e3 --alpha 1 --seed 1 z.oracleGeneral.bin",
    );
    let written = fs::read(dir.join("z.oracleGeneral.bin")).unwrap();
    assert_eq!(written.len(), 20_000 * 24);
    let mut last = "z.oracleGeneral.bin".to_string();
    for (to, requests) in [
        ("z.csv.gz", 20_000),
        ("z.csv.zst", 20_000),
        ("z.bin", 20_000),
    ] {
        let (summary, _) = works(dir, &format!("convert {last} {to} --json"));
        let summary: Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(summary["requests"], requests);
        last = to.to_string();
    }
    // Back to the first format, with the next accesses computed anew.
    assert!(fs::read(dir.join("z.bin")).unwrap() == written);
    let (text, _) = works(dir, "convert z.bin - --count 3");
    assert_eq!(text.lines().count(), 3);
    fs::write(dir.join("near.txt"), "5\n6\n5\n7\n6\n8\n5\n").unwrap();
    works(dir, "convert near.txt - --near 1e3");
    let (text, _) = works(dir, "convert near.txt - --near 2");
    assert_eq!(text, "5\n6\n7\n6\n8\n5\n");

    let (json, stderr) = works(dir, "info z.csv.gz --json --plot plots");
    let info: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(info["requests"], 20_000);
    let alpha = info["popularity"]["zipf"]["alpha"].as_f64().unwrap();
    assert!((alpha - 1.0).abs() < 0.1, "{alpha}");
    let distinct = info["objects"].as_u64().unwrap();
    assert_eq!(
        info["reuse_distance"]["count"].as_u64().unwrap(),
        20_000 - distinct
    );
    for name in ["popularity", "reuse-time", "lru"] {
        let file = format!("plots/z.csv.gz-{name}.svg");
        assert!(stderr.contains(&file), "{stderr}");
        let svg = fs::read_to_string(dir.join(file)).unwrap();
        let parsed = roxmltree::Document::parse(&svg).unwrap();
        let lines = parsed.descendants().filter(|n| n.has_tag_name("polyline"));
        let points = lines.map(|l| l.attribute("points").unwrap().split(' ').count());
        assert!(points.sum::<usize>() > 5, "{name}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
    }
    let (args, _) = works(dir, "info z.bin");
    assert!(args.contains("requests               20000\n"), "{args}");
}

#[test]
fn a_loop_has_the_statistics_of_a_loop() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    works(dir, "generate loop --objects 100 --count 1e3 l.txt");
    let (json, _) = works(dir, "info l.txt --json");
    let info: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(info["objects"], 100);
    assert_eq!(info["compulsory_miss_ratio"], 0.1);
    assert_eq!(info["popularity"]["one_hit_wonders"], 0);
    assert_eq!(info["reuse_time"]["quantiles"]["0.5"], 100);
    assert_eq!(info["reuse_distance"]["quantiles"]["0.01"], 100);
    assert_eq!(info["lru"][4]["misses"], 1000);
    assert_eq!(info["popularity"]["top"][2]["share"], 0.1);
}

#[test]
fn every_rule_makes_a_trace() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for rule in [
        "zipf --objects 10",
        "self-similar",
        "uniform --objects 2_000",
        "scan",
        "loop",
        "two-pool --first 10 --second 1e3",
        "markov --phases 3 --objects 50 --mean 1e3 --overlap 0.5",
        "mix --objects 20e3",
        "mix --part 0.7:zipf,objects=1e3,alpha=0.9 --part 0.3:markov,phases=2,mean=10 --burst 5",
    ] {
        let (text, stderr) = works(dir, &format!("generate {rule} --count 5e3 --seed 3 -"));
        assert_eq!(text.lines().count(), 5000, "{rule}");
        assert!(text
            .lines()
            .all(|line| line.parse::<u32>().is_ok_and(|n| n > 0)));
        assert!(stderr.contains("5000 requests as text"), "{stderr}");
    }
}

#[test]
fn left_out_requests_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("a.spc"), "0,8,512,R,0\nbad\n0,16,512,W,1\n").unwrap();
    let (_, stderr) = works(dir, "convert a.spc a.txt --skip-bad --drop-writes");
    assert!(
        stderr.contains("left out 1 malformed; the first: a.spc, line 2: expected"),
        "{stderr}"
    );
    assert!(
        stderr.contains("1 requests, spc to text, 1 writes left out"),
        "{stderr}"
    );
    assert_eq!(fs::read_to_string(dir.join("a.txt")).unwrap(), "1\n");
    let (args, _) = works(dir, "info a.spc --skip-bad");
    assert!(args.contains("malformed, left out    1\n"), "{args}");
    assert!(args.contains("writes                 1 (50 %)"), "{args}");
}

#[test]
fn a_trace_is_converted_from_standard_input_to_standard_output() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    command
        .args(["trace", "convert", "-", "-", "--to", "csv"])
        .current_dir(dir.path());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    // A few bytes at first, as from a pipe.
    for piece in ["I", "  0400", "1000,3\n", " S 5000,8\n"] {
        input.write_all(piece.as_bytes()).unwrap();
        input.flush().unwrap();
    }
    drop(input);
    let out = child.wait_with_output().unwrap();
    let expected = "id,size,op,kind,via\n16385,4096,read,file,exec\n5,4096,write,anon,mapped\n";
    assert_eq!(String::from_utf8(out.stdout).unwrap(), expected);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// A wrong command line, its exit status, and what the message must have.
const WRONG: &[(&str, i32, &str)] = &[
    ("info none.txt", 3, "none.txt"),
    ("info a.txt", 3, "a.txt line 2 --names x"),
    ("info a.txt --format tar", 2, "--format tar text"),
    ("info a.txt --format txt", 2, "--format txt text?"),
    ("info page.html", 3, "page.html HTML --format text"),
    ("info page.csv", 3, "page.csv HTML --format text"),
    ("info binary", 3, "binary --format text"),
    (
        "info a.txt --page-size 5000",
        2,
        "--page-size 5000 power 2G",
    ),
    ("info a.txt --page-size 0", 2, "--page-size 0 1 2G"),
    ("info a.txt --block-size 0", 2, "--block-size 0 1 2G"),
    ("info a.txt --report -", 2, "--report -"),
    ("info a.txt --report x.svg", 2, "--report x.svg .html"),
    ("info a.txt --plot -", 2, "--plot - folder"),
    ("convert a.txt c.txt --near 1025", 2, "--near 1025 1024"),
    ("convert a.txt c.txt --near 1.5", 2, "--near 1.5"),
    ("generate zipf --alpha -1 z.txt", 2, "--alpha -1 range"),
    ("generate zipf --seed -1 z.txt", 2, "--seed -1 number"),
    ("info a.txt --report no/such.html", 3, "no/such.html"),
    ("info a.txt --formt text", 2, "--formt --format"),
    ("inf a.txt", 2, "inf info"),
    ("convert w.spc c.txt --drop-writes", 3, "w.spc spc"),
    ("convert a.txt b", 2, "b: .txt --to"),
    (
        "convert a.txt b.spc --page-size 256",
        2,
        "--page-size 256 512",
    ),
    ("convert a.txt c.txt --near 0", 2, "--near 0 1 1024"),
    ("generate zipf --count 10x z.txt", 2, "--count 10x"),
    ("generate zipf --count 0 z.txt", 2, "--count 0 1"),
    ("generate zipf --alpha x z.txt", 2, "--alpha x number"),
    ("generate zipf --alpha 101 z.txt", 2, "--alpha 101 0 100"),
    (
        "generate zipf --objects 0 z.txt",
        2,
        "--objects 0 4294967294",
    ),
    ("generate mix --part zipf z.txt", 2, "--part WEIGHT:RULE"),
    ("generate mix --part 1:zip z.txt", 2, "--part zip zipf?"),
    (
        "generate mix --part 1:zipf,alfa=2 z.txt",
        2,
        "--part alfa alpha?",
    ),
    (
        "generate mix --part 1:zipf,alpha=a z.txt",
        2,
        "--part alpha a",
    ),
    (
        "generate mix --part 1:zipf,alpha=101 z.txt",
        2,
        "--part alpha 101",
    ),
    ("generate mix --part 0:scan z.txt", 2, "--part weight 0"),
    ("generate loop --objects 10 no/z.txt", 3, "no/z.txt"),
];

#[test]
fn errors_name_the_mistake() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("a.txt"), "1\nx\n").unwrap();
    fs::write(dir.join("w.spc"), "0,8,512,W,0\n").unwrap();
    fs::write(dir.join("page.html"), "<!DOCTYPE html>\n<p>404</p>\n").unwrap();
    fs::write(dir.join("page.csv"), "\n<html>\n").unwrap();
    fs::write(dir.join("binary"), [0u8, 1, 2, 3, 9]).unwrap();
    for &(args, status, parts) in WRONG {
        let found = fails(dir, args, status);
        assert!(found.starts_with("hotset: "), "{args}: {found}");
        for part in parts.split(' ') {
            assert!(found.contains(part), "{args}: {part}: {found}");
        }
        for jargon in [
            "os error",
            "literal",
            "u64",
            "invalid digit",
            "1..",
            "usize",
        ] {
            assert!(!found.contains(jargon), "{args}: {found}");
        }
    }
    assert_eq!(fs::read_dir(dir).unwrap().count(), 5);
}

/// clap takes an option of another command for a value, and its advice leads nowhere.
#[test]
fn no_tip_leads_astray() {
    let dir = tempfile::tempdir().unwrap();
    for args in ["info my.txt --csv", "generate zipf -1 z.txt"] {
        let found = fails(dir.path(), args, 2);
        assert!(!found.contains("-- -"), "{found}");
    }
}

#[test]
fn the_format_that_a_trace_was_read_as_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("plain"), "1\n2\n1\n").unwrap();
    fs::write(dir.join("a.csv"), "id\n1\n2\n").unwrap();
    for (args, format, from) in [
        ("info plain", "text", "contents"),
        ("info a.csv", "csv", "name"),
        ("info a.csv --format text --names strings", "text", "option"),
    ] {
        let (json, _) = works(dir, &format!("{args} --json"));
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["schema"], "hotset.trace.info.1");
        assert_eq!(
            (&json["format"], &json["format_from"]),
            (&format.into(), &from.into())
        );
        let (text, _) = works(dir, args);
        let line = text.lines().find(|line| line.contains("format")).unwrap();
        assert!(line.contains(format) && line.contains(from), "{line}");
    }
    let (json, _) = works(dir, "info a.csv --json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        json["name"], "a.csv",
        "the whole name: a.bin is another trace"
    );
}

#[test]
fn summaries_are_where_the_trace_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let parsed = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let (stdout, _) = works(dir, "generate scan --count 3 s.txt --json --seed 9");
    let wanted = serde_json::json!({
        "schema": "hotset.trace.generate.1", "output": "s.txt", "to": "text", "rule": "scan", "seed": 9,
        "requests": 3,
    });
    assert_eq!(parsed(&stdout), wanted);
    assert!(stdout.starts_with("{\"schema\":"), "{stdout}");
    let (stdout, stderr) = works(dir, "generate scan --count 3 - --json");
    assert_eq!(
        (stdout.as_str(), &parsed(&stderr)["output"]),
        ("1\n2\n3\n", &"-".into())
    );
    let (stdout, _) = works(dir, "convert s.txt s.csv --json");
    let wanted = serde_json::json!({
        "schema": "hotset.trace.convert.1", "input": "s.txt", "output": "s.csv", "from": "text",
        "to": "csv", "requests": 3, "skipped": { "malformed": 0, "first": null, "writes": 0 },
        "lost": { "operations": 0, "kinds": 0, "times": 0, "sizes": 0, "names": 0 },
    });
    assert_eq!(parsed(&stdout), wanted);
    let (stdout, stderr) = works(dir, "convert s.txt - --json");
    assert_eq!(
        (stdout.as_str(), &parsed(&stderr)["from"]),
        ("1\n2\n3\n", &"text".into())
    );
}

#[test]
fn the_page_of_a_trace_has_the_figures_and_charts() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    works(
        dir,
        "generate zipf --count 20e3 --objects 1e3 --seed 1 z.txt",
    );
    let (json, said) = works(dir, "info z.txt --json --report z.html");
    assert_eq!(said, "hotset: z.html\n");
    let json: Value = serde_json::from_str(&json).unwrap();
    let html = fs::read_to_string(dir.join("z.html")).unwrap();
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    let page = roxmltree::Document::parse_with_options(&html, options).unwrap();
    let charts = page
        .descendants()
        .filter(|n| n.attribute("class") == Some("chart"));
    let lines = charts.map(|c| {
        c.descendants()
            .filter(|n| n.has_tag_name("polyline"))
            .count()
    });
    assert_eq!(lines.collect::<Vec<_>>(), [2, 1, 1]);
    for cell in json["lru"].as_array().unwrap() {
        let misses = cell["misses"].as_u64().unwrap();
        let shown = format!("{},{:03}", misses / 1000, misses % 1000);
        assert!(html.contains(&format!(">{shown}<")), "{shown}");
    }
    assert!(html.contains("20,000 requests") && !html.contains("http:"));
    assert!(html.contains("hotset trace info z.txt --json --report z.html"));
}
