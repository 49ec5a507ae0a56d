//! Engines that are not here. tests/engines has those that are.
use crate::bed::{campaign, folder, json, text};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the campaign where no program of an engine is.
fn without(dir: &Path, args: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hotset"))
        .current_dir(dir)
        .env("PATH", dir)
        .args(["sim", "campaign", "run", "c.toml"])
        .args(args.split_whitespace())
        .output()
        .unwrap()
}

#[test]
fn an_engine_without_its_programs_is_named() {
    let dir = folder();
    let dir = dir.path();
    for (engine, program) in [
        ("slurm", "squeue"),
        ("hyperqueue", "hq"),
        ("parallel", "parallel"),
    ] {
        let done = without(dir, &format!("-o out --on {engine}"));
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{engine}: {said}");
        let named = format!("--on {engine}: there is no program {program} here");
        assert!(said.contains(&named), "{engine}: {said}");
    }
    // Nothing was begun, so that the campaign can go on here.
    assert_eq!(json(dir, "status out", 0)["waiting"], 7);
    assert_eq!(json(dir, "run c.toml -o out", 0)["done"], 7);
}

#[test]
fn jobs_for_kubernetes_are_written_also_where_kubectl_is_missing() {
    let dir = folder();
    let dir = dir.path();
    let pods = "--on kubernetes --image registry.example/hotset --volume traces:/data";
    let done = without(dir, &format!("-o out {pods} -j 3"));
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("is written, and not applied"), "{said}");
    let files = fs::read_dir(dir.join("out/engine")).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    let job: serde_json::Value = serde_json::from_slice(&fs::read(&files[0]).unwrap()).unwrap();
    let elements = job["spec"]["completions"].as_u64().unwrap();
    let list = fs::read_to_string(files[0].with_extension("tasks")).unwrap();
    assert_eq!(list.lines().count() as u64, elements);
    // Each element runs by the words of the Job, and a second time does nothing.
    for element in (0..elements).chain(0..elements) {
        let words = job["spec"]["template"]["spec"]["containers"][0]["command"].as_array();
        let words = words.unwrap().iter().map(|word| word.as_str().unwrap());
        let words = words.map(|word| word.replace("$(ELEMENT)", &element.to_string()));
        let words: Vec<String> = words.collect();
        assert_eq!(&words[..3], ["hotset", "sim", "campaign"]);
        assert!(campaign(dir, &words[3..].join(" ")).status.success());
    }
    assert!(campaign(dir, "merge out").status.success());
    assert_eq!(json(dir, "status out", 0)["done"], 7);
}

#[test]
fn options_of_another_engine_are_refused() {
    let dir = folder();
    for (args, named) in [
        ("--on slurm --jobs 3", "this engine itself decides"),
        ("--on slurm --image a", "they are for --on kubernetes"),
        ("--on kubernetes --volume a:/b", "--image names the image"),
        ("--on kubernetes --image a", "--volume names the claim"),
        (
            "--on kubernetes --image a --volume b",
            "expected CLAIM:PATH",
        ),
        ("--with=--partition=short", "--on"),
        ("--on pbs", "slurm"),
    ] {
        let done = campaign(dir.path(), &format!("run c.toml -o out {args}"));
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{args}: {said}");
        assert!(said.contains(named), "{args}: {said}");
    }
    assert!(!dir.path().join("out").exists());
}

#[test]
fn gnu_parallel_takes_a_folder_by_any_name() {
    let Ok(about) = Command::new("parallel").arg("--version").output() else {
        eprintln!("skipped: GNU parallel is not here");
        return;
    };
    assert!(text(&about.stdout).starts_with("GNU parallel"));
    let dir = folder();
    let dir = dir.path();
    let name = "o 3;touch bad;{}'$(touch bad)";
    let done = Command::new(env!("CARGO_BIN_EXE_hotset"))
        .current_dir(dir)
        .args(["sim", "campaign", "run", "c.toml", "--on", "parallel"])
        .args(["-o", name])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(dir.join(name).join("results.parquet").exists());
    assert!(!dir.join("bad").exists());
}
