//! Every count of shared/sim/misses.csv, to the last miss. The traces are in that folder too, but for
//! zipf, which is generated.
use sim::registry::Choice;
use sim::{run, sample, Input};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder, or none: then the test says so, loudly.
fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("HOTSET_SHARED_SIM").map(PathBuf::from);
    let below = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|up| up.join("shared/sim"));
    named
        .into_iter()
        .chain(below)
        .chain([PathBuf::from("/work/shared/sim")])
        .find(|folder| folder.join("misses.csv").is_file())
}

/// How this project names what the table's first column calls it.
fn choice<'a>(trace: &str, policy: &'a str) -> &'a str {
    match policy {
        // On zipf the count is libCacheSim's, whose order differs; on sprite it is the paper's.
        "2q" if trace == "zipf" => "2q:recall=before",
        "belady" => "opt",
        "opt-bypass" => "opt:bypass=true",
        "lru-2(retain)" => "lru-k",
        "lru-2(no-retain)" => "lru-k:retain=false",
        "s3fifo-thr2" => "s3-fifo",
        "s3fifo-thr1" => "s3-fifo:threshold=1",
        "lirs-ghost2" => "lirs:history=2",
        "lirs-ghost1" => "lirs:history=1",
        "lirs-unbounded" => "lirs:history=0",
        same => same,
    }
}

fn load(folder: &Path, name: &str) -> (Vec<u32>, usize) {
    if name == "zipf" {
        return sample::zipf();
    }
    let file = ["oracleGeneral.bin.zst", "trace.zst"]
        .map(|ending| folder.join(format!("{name}.{ending}")))
        .into_iter()
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("no trace {name} in {}", folder.display()));
    let options = trace::ReadOptions {
        // The README: stop at a line that is no number.
        skip_bad: true,
        ..Default::default()
    };
    let trace = trace::open(&file, &options).unwrap_or_else(|error| panic!("{error}"));
    (trace.ids, trace.objects as usize)
}

#[test]
fn misses_are_the_published_ones() {
    let Some(folder) = folder() else {
        // Not eprintln: the harness would keep it to itself.
        let _ = writeln!(
            std::io::stderr(),
            "LEFT OUT: there is no shared/sim/misses.csv; HOTSET_SHARED_SIM names its folder"
        );
        return;
    };
    let table = std::fs::read_to_string(folder.join("misses.csv")).expect("misses.csv");
    let mut rows: BTreeMap<&str, Vec<(&str, u64, u64, u64)>> = BTreeMap::new();
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [trace, policy, size, requests, misses] = fields[..] else {
            panic!("misses.csv: {line:?} has not five fields");
        };
        let number = |text: &str| text.parse().expect("a number");
        rows.entry(trace).or_default().push((
            policy.trim_end_matches(" [reference]"),
            number(size),
            number(requests),
            number(misses),
        ));
    }
    let mut wrong = Vec::new();
    let mut right = 0;
    for (name, rows) in rows {
        let (ids, objects) = load(&folder, name);
        let input = Input::new(&ids, objects).expect("a trace");
        for (policy, size, requests, misses) in rows {
            assert_eq!(ids.len() as u64, requests, "{name}: requests");
            let ours = Choice::parse(choice(name, policy))
                .and_then(|choice| choice.build(&input, size))
                .map(|mut policy| run(policy.as_mut(), &input, &mut |_| {}).misses);
            match ours {
                Ok(ours) if ours == misses => right += 1,
                ours => wrong.push(format!("{name} {policy} {size}: {misses}, ours {ours:?}")),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{right} right; wrong:\n{}",
        wrong.join("\n")
    );
}
