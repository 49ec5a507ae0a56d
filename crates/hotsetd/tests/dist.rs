//! What is installed: the unit, the configuration, the man pages, and that they agree with the code.
use hotsetd::load;
use std::collections::BTreeSet;
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
    let words =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {words}");
    words
}

#[test]
fn systemd_takes_the_unit() {
    let dir = tempfile::tempdir().unwrap();
    // verify wants the program to be there.
    let unit = read("dist/systemd/hotsetd.service");
    let program = env!("CARGO_BIN_EXE_hotsetd");
    let path = dir.path().join("hotsetd.service");
    std::fs::write(&path, unit.replace("/usr/sbin/hotsetd", program)).unwrap();
    let mut verify = Command::new("systemd-analyze");
    match verify.args(["verify", "--man=no"]).arg(&path).output() {
        Ok(done) => {
            let words = String::from_utf8_lossy(&done.stderr).into_owned();
            let ours: Vec<_> = words
                .lines()
                .filter(|line| line.contains("hotsetd"))
                .collect();
            assert!(done.status.success() && ours.is_empty(), "{words}");
        }
        Err(error) => eprintln!("NOT TESTED: the unit: systemd-analyze: {error}"),
    }
}

/// With the drop-in too, and each of its lines does something: an unknown one would only be warned of.
#[test]
fn systemd_takes_the_drop_in_for_lock_mb() {
    let dir = tempfile::tempdir().unwrap();
    let unit = read("dist/systemd/hotsetd.service");
    let path = dir.path().join("hotsetd.service");
    let program = env!("CARGO_BIN_EXE_hotsetd");
    std::fs::write(&path, unit.replace("/usr/sbin/hotsetd", program)).unwrap();
    let folder = dir.path().join("hotsetd.service.d");
    std::fs::create_dir(&folder).unwrap();
    let drop_in = read("dist/systemd/lock_mb.conf");
    std::fs::write(folder.join("lock_mb.conf"), &drop_in).unwrap();
    for line in drop_in.lines().filter(|line| !line.starts_with('#')) {
        let (name, _) = line.split_once('=').unwrap_or((line, ""));
        assert!(unit.contains(name), "{name} is nothing that the unit has");
    }
    let mut verify = Command::new("systemd-analyze");
    match verify.args(["verify", "--man=no"]).arg(&path).output() {
        Ok(done) => {
            let words = String::from_utf8_lossy(&done.stderr).into_owned();
            let ours = words
                .lines()
                .filter(|line| line.contains("hotsetd") || line.contains("lock_mb"));
            assert!(done.status.success() && ours.count() == 0, "{words}");
        }
        Err(error) => eprintln!("NOT TESTED: the drop-in: systemd-analyze: {error}"),
    }
}

/// The capabilities of unit and drop-in are enough to see and lock what another user's process has
/// open, and those of the unit alone are not: the drop-in is needed.
#[test]
fn the_drop_in_lets_others_files_be_seen() {
    let bounds = |words: &str| -> String {
        let lines = words
            .lines()
            .filter_map(|line| line.strip_prefix("CapabilityBoundingSet="));
        let names = lines.flat_map(str::split_whitespace);
        let lower = names.map(|name| name.trim_start_matches("CAP_").to_lowercase());
        lower.map(|name| format!(",+{name}")).collect()
    };
    let unit = bounds(&read("dist/systemd/hotsetd.service"));
    let both = format!("{unit}{}", bounds(&read("dist/systemd/lock_mb.conf")));
    // Nobody's sleep has its own program mapped, and a file open that is nobody's alone.
    let script = r#"
        file=$(mktemp) || exit 99
        chown nobody "$file" && chmod 600 "$file" || exit 99
        setpriv --reuid=nobody --clear-groups --bounding-set=-all sh -c 'exec sleep 60 < "$0"' "$file" &
        child=$!
        until [ "$(readlink /proc/$child/exe)" = "$(readlink -f "$(command -v sleep)")" ]; do
            kill -0 $child || exit 99
        done
        try() {
            setpriv --no-new-privs --inh-caps=-all --bounding-set=-all$1                 sh -c "cat /proc/$child/maps > /dev/null && cat /proc/$child/fd/0" 2> /dev/null
        }
        code=0
        try "$2" || code=1
        try "$1" && code=2
        kill $child
        rm "$file"
        exit $code"#;
    let mut sh = Command::new("sh");
    match sh.args(["-c", script, "sh", &unit, &both]).output() {
        Ok(done) if done.status.success() => {}
        Ok(done) if matches!(done.status.code(), Some(1 | 2)) => {
            panic!("{:?}: 1: not enough; 2: needless", done.status)
        }
        other => eprintln!("NOT TESTED: the drop-in's capabilities, for root only: {other:?}"),
    }
}

/// The mounts that the unit asks for leave exactly the knobs to be written. Opened for writing
/// only: nothing is written to this machine.
#[test]
fn the_units_sandbox_lets_the_knobs_be_opened() {
    let inside =
        "mount --bind /proc/sys /proc/sys && mount --bind /proc/sys/vm /proc/sys/vm || exit 99
        mount -o remount,ro,bind /proc/sys || exit 99
        exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all,+ipc_lock,+sys_resource \
            sh -c ': >> /proc/sys/vm/watermark_scale_factor || exit 1
                   (: >> /proc/sys/kernel/hostname) 2>/dev/null && exit 2
                   exit 0'";
    let done = Command::new("unshare")
        .args(["-m", "sh", "-c", inside])
        .output();
    match done {
        Ok(done) if done.status.success() => {}
        Ok(done) if matches!(done.status.code(), Some(1 | 2)) => {
            let words = String::from_utf8_lossy(&done.stderr).into_owned();
            panic!(
                "the sandbox is not as it should be: {:?} {words}",
                done.status
            );
        }
        other => eprintln!("NOT TESTED: the sandbox's mounts, which only root can make: {other:?}"),
    }
}

#[test]
fn the_configuration_shows_the_defaults() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hotsetd.conf");
    let text = read("dist/systemd/hotsetd.conf");
    std::fs::write(&path, &text).unwrap();
    let as_it_is = load::load(&path, true).unwrap();
    assert_eq!(as_it_is, hotsetd::config::Config::default());
    // Each setting that is commented out is taken, and is the default it claims to be.
    let settings = text.lines().map(|line| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') && rest.contains(" = ") && !rest.starts_with('"') => {
            rest
        }
        _ => line,
    });
    let settings: Vec<_> = settings.collect();
    std::fs::write(&path, settings.join("\n")).unwrap();
    let mut spelled_out = load::load(&path, true).unwrap_or_else(|wrong| panic!("{wrong:#?}"));
    // Of the level that is the default.
    assert_eq!(
        spelled_out.policy.watermark_scale_factor_max.take(),
        Some(700)
    );
    assert_eq!(spelled_out, as_it_is);
}

/// Settings in the configuration and in its man page are the same.
#[test]
fn the_man_page_names_every_setting() {
    let conf = read("dist/systemd/hotsetd.conf");
    let page = read("dist/man/hotsetd.conf.5");
    let settings: BTreeSet<_> = conf
        .lines()
        .filter_map(|line| line.strip_prefix('#')?.split_once(" = "))
        .map(|(name, _)| name.trim())
        .filter(|name| {
            name.chars()
                .all(|letter| letter.is_ascii_lowercase() || letter == '_')
        })
        .collect();
    assert!(settings.len() > 15, "{settings:?}");
    for setting in settings {
        let quoted = page.contains(&format!("B {setting}\n"))
            || page.contains(&format!("BR {setting} "))
            || page.contains(&format!(", \" {setting} "));
        assert!(quoted, "{setting} is not in hotsetd.conf.5");
    }
}

#[test]
fn the_man_page_names_every_option() {
    let page = read("dist/man/hotsetd.8").replace("\\-", "-");
    for line in hotsetd::cli::HELP.lines() {
        let words = line
            .split_whitespace()
            .map(|word| word.trim_end_matches(','));
        for option in words.filter(|word| word.starts_with('-')) {
            assert!(page.contains(option), "{option} is not in hotsetd.8");
        }
    }
}

#[test]
fn groff_has_nothing_to_say_of_the_man_pages() {
    for page in ["dist/man/hotsetd.8", "dist/man/hotsetd.conf.5"] {
        let mut groff = Command::new("groff");
        groff.args(["-man", "-ww", "-Tutf8"]).arg(top().join(page));
        match groff.output() {
            Ok(done) => {
                let words = String::from_utf8_lossy(&done.stderr);
                assert!(words.is_empty(), "{page}: {words}");
            }
            Err(error) => eprintln!("NOT TESTED: {page}: groff: {error}"),
        }
    }
}

#[test]
fn install_and_uninstall() {
    let dir = tempfile::tempdir().unwrap();
    let programs = dir.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    for program in ["hotset", "hotset-guest", "hotset-database", "hotsetd"] {
        std::fs::write(programs.join(program), "").unwrap();
    }
    let dest = dir.path().join("dest");
    let make = |target: &str| {
        let mut make = Command::new("make");
        make.current_dir(top()).args(["-s", "-o", "all", target]);
        make.arg(format!("DESTDIR={}", dest.display()));
        make.arg(format!("PROGRAMS={}", programs.display()))
            .arg("PREFIX=/opt/x");
        run(&mut make);
    };
    make("install");
    let installed = |path: &str| dest.join(path).exists();
    for path in [
        "opt/x/sbin/hotsetd",
        "opt/x/bin/hotset",
        "opt/x/lib/hotset/hotset-database",
        "opt/x/share/hotset/experiments/model-held.toml",
        "opt/x/share/hotset/experiments/model-held.csv.zst",
        "opt/x/share/man/man8/hotsetd.8",
        "opt/x/share/man/man5/hotsetd.conf.5",
        "opt/x/lib/systemd/system/hotsetd.service",
        "opt/x/share/hotset/systemd/lock_mb.conf",
        "etc/hotset/hotsetd.conf",
        "etc/hotset/hotsetd.conf.d",
    ] {
        assert!(installed(path), "{path}");
    }
    let unit = std::fs::read_to_string(dest.join("opt/x/lib/systemd/system/hotsetd.service"));
    assert!(unit.unwrap().contains("ExecStart=/opt/x/sbin/hotsetd\n"));
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
    let mut left = Vec::new();
    let mut folders = vec![dest.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => left.push(path),
            }
        }
    }
    assert!(left.is_empty(), "{left:#?}");
    assert!(!dest.join("etc/hotset").exists());
}
