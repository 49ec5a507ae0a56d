//! `hotset kernel`: the cache's list and its clearing, checks, and wrong options. No kernel is built.
use kbuild::patches::series;
use serde_json::{json, Value};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A cache of its own.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Bench {
        Bench(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn hotset(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hotset"));
        command
            .args(line.split_whitespace())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("HOTSET_KERNEL_DIR", kernel_dir());
        command
    }

    fn output(&self, line: &str) -> Output {
        self.hotset(line).output().unwrap()
    }

    /// A kernel in the cache, built from these patches.
    fn kernel(&self, key: &str, patches: &[&str], series_id: &str) -> PathBuf {
        let bed = series::load(&kernel_dir().join("testbed/7.3-um")).unwrap();
        let bed: Vec<String> = bed.into_iter().map(|patch| patch.name).collect();
        self.kernel_on(&bed, key, patches, series_id)
    }

    /// A kernel on these patches of a test bed.
    fn kernel_on(&self, bed: &[String], key: &str, patches: &[&str], series_id: &str) -> PathBuf {
        let dir = self.path("cache/hotset/kernel").join(key);
        fs::create_dir_all(&dir).unwrap();
        for name in ["linux", "config", "build.log"] {
            fs::write(dir.join(name), name).unwrap();
        }
        let meta = json!({
            "schema": 2, "key": key, "label": "7.3.4 + hotset series", "release": "7.3.4-hotset",
            "flavour": "series", "arch": "um", "variant": null, "version": "7.3.4", "source": "s",
            "compiler": "c", "bed": bed, "patches": patches, "series_id": series_id,
            "image_sha256": format!("{:x}", Sha256::digest("linux")), "built": 1, "seconds": 1,
        });
        fs::write(dir.join("meta.json"), meta.to_string()).unwrap();
        dir
    }
}

fn kernel_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernel")
}

fn status(output: &Output) -> i32 {
    let code = output.status.code();
    code.unwrap_or_else(|| panic!("{} {}", output.status, err(output)))
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_kernel_is_called_ours_only_with_our_patches() {
    let bench = Bench::new();
    let ours = series::load(&kernel_dir().join("series/7.3")).unwrap();
    let names: Vec<&str> = ours.iter().map(|patch| patch.name.as_str()).collect();
    bench.kernel("ours", &names, &series::id(&ours));
    bench.kernel("other", &["0001-le9uo.patch"], "000000000000");
    bench.kernel_on(&[], "unfair", &names, &series::id(&ours));
    let list = bench.output("kernel list --json");
    assert_eq!(status(&list), 0, "{}", err(&list));
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(list["schema"], "hotset.kernel.list.1");
    let label = |key: &str| {
        let kernels = list["kernels"].as_array().unwrap();
        let found = kernels.iter().find(|kernel| kernel["key"] == key).unwrap();
        found["label"].as_str().unwrap().to_string()
    };
    assert_eq!(label("ours"), "7.3.4 + hotset series");
    assert_eq!(label("unfair"), "7.3.4 + hotset series, another test bed");
    assert!(
        !label("other").contains("hotset series"),
        "{}",
        label("other")
    );
    assert!(
        label("other").contains("0001-le9uo.patch"),
        "{}",
        label("other")
    );
    let text = out(&bench.output("kernel list"));
    assert!(text.contains(&label("other")), "{text}");
    for line in text
        .lines()
        .filter(|line| !line.contains(&*kernel_dir().to_string_lossy()))
    {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn the_list_has_each_series_that_there_is() {
    let bench = Bench::new();
    let list = bench.output("kernel list --json");
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    let listed = list["series"].as_array().unwrap().iter();
    let mut listed: Vec<&str> = listed.map(|one| one["series"].as_str().unwrap()).collect();
    let mut there = Vec::new();
    for folder in ["series", "testbed"] {
        for entry in fs::read_dir(kernel_dir().join(folder)).unwrap() {
            there.push(entry.unwrap().file_name().into_string().unwrap());
        }
    }
    listed.sort_unstable();
    there.sort_unstable();
    assert_eq!(listed, there);
    let text = out(&bench.output("kernel list"));
    for name in there {
        assert!(text.contains(&format!("  {name} ")), "{text}");
    }
}

#[test]
fn a_full_standard_output_is_a_failure_and_nothing_is_removed() {
    let bench = Bench::new();
    let kernel = bench.kernel("old", &["0001-x.patch"], "0");
    for line in [
        "kernel list",
        "kernel list --json",
        "kernel clean",
        "kernel clean --json",
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = bench.hotset(line).stdout(full).output().unwrap();
        assert_eq!(status(&output), 3, "{line}: {}", err(&output));
        assert!(
            err(&output).starts_with("hotset: standard output"),
            "{}",
            err(&output)
        );
        assert!(
            kernel.join("linux").is_file(),
            "{line} removed what it could not name"
        );
    }
}

#[test]
fn what_is_removed_is_named() {
    let bench = Bench::new();
    let kernel = bench.kernel("old", &["0001-x.patch"], "0");
    let dry = bench.output("kernel clean --dry-run");
    assert!(out(&dry).contains("kernel/old"), "{}", out(&dry));
    assert!(kernel.is_dir());
    let json = bench.output("kernel clean --dry-run --json");
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (&json["schema"], &json["dry_run"]),
        (&"hotset.kernel.clean.1".into(), &true.into())
    );
    assert_eq!(json["items"][0]["path"], kernel.display().to_string());
    let clean = bench.output("kernel clean");
    assert_eq!(status(&clean), 0, "{}", err(&clean));
    assert!(out(&clean).contains("kernel/old"), "{}", out(&clean));
    assert!(!kernel.exists());
}

#[test]
fn verbose_names_the_cache() {
    let bench = Bench::new();
    let cache = bench.path("cache/hotset").display().to_string();
    for line in ["kernel list -v", "-v kernel clean --dry-run"] {
        assert!(err(&bench.output(line)).contains(&cache), "{line}");
        assert_eq!(err(&bench.output(&line.replace("-v", ""))), "", "{line}");
    }
}

#[test]
fn a_wrong_option_is_usage_and_the_nearest_name_is_suggested() {
    let bench = Bench::new();
    for (line, named) in [
        ("kernel fetch 7.2", "did you mean 7.3?"),
        ("kernel build 6.21", "did you mean 6.12?"),
        (
            "kernel build --series protction",
            "did you mean protection?",
        ),
        ("kernel build --arch x86-64", "did you mean x86_64?"),
        (
            "kernel build --arch x86_64 --variant debgu",
            "did you mean debug?",
        ),
        ("kernel build -j 0", "--jobs: 0 is out of range"),
        ("kernel build --series-dir /none", "/none"),
        ("kernel fetch 6.12.5", "write 6.12,"),
        ("kernel fetch v6.12", "write 6.12,"),
        ("kernel build 7.3.4 --vanilla", "write 7.3,"),
        ("kernel fetch --mirror foo", "--mirror: expected a URL"),
        (
            "kernel build --series both --series-dir .",
            "give one of the two",
        ),
        (
            "kernel check --series both --series-dir .",
            "give one of the two",
        ),
        ("kernel check --only 4..2", "--only: "),
        ("kernel check --only 70..", "its numbers are 1 to "),
    ] {
        let output = bench.output(line);
        assert_eq!(status(&output), 2, "{line}: {}", err(&output));
        assert!(err(&output).contains(named), "{line}: {}", err(&output));
    }
}

/// A patch that does not apply is an answer, no failure of the check.
#[test]
fn a_failed_check_ends_with_1() {
    let bench = Bench::new();
    for folder in ["tree/mm", "tree/scripts", "patches", "kernel/config"] {
        fs::create_dir_all(bench.path(folder)).unwrap();
    }
    let write = |name: &str, text: &str| fs::write(bench.path(name), text).unwrap();
    write(
        "tree/Makefile",
        "VERSION = 7\nPATCHLEVEL = 3\nSUBLEVEL = 4\nEXTRAVERSION =\n\
         allnoconfig:\n\t@cp $(KCONFIG_ALLCONFIG) $(O)/.config\n",
    );
    write("tree/mm/a.c", "a\n");
    write("kernel/config/um.config", "CONFIG_A=y\n");
    write(
        "patches/0001-one.patch",
        "Subject: x\n\n--- a/mm/a.c\n+++ b/mm/a.c\n@@ -1 +1 @@\n-b\n+c\n",
    );
    let check = |json: &str| {
        let mut command = bench.hotset("kernel check --arch um --no-boot --touched-only");
        command.args(json.split_whitespace());
        command.arg("--tree").arg(bench.path("tree"));
        command.arg("--series-dir").arg(bench.path("patches"));
        command.env("HOTSET_KERNEL_DIR", bench.path("kernel"));
        command.output().unwrap()
    };
    let text = check("");
    assert_eq!(status(&text), 1, "{} {}", out(&text), err(&text));
    assert!(out(&text).contains("FAILED"), "{}", out(&text));
    let json = check("--json");
    assert_eq!(status(&json), 1);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (&json["schema"], &json["good"]),
        (&"hotset.kernel.check.1".into(), &false.into())
    );
    let quiet = check("-q");
    assert_eq!((status(&quiet), err(&quiet).as_str()), (1, ""));
}
