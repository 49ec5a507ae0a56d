//! Configuration files: layers, refusals by file and line, and memoptimizer's form.
use hotsetd::config::check::Problem;
use hotsetd::config::cli::Options;
use hotsetd::config::file::{load, Place};
use hotsetd::config::memoptimizer::import;
use hotsetd::config::settings::Config;
use hotsetd::telemetry::server::Listen;
use policy::When;
use std::path::Path;

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Folder {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Folder(folder)
    }

    fn load(&self) -> Result<Config, Vec<Problem>> {
        load(&Place::usual(self.0.path()))
    }
}

/// File, line and message of each problem.
fn problems(text: &str) -> Vec<String> {
    let folder = Folder::with(&[("etc/hotset/hotsetd.conf", text)]);
    let problems = folder.load().err().unwrap_or_default();
    let name = |problem: &Problem| {
        problem
            .file
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned()
    };
    problems
        .iter()
        .map(|problem| format!("{}:{}: {}", name(problem), problem.line, problem.message))
        .collect()
}

#[test]
fn no_file_gives_the_defaults_unless_it_was_named() {
    let folder = Folder::with(&[]);
    assert_eq!(folder.load().unwrap(), Config::default());
    assert!(load(&Place::named(&folder.0.path().join("hotsetd.conf"))).is_err());
}

#[test]
fn the_last_drop_in_counts() {
    let folder = Folder::with(&[
        (
            "etc/hotset/hotsetd.conf",
            "aggressiveness = 1\nverbosity = 1\n[free_pages]\nmax_gap_gb = 2\n",
        ),
        (
            "etc/hotset/hotsetd.conf.d/20-b.conf",
            "aggressiveness = 3\n",
        ),
        (
            "etc/hotset/hotsetd.conf.d/10-a.conf",
            "aggressiveness = 2\n[leak_check]\nenabled = false\n",
        ),
        ("etc/hotset/hotsetd.conf.d/30-c.conf.bak", "this is no TOML"),
    ]);
    let config = folder.load().unwrap();
    assert_eq!((config.policy.aggressiveness, config.verbosity), (3, 1));
    assert_eq!(config.policy.max_gap_bytes, Some(2 << 30));
    assert!(!config.policy.modules.leak_check && config.policy.modules.free_pages);
}

#[test]
fn every_error_has_its_file_and_line() {
    for (text, wanted) in [
        (
            "verbosity = 3\n\nagressiveness = 2\n",
            "hotsetd.conf:3: unknown field `agressiveness`",
        ),
        (
            "[free_pages]\nmaxgap = 2\n",
            "hotsetd.conf:2: unknown field `maxgap`",
        ),
        ("[fre_pages]\n", "hotsetd.conf:1: unknown field `fre_pages`"),
        (
            "[\"protect.kill\"]\nnotify = true\n",
            "hotsetd.conf:1: unknown field `protect.kill`",
        ),
        (
            "[\"\"]\nverbosity = 3\n",
            "hotsetd.conf:1: unknown field ``",
        ),
        (
            "\naggressiveness = 0\n",
            "hotsetd.conf:2: aggressiveness: 0 ",
        ),
        (
            "aggressiveness = \"2\"\n",
            "hotsetd.conf:1: aggressiveness = \"2\": ",
        ),
        (
            "aggressiveness = 300\n",
            "hotsetd.conf:1: aggressiveness: 300 ",
        ),
        ("[sampling]\nnear_s = nan\n", "hotsetd.conf:2: near_s: NaN "),
        (
            "[free_pages]\n\nmax_gap_gb = -1.0\n",
            "hotsetd.conf:3: max_gap_gb: -1 ",
        ),
        (
            "[negative_dentries]\ncap_per_mille = 101\n",
            "hotsetd.conf:2: cap_per_mille: 101 ",
        ),
        (
            "[metrics]\nlisten = \"0.0.0.0:9477\"\n",
            "hotsetd.conf:2: 0.0.0.0:9477 can be reached",
        ),
        (
            "[metrics]\nlisten = \"unix:here\"\n",
            "hotsetd.conf:2: \"here\" does not begin at /",
        ),
        ("log = \"file\"\n", "hotsetd.conf:1: \"file\" is none of"),
        (
            "[tunables.at_start]\n\"../etc/passwd\" = 1\n",
            "hotsetd.conf:2: \"../etc/passwd\" is",
        ),
        (
            "[tunables.at_start]\n\"vm.x\" = [1]\n",
            "hotsetd.conf:2: vm.x = [1]",
        ),
        ("a = \n", "hotsetd.conf:1: "),
        (
            "[pressure]\nstall_ms = 2000\n",
            "hotsetd.conf:2: pressure: stall_ms 2000 is more",
        ),
    ] {
        let found = problems(text);
        assert!(
            found.len() == 1 && found[0].starts_with(wanted),
            "{text:?}: {found:#?}"
        );
    }
}

#[test]
fn every_setting_arrives() {
    let folder = Folder::with(&[(
        "etc/hotset/hotsetd.conf",
        "dry_run = true\njournal = \"/x/j\"\nlearned = \"/x/l\"\nlog = \"syslog\"\n\
         [sampling]\nnear_s = 1\nfar_s = 20\n\
         [free_pages]\nmax_watermark_scale_factor = 55\nnode_reclaim = false\n\
         [fragmentation]\nenabled = false\ncompact_every_s = 5\n\
         [negative_dentries]\nenabled = false\ncap_per_mille = 7\n\
         [object_caching]\nenabled = false\nprefer = true\n\
         [tunables.at_start]\n\"vm.swappiness\" = 10\n\"net.ipv4.tcp_rmem\" = \"4096 1 2\"\n\
         [tunables.on_huge_pages_change]\n\"vm.min_free_kbytes\" = 9\n\
         [pressure]\nenabled = false\nstall_ms = 7\nwindow_ms = 600\n\
         [status]\nsocket = \"\"\n[metrics]\nlisten = \"[::1]:9477\"\n",
    )]);
    let config = folder.load().unwrap();
    let policy = &config.policy;
    assert!(config.dry_run && config.journal == Path::new("/x/j"));
    assert_eq!(config.learned.as_deref(), Some(Path::new("/x/l")));
    assert_eq!((policy.sample_near_s, policy.sample_far_s), (1.0, 20.0));
    assert_eq!(policy.watermark_scale_factor_max, Some(55));
    assert!(!policy.node_reclaim && !policy.modules.fragmentation && policy.prefer_object_caching);
    assert_eq!(
        (policy.compact_every_s, policy.negative_dentry_permille),
        (5.0, 7)
    );
    let names: Vec<_> = policy
        .tunables
        .iter()
        .map(|it| (it.name.as_str(), it.when))
        .collect();
    assert_eq!(
        names,
        [
            ("vm.swappiness", When::Start),
            ("net.ipv4.tcp_rmem", When::Start),
            ("vm.min_free_kbytes", When::HugePagesChanged),
        ]
    );
    assert_eq!(config.pressure.window_ms, 600);
    assert_eq!(config.status, None);
    assert_eq!(config.metrics, Listen::Tcp("[::1]:9477".parse().unwrap()));
}

#[test]
fn a_mistyped_name_is_answered_with_the_one_that_is_meant() {
    for (text, meant) in [
        ("agressiveness = 2\n", "aggressiveness"),
        ("[fre_pages]\n", "free_pages"),
        ("[protect.kil]\n", "kill"),
        ("[protect]\nclean_min = 5\n", "clean_min_ratio"),
        // A setting of another section.
        ("[protect]\nmax_gap_gb = 5\n", "[free_pages]"),
        ("max_gap_gb = 5\n", "[free_pages]"),
    ] {
        let found = problems(text);
        assert!(found[0].contains(meant), "{text:?}: {found:#?}");
    }
    for (argument, meant) in [
        ("--agressiveness", "--aggressiveness"),
        ("--dryrun", "--dry-run"),
        ("--check-conf", "--check-config"),
    ] {
        let error = Options::parse([argument.into()]).unwrap_err();
        let (wrong, rest) = error.split_once(':').unwrap();
        assert!(wrong == argument && rest.contains(meant), "{error}");
    }
}

#[test]
fn settings_that_contradict_each_other_have_the_last_line_that_set_one() {
    for (text, line) in [
        (
            "[protect]\nanon_min_ratio = 50\n\nclean_min_ratio = 50\n",
            4,
        ),
        ("[protect]\nanon_min_ratio = 15\nclean_min_ratio = 80\n", 3),
        ("[sampling]\nfar_s = 1\nnear_s = 2\n", 3),
    ] {
        let found = problems(text);
        let wanted = format!("hotsetd.conf:{line}: ");
        assert!(
            found.len() == 1 && found[0].starts_with(&wanted),
            "{found:#?}"
        );
    }
    // A later file may set the other one.
    let folder = Folder::with(&[
        (
            "etc/hotset/hotsetd.conf",
            "[protect]\nanon_min_ratio = 80\n",
        ),
        (
            "etc/hotset/hotsetd.conf.d/a.conf",
            "\n[protect]\nclean_min_ratio = 5\n",
        ),
    ]);
    folder.load().unwrap();
    let folder = Folder::with(&[
        (
            "etc/hotset/hotsetd.conf",
            "[protect]\nanon_min_ratio = 60\n",
        ),
        (
            "etc/hotset/hotsetd.conf.d/a.conf",
            "\n[protect]\nclean_min_ratio = 45\n",
        ),
    ]);
    let found = folder.load().unwrap_err();
    assert_eq!((found.len(), found[0].line), (1, 3), "{found:#?}");
    assert!(found[0].file.ends_with("a.conf"));
}

#[test]
fn short_options_may_stand_together() {
    let options = Options::parse(["-dv5".into()]).unwrap();
    let mut config = Config::default();
    options.override_config(&mut config);
    assert!(options.dry_run && config.verbosity == 5);
    let options = Options::parse(["-bda3".into(), "-v=4".into()]).unwrap();
    options.override_config(&mut config);
    assert!(options.background && options.dry_run);
    assert_eq!((config.policy.aggressiveness, config.verbosity), (3, 4));
    for wrong in ["-d5", "-dx", "-vd", "-d=1"] {
        assert!(Options::parse([wrong.into()]).is_err(), "{wrong}");
    }
}

#[test]
fn options_override_the_files() {
    let arguments = ["-a3", "--max-gap=1.5", "-v", "5", "-d"].map(Into::into);
    let options = Options::parse(arguments).unwrap();
    let mut config = Config::default();
    options.override_config(&mut config);
    assert_eq!((config.policy.aggressiveness, config.verbosity), (3, 5));
    assert_eq!(config.policy.max_gap_bytes, Some(3 << 29));
    assert!(config.dry_run);
}

#[test]
fn a_path_in_an_option_need_not_be_utf_8() {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"/etc/\xff.conf");
    for (before, value) in [("--config=", name), ("-c", name)] {
        let mut argument = std::ffi::OsString::from(before);
        argument.push(value);
        let options = Options::parse([argument]).unwrap();
        assert_eq!(options.config.as_deref(), Some(Path::new(name)));
    }
}

const THEIRS: &str =
    "# memoptimizer\nVERBOSE = 5\nAGGRESSIVENESS=\"3\"\n\nENABLE_FREE_PAGE_MGMT = 1\n\
    MAXGAP = 10 # GB\nENABLE_NEG_DENTRY_MGMT=0\nNEG_DENTRY_CAP = 15\nENABLE_MEMLEAK_CHECK = 0\n\
    PREFER_OBJECT_CACHING = 1\n";

#[test]
fn memoptimizers_configuration_is_converted() {
    let imported = import(Path::new("/etc/default/memoptimizer"), THEIRS).unwrap();
    assert!(imported.left_out.is_empty());
    let folder = Folder::with(&[("etc/hotset/hotsetd.conf", &imported.text)]);
    let config = folder
        .load()
        .unwrap_or_else(|wrong| panic!("{wrong:#?}\n{}", imported.text));
    let policy = &config.policy;
    assert_eq!((config.verbosity, policy.aggressiveness), (5, 3));
    assert_eq!(policy.max_gap_bytes, Some(10 << 30));
    assert!(policy.modules.free_pages && !policy.modules.negative_dentries);
    assert!(!policy.modules.leak_check && policy.prefer_object_caching);
    assert_eq!(policy.negative_dentry_permille, 15);
}

#[test]
fn an_import_reports_every_wrong_line() {
    let text = "AGGRESSIVENESS = 0\nVERBOSE = many\nMAXGAP\n";
    let wrong = import(Path::new("/etc/sysconfig/x"), text).unwrap_err();
    let lines: Vec<_> = wrong.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [1, 2, 3]);
    assert_eq!(
        wrong[0].to_string(),
        "/etc/sysconfig/x:1: AGGRESSIVENESS: 0 is out of range (1 to 3)"
    );
}

#[test]
fn all_errors_of_a_file_are_reported_in_its_order() {
    let text = "verbosity = 9\naggressiveness = \"2\"\nunknown = 1\n[sampling]\nnear_s = 0\n";
    let found = problems(text);
    let lines: Vec<_> = found
        .iter()
        .map(|problem| problem.split(':').nth(1).unwrap())
        .collect();
    assert_eq!(lines, ["1", "2", "3", "5"], "{found:#?}");
}

#[test]
fn an_aggressiveness_out_of_range_is_an_error() {
    let path = Path::new("/etc/default/memoptimizer");
    for value in ["0", "\"0\"", "", "-1", "4"] {
        let text = format!("AGGRESSIVENESS = {value}\n");
        assert!(import(path, &text).is_err(), "{value}");
    }
    for value in ["0", "\"2\"", "4", "-1"] {
        let found = problems(&format!("aggressiveness = {value}\n"));
        assert!(found[0].starts_with("hotsetd.conf:1:"), "{found:?}");
    }
}

#[test]
fn a_quoted_number_of_memoptimizer_is_imported() {
    let path = Path::new("/etc/default/memoptimizer");
    let imported = import(path, "AGGRESSIVENESS = \"2\"\n").unwrap();
    assert!(imported.text.contains("\naggressiveness = 2\n"));
}

#[test]
fn a_key_of_a_megabyte_is_an_error_of_its_line() {
    let long = "K".repeat(1 << 20);
    let path = Path::new("/etc/default/memoptimizer");
    let imported = import(path, &format!("{long} = 1\nVERBOSE = {long}\n"));
    assert_eq!(imported.unwrap_err()[0].line, 2);
    let imported = import(path, &format!("{long} = {long}\nVERBOSE = 4\n")).unwrap();
    assert!(imported.text.contains("\nverbosity = 4\n"));
    let found = problems(&format!("{long} = 1\n"));
    assert!(found[0].starts_with("hotsetd.conf:1:"));
}

#[test]
fn an_unknown_key_of_memoptimizer_is_left_out_and_the_rest_is_imported() {
    let text = "VERBOSE = 2\nNO_SUCH_KEY = 1\nAGGRESSIVENESS = 3\n";
    let imported = import(Path::new("/etc/default/memoptimizer"), text).unwrap();
    assert!(imported.text.contains("\naggressiveness = 3\n"));
    assert_eq!(imported.left_out.len(), 1);
    assert_eq!(imported.left_out[0].line, 2);
}

#[test]
fn the_configured_cap_may_be_3000() {
    let text = "[free_pages]\nmax_watermark_scale_factor = 3000\n";
    let folder = Folder::with(&[("etc/hotset/hotsetd.conf", text)]);
    let cap = folder.load().unwrap().policy.watermark_scale_factor_max;
    assert_eq!(cap, Some(3000));
}

#[test]
fn a_wrong_option_names_itself() {
    for (arguments, option) in [
        (&["--agressiveness", "2"][..], "--agressiveness"),
        (&["-a", "0"], "--aggressiveness: 0 "),
        (&["--verbosity=9"], "--verbosity: 9 "),
        (&["--dry-run=yes"], "--dry-run"),
        (&["-m"], "-m"),
        (&["--max-gap", "nan"], "--max-gap: nan "),
        (&["--log", "file"], "--log"),
        (&["stray"], "stray"),
    ] {
        let error = Options::parse(arguments.iter().map(Into::into)).unwrap_err();
        assert!(error.contains(option), "{arguments:?}: {error}");
    }
}
