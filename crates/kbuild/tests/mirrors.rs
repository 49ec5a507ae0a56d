//! Mirrors are found in apt sources of both formats and in the output of `apt-get indextargets`.
use kbuild::fetch::mirrors::{
    choose, entries_of_files, parse_deb822, parse_index_targets, parse_one_line, Mirrors,
};

fn mirrors(main: &str, security: &str) -> Mirrors {
    let some = |uri: &str| (!uri.is_empty()).then(|| uri.to_string());
    Mirrors {
        main: some(main),
        security: some(security),
    }
}

#[test]
fn the_one_line_format_gives_both_mirrors() {
    let entries = parse_one_line(
        "# deb http://old.example/debian bookworm main\n\
         deb cdrom:[Debian 12]/ bookworm main\n\
         deb [arch=amd64 signed-by=/a b.gpg] http://a.example/debian/ bookworm main contrib # x\n\
         deb-src http://src.example/debian bookworm main\n\
         deb http://a.example/debian bookworm-updates main\n\
         deb http://s.example/debian-security bookworm-security main\n",
    );
    let chosen = choose(&entries, Some("bookworm"));
    assert_eq!(
        chosen,
        mirrors(
            "http://a.example/debian",
            "http://s.example/debian-security"
        )
    );
}

#[test]
fn deb822_gives_both_mirrors_past_comments_lists_and_disabled_stanzas() {
    let entries = parse_deb822(
        "# A comment\nTypes: deb deb-src\n# between\nURIs: http://a.example/debian\n\
         Suites: bookworm\n bookworm-updates\nComponents: main\n\
         Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc\n\n\
         Types: deb\nURIs: http://off.example/debian-security\nSuites: bookworm-security\n\
         Components: main\nEnabled: no\n\n\n\
         Types: deb-src\nURIs: http://src.example/debian\nSuites: bookworm\nComponents: main\n\n\
         types: deb\nuris: http://s.example/debian-security/\nsuites: bookworm-security\n\
         components: main\n",
    );
    assert_eq!(entries.len(), 3, "{entries:?}");
    let chosen = choose(&entries, Some("bookworm"));
    assert_eq!(
        chosen,
        mirrors(
            "http://a.example/debian",
            "http://s.example/debian-security"
        )
    );
}

#[test]
fn other_archives_with_debians_suite_names_are_not_taken() {
    let entries = parse_one_line(
        "deb http://tools.example/apt bookworm main\n\
         deb http://a.example/debian bookworm main\n\
         deb http://a.example/debian bookworm-updates main\n\
         deb http://ubuntu.example/ubuntu jammy main\n\
         deb http://ubuntu.example/ubuntu jammy-security main\n",
    );
    let chosen = choose(&entries, Some("bookworm"));
    assert_eq!(chosen, mirrors("http://a.example/debian", ""));
}

#[test]
fn an_origin_other_than_debian_is_not_taken() {
    let entries = parse_index_targets(
        "http://tools.example/apt/|bookworm|main|Tools\n\
         http://a.example/debian/|bookworm|main|Debian\n\
         http://s.example/debian-security/|bookworm-security|main|Debian\n",
    );
    let chosen = choose(&entries, Some("bookworm"));
    assert_eq!(
        chosen,
        mirrors(
            "http://a.example/debian",
            "http://s.example/debian-security"
        )
    );
    // An apt that knows no Origin leaves the field as it stands.
    let entries = parse_index_targets("http://a.example/debian/|sid|main|$(ORIGIN)\n");
    assert_eq!(
        choose(&entries, None),
        mirrors("http://a.example/debian", "")
    );
}

#[test]
fn only_list_and_sources_files_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let parts = dir.path().join("sources.list.d");
    std::fs::create_dir(&parts).unwrap();
    std::fs::write(
        dir.path().join("sources.list"),
        "deb http://a.example/debian trixie main\n",
    )
    .unwrap();
    std::fs::write(
        parts.join("security.sources"),
        "Types: deb\nURIs: http://s.example/sec\nSuites: trixie-security\nComponents: main\n",
    )
    .unwrap();
    std::fs::write(
        parts.join("old.list.disabled"),
        "deb http://no.example/debian trixie main\n",
    )
    .unwrap();
    let chosen = choose(&entries_of_files(dir.path()), Some("trixie"));
    assert_eq!(
        chosen,
        mirrors("http://a.example/debian", "http://s.example/sec")
    );
}

#[test]
fn the_error_of_a_missing_mirror_names_the_options() {
    let error = mirrors("http://a.example/debian", "")
        .of_suite("bookworm-security")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("--security-mirror") && error.contains("--tree FOLDER"),
        "{error}"
    );
}
