//! Configuration files: layers, refusals by file and line, and memoptimizer's form.
use hotsetd::cli::Options;
use hotsetd::config::{Config, Listen};
use hotsetd::import::import;
use hotsetd::load::{load, Problem};
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
        load(&self.0.path().join("hotsetd.conf"), false)
    }
}

/// File and line of each problem, and words.
fn told(text: &str) -> Vec<String> {
    let folder = Folder::with(&[("hotsetd.conf", text)]);
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
        .map(|problem| format!("{}:{}: {}", name(problem), problem.line, problem.words))
        .collect()
}

#[test]
fn no_file_gives_the_defaults_unless_it_was_named() {
    let folder = Folder::with(&[]);
    assert_eq!(folder.load().unwrap(), Config::default());
    assert!(load(&folder.0.path().join("hotsetd.conf"), true).is_err());
}

#[test]
fn the_last_drop_in_counts() {
    let folder = Folder::with(&[
        (
            "hotsetd.conf",
            "aggressiveness = 1\nverbosity = 1\n[free_pages]\nmax_gap_gb = 2\n",
        ),
        ("hotsetd.conf.d/20-b.conf", "aggressiveness = 3\n"),
        (
            "hotsetd.conf.d/10-a.conf",
            "aggressiveness = 2\n[leak_check]\nenabled = false\n",
        ),
        ("hotsetd.conf.d/30-c.conf.bak", "this is no TOML"),
    ]);
    let config = folder.load().unwrap();
    assert_eq!((config.policy.aggressiveness, config.verbosity), (3, 1));
    assert_eq!(config.policy.max_gap_bytes, Some(2 << 30));
    assert!(!config.policy.modules.leak_check && config.policy.modules.free_pages);
}

#[test]
fn what_is_wrong_is_told_by_file_and_line() {
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
            "\naggressiveness = 0\n",
            "hotsetd.conf:2: aggressiveness is 0: 1 to 3",
        ),
        (
            "aggressiveness = \"2\"\n",
            "hotsetd.conf:1: invalid type: string",
        ),
        ("aggressiveness = 300\n", "hotsetd.conf:1: "),
        (
            "[sampling]\nnear_s = nan\n",
            "hotsetd.conf:2: near_s is NaN",
        ),
        (
            "[free_pages]\n\nmax_gap_gb = -1.0\n",
            "hotsetd.conf:3: max_gap_gb is -1",
        ),
        (
            "[negative_dentries]\ncap_per_mille = 101\n",
            "hotsetd.conf:2: cap_per_mille is 101",
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
            "hotsetd.conf:0: pressure: stall_ms 2000 is more",
        ),
    ] {
        let found = told(text);
        assert!(
            found.len() == 1 && found[0].starts_with(wanted),
            "{text:?}: {found:#?}"
        );
    }
    // All of them, not only the first.
    assert_eq!(told("aggressiveness = 9\nverbosity = 9\n").len(), 2);
}

#[test]
fn every_setting_arrives() {
    let folder = Folder::with(&[(
        "hotsetd.conf",
        "dry_run = true\njournal = \"/x/j\"\nlog = \"syslog\"\n\
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
    assert_eq!(
        config.metrics,
        Listen::Loopback("[::1]:9477".parse().unwrap())
    );
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

const THEIRS: &str =
    "# memoptimizer\nVERBOSE = 5\nAGGRESSIVENESS=\"3\"\n\nENABLE_FREE_PAGE_MGMT = 1\n\
    MAXGAP = 10 # GB\nENABLE_NEG_DENTRY_MGMT=0\nNEG_DENTRY_CAP = 15\nENABLE_MEMLEAK_CHECK = 0\n\
    PREFER_OBJECT_CACHING = 1\n";

#[test]
fn memoptimizers_configuration_becomes_ours() {
    let imported = import(Path::new("/etc/default/memoptimizer"), THEIRS).unwrap();
    assert!(imported.left_out.is_empty());
    let folder = Folder::with(&[("hotsetd.conf", &imported.text)]);
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
fn an_import_names_what_it_cannot_take() {
    let text = "AGGRESSIVENESS = 0\nVERBOSE = many\nMAXGAP\n";
    let wrong = import(Path::new("/etc/sysconfig/x"), text).unwrap_err();
    let lines: Vec<_> = wrong.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [1, 2, 3]);
    assert_eq!(
        wrong[0].to_string(),
        "/etc/sysconfig/x:1: AGGRESSIVENESS is \"0\": a number from 1 to 3 is wanted"
    );
}
