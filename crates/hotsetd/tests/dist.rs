//! The installed files agree with the code: the configuration, the man pages, `make install`.
use hotsetd::config::row::ANY;
use hotsetd::config::{file, keys};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(top().join(path)).unwrap()
}

fn run(command: &mut Command) -> String {
    let done = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {text}");
    text
}

#[test]
fn the_configuration_shows_the_defaults() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hotsetd.conf");
    let text = read("dist/systemd/hotsetd.conf");
    std::fs::write(&path, &text).unwrap();
    let as_it_is = file::load(&file::Place::named(&path)).unwrap();
    assert_eq!(as_it_is, hotsetd::config::settings::Config::default());
    // Each setting that is commented out is valid, and is the default.
    let settings = text.lines().map(|line| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') && rest.contains(" = ") && !rest.starts_with('"') => {
            rest
        }
        _ => line,
    });
    let settings: Vec<_> = settings.collect();
    std::fs::write(&path, settings.join("\n")).unwrap();
    let spelled_out =
        file::load(&file::Place::named(&path)).unwrap_or_else(|wrong| panic!("{wrong:#?}"));
    assert_eq!(spelled_out, as_it_is);
}

/// Every setting of the table is named in the man page.
#[test]
fn the_man_page_names_every_setting() {
    let page = read("dist/man/hotsetd.conf.5");
    let letter = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let names: BTreeSet<_> = page.split(|other| !letter(other)).collect();
    for key in keys::all() {
        let parts = key.section.split('.').chain([key.name]);
        for name in parts.filter(|name| !name.is_empty() && *name != ANY) {
            assert!(names.contains(name), "{name} is not in hotsetd.conf.5");
        }
    }
}

#[test]
fn the_man_page_names_every_option() {
    let page = read("dist/man/hotsetd.8").replace("\\-", "-");
    for line in hotsetd::config::cli::HELP.lines() {
        let options = line
            .split_whitespace()
            .map(|word| word.trim_end_matches(','));
        for option in options.filter(|word| word.starts_with('-')) {
            assert!(page.contains(option), "{option} is not in hotsetd.8");
        }
    }
}

/// Every path below the prefix and every page of the guide that a text names is installed.
fn assert_installed(text: &str, dest: &Path) {
    let separators = |letter: char| letter.is_whitespace() || "\",()".contains(letter);
    let words = text.split(separators).map(|word| word.replace("\\-", "-"));
    let mut named = 0;
    for word in words {
        let path = word
            .trim_start_matches("file://")
            .trim_end_matches(['.', ',']);
        let path = path.rsplit_once('=').map_or(path, |(_, path)| path);
        assert!(!path.starts_with("/usr/s"), "{path} does not follow PREFIX");
        assert!(!path.starts_with("docs/"), "{path} is not installed");
        if let Some(below) = path.strip_prefix("/opt/x/") {
            assert!(dest.join("opt/x").join(below).exists(), "{path}");
            named += 1;
        }
    }
    assert!(named > 0, "{text}");
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files
}

/// What `make` builds, as far as `make install` looks for it.
const BUILT: [&str; 9] = [
    "hotset",
    "hotset-guest",
    "hotset-database",
    "hotsetd",
    "manual/man1/hotset.1",
    "manual/man1/hotset-sim-run.1",
    "manual/completions/hotset.bash",
    "manual/completions/_hotset",
    "manual/completions/hotset.fish",
];

/// Runs `make TARGET` below `dir`/dest, with programs that are empty.
fn make(dir: &Path, target: &str) {
    let programs = dir.join("programs");
    for file in BUILT {
        let file = programs.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "").unwrap();
    }
    let mut make = Command::new("make");
    make.current_dir(top()).args(["-s", "-o", "all", target]);
    make.arg(format!("DESTDIR={}", dir.join("dest").display()));
    make.arg(format!("PROGRAMS={}", programs.display()))
        .arg("PREFIX=/opt/x");
    run(&mut make);
}

#[test]
fn what_was_installed_into_a_folder_is_unpacked_beside_settings_that_stay() {
    let dir = tempfile::tempdir().unwrap();
    let dest = dir.path().join("dest");
    make(dir.path(), "install");
    // As the guide does it.
    let packed = dir.path().join("hotset.tar.gz");
    let other = dir.path().join("other");
    std::fs::create_dir_all(other.join("etc/hotset")).unwrap();
    std::fs::write(other.join("etc/hotset/hotsetd.conf"), "mine").unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o711)).unwrap();
    let mut pack = Command::new("tar");
    pack.arg("-C").arg(&dest).args(["--exclude=./etc", "-czf"]);
    run(pack.arg(&packed).arg("."));
    let mut unpack = Command::new("tar");
    unpack.arg("-C").arg(&other);
    unpack.args(["--no-same-owner", "--no-overwrite-dir", "-xzf"]);
    run(unpack.arg(&packed));
    assert!(other.join("opt/x/sbin/hotsetd").exists());
    assert!(other
        .join("opt/x/lib/systemd/system/hotsetd.service")
        .exists());
    let mode = std::fs::metadata(&other).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o711);
    let mine = std::fs::read(other.join("etc/hotset/hotsetd.conf")).unwrap();
    assert_eq!(mine, b"mine");
}

#[test]
fn an_uninstall_leaves_only_a_changed_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let dest = dir.path().join("dest");
    let make = |target: &str| make(dir.path(), target);
    make("install");
    let installed = |path: &str| dest.join(path).exists();
    for path in [
        "opt/x/sbin/hotsetd",
        "opt/x/bin/hotset",
        "opt/x/lib/hotset/hotset-database",
        "opt/x/share/hotset/experiments/replacement/model-held.toml",
        "opt/x/share/hotset/experiments/replacement/model-held.csv.zst",
        "opt/x/share/doc/hotset/docs/guide/protect.md",
        "opt/x/share/doc/hotset/ARCHITECTURE.md",
        "opt/x/share/man/man1/hotset-sim-run.1",
        "opt/x/share/bash-completion/completions/hotset",
        "opt/x/share/zsh/site-functions/_hotset",
        "opt/x/share/fish/vendor_completions.d/hotset.fish",
        "opt/x/share/man/man8/hotsetd.8",
        "opt/x/share/man/man5/hotsetd.conf.5",
        "opt/x/lib/systemd/system/hotsetd.service",
        "usr/share/dbus-1/system.d/hotset.conf",
        "opt/x/share/hotset/systemd/lock_mb.conf",
        "opt/x/share/hotset/systemd/metrics.conf",
        "opt/x/share/hotset/systemd/hotset-textfile.timer",
        "opt/x/share/hotset/monitoring/hotset.rules.yml",
        "opt/x/share/hotset/monitoring/hotset.json",
        "opt/x/share/hotset/openrc/hotsetd",
        "opt/x/share/hotset/runit/hotsetd/log/run",
        "etc/hotset/hotsetd.conf",
        "etc/hotset/hotsetd.conf.d",
    ] {
        assert!(installed(path), "{path}");
    }
    let unit = std::fs::read_to_string(dest.join("opt/x/lib/systemd/system/hotsetd.service"));
    assert!(unit.unwrap().contains("ExecStart=/opt/x/sbin/hotsetd\n"));
    for page in ["man8/hotsetd.8", "man5/hotsetd.conf.5"] {
        let page = dest.join("opt/x/share/man").join(page);
        let text = std::fs::read_to_string(page).unwrap();
        assert_installed(&text, &dest);
    }
    assert_installed(
        &std::fs::read_to_string(dest.join("opt/x/lib/systemd/system/hotsetd.service")).unwrap(),
        &dest,
    );
    // What the administrator changed outlives both.
    let conf = dest.join("etc/hotset/hotsetd.conf");
    std::fs::write(&conf, "aggressiveness = 3\n").unwrap();
    make("install");
    make("uninstall");
    assert_eq!(
        std::fs::read_to_string(&conf).unwrap(),
        "aggressiveness = 3\n"
    );
    std::fs::remove_file(&conf).unwrap();
    make("install");
    make("uninstall");
    let left = files_below(&dest);
    assert!(left.is_empty(), "{left:#?}");
    assert!(!dest.join("etc/hotset").exists());
}
