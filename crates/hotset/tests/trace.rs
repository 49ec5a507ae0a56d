//! `hotset trace` as a user runs it.
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn hotset(dir: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
    command
        .current_dir(dir)
        .arg("trace")
        .args(words.split_whitespace());
    command.output().unwrap()
}

/// What it said on standard output and on standard error.
fn works(dir: &Path, words: &str) -> (String, String) {
    let out = hotset(dir, words);
    let said = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert!(out.status.success(), "{words}: {}", said(&out.stderr));
    (said(&out.stdout), said(&out.stderr))
}

fn fails(dir: &Path, words: &str) -> String {
    let out = hotset(dir, words);
    assert_eq!(out.status.code(), Some(2), "{words}");
    String::from_utf8(out.stderr).unwrap()
}

#[test]
fn generated_converted_and_told_of() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    works(
        dir,
        "generate zipf --requests 20k --objects 1k --alpha 1 --seed 1 z.oracleGeneral.bin",
    );
    let written = fs::read(dir.join("z.oracleGeneral.bin")).unwrap();
    assert_eq!(written.len(), 20_000 * 24);
    let mut last = "z.oracleGeneral.bin".to_string();
    for (to, requests) in [
        ("z.csv.gz", 20_000),
        ("z.csv.zst", 20_000),
        ("z.bin", 20_000),
    ] {
        let (_, said) = works(dir, &format!("convert {last} {to} --json"));
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["requests"], requests);
        last = to.to_string();
    }
    // There and back again, with the next accesses computed anew.
    assert!(fs::read(dir.join("z.bin")).unwrap() == written);
    let (text, _) = works(dir, "convert z.bin - --limit 3");
    assert_eq!(text.lines().count(), 3);
    fs::write(dir.join("near.txt"), "5\n6\n5\n7\n6\n8\n5\n").unwrap();
    let (text, _) = works(dir, "convert near.txt - --near 2");
    assert_eq!(text, "5\n6\n7\n6\n8\n5\n");

    let (json, said) = works(dir, "info z.csv.gz --json --plots plots");
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
        let file = format!("plots/z-{name}.svg");
        assert!(said.contains(&file), "{said}");
        let svg = fs::read_to_string(dir.join(file)).unwrap();
        let parsed = roxmltree::Document::parse(&svg).unwrap();
        let lines = parsed.descendants().filter(|n| n.has_tag_name("polyline"));
        let points = lines.map(|l| l.attribute("points").unwrap().split(' ').count());
        assert!(points.sum::<usize>() > 5, "{name}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
    }
    let (words, _) = works(dir, "info z.bin");
    assert!(words.contains("requests               20000\n"), "{words}");
}

#[test]
fn a_loop_in_figures() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    works(dir, "generate loop --objects 100 --requests 1k l.txt");
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
        "two-pool --first 10 --second 1k",
        "markov --phases 3 --objects 50 --mean 1k --overlap 0.5",
        "mix --objects 20k",
        "mix --part 0.7:zipf,objects=1k,alpha=0.9 --part 0.3:markov,phases=2,mean=10 --burst 5",
    ] {
        let (text, said) = works(dir, &format!("generate {rule} --requests 5k --seed 3 -"));
        assert_eq!(text.lines().count(), 5000, "{rule}");
        assert!(text
            .lines()
            .all(|line| line.parse::<u32>().is_ok_and(|n| n > 0)));
        assert!(said.contains("5000 requests as text"), "{said}");
    }
}

#[test]
fn what_is_left_out_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("a.spc"), "0,8,512,R,0\nbad\n0,16,512,W,1\n").unwrap();
    let (_, said) = works(dir, "convert a.spc a.txt --skip-bad --drop-writes");
    assert!(
        said.contains("left out 1 malformed; the first: a.spc, line 2: expected"),
        "{said}"
    );
    assert!(
        said.contains("1 requests, spc to text, 1 writes left out"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(dir.join("a.txt")).unwrap(), "1\n");
    let (words, _) = works(dir, "info a.spc --skip-bad");
    assert!(words.contains("malformed, left out    1\n"), "{words}");
    assert!(words.contains("writes                 1 (50 %)"), "{words}");
}

#[test]
fn standard_input_and_output() {
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
    // A few bytes at first, as pipes have it.
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

#[test]
fn mistakes_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("a.txt"), "1\nx\n").unwrap();
    fs::write(dir.join("w.spc"), "0,8,512,W,0\n").unwrap();
    for (words, said) in [
        ("info none.txt", "none.txt: No such file"),
        (
            "info a.txt",
            "a.txt, line 2: expected the number of an object",
        ),
        ("info a.txt --format tar", "there is no format tar"),
        ("info a.txt --page-size 5000", "a power of two"),
        (
            "convert w.spc c.txt --drop-writes",
            "w.spc: no request to write, read as spc",
        ),
        ("convert a.txt b", "b: which format?"),
        (
            "convert a.txt b.spc --page-size 256",
            "an SPC block has 512",
        ),
        ("generate zipf --requests 10x z.txt", "a count such as"),
        ("generate zipf --requests 0 z.txt", "no trace"),
        ("generate zipf --alpha 101 z.txt", "alpha 101: 0 to 100"),
        ("generate mix --part zipf z.txt", "WEIGHT:RULE"),
        ("generate mix --part 1:zipf,beta=2 z.txt", "no such option"),
        ("generate loop --objects 10 no/z.txt", "no/z.txt"),
    ] {
        let found = fails(dir, words);
        assert!(found.contains(said), "{words}: {found}");
    }
    assert!(!dir.join("b").exists() && fs::read_dir(dir).unwrap().count() == 2);
}

#[test]
fn its_page_has_the_figures_and_charts() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    works(
        dir,
        "generate zipf --requests 20k --objects 1k --seed 1 z.txt",
    );
    let (json, _) = works(dir, "info z.txt --json --report z.html");
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
        let told = format!("{},{:03}", misses / 1000, misses % 1000);
        assert!(html.contains(&format!(">{told}<")), "{told}");
    }
    assert!(html.contains("20,000 requests") && !html.contains("http:"));
    assert!(html.contains("hotset trace info z.txt --json --report z.html"));
    let said = fails(dir, "info z.txt --report no/such.html");
    assert!(said.contains("no/such.html"), "{said}");
}
