//! The page of constants has each constant with its value.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files of the policy, in all folders.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => sources(&path, found),
            false => found.push(path),
        }
    }
}

/// Each constant that is a number or numbers: file and name, with the value; `None` where it is no plain number.
fn constants() -> BTreeMap<(String, String), Option<String>> {
    let mut files = Vec::new();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // What names a culprit, and the model of what would have helped, decide by numbers, too.
    for folder in ["src", "../explain/src/remedies"] {
        sources(&here.join(folder), &mut files);
    }
    let judges = ["episode.rs", "growth.rs", "verdict.rs"];
    files.extend(judges.map(|file| here.join("../explain/src").join(file)));
    let mut found = BTreeMap::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        for line in text.lines() {
            let Some(rest) = line.split_once("const ").map(|(_, rest)| rest) else {
                continue;
            };
            let is_item = line.starts_with("const ") || line.starts_with("pub");
            let Some((constant, rest)) = rest.split_once(": ").filter(|_| is_item) else {
                continue;
            };
            let text = rest.starts_with("&str") || rest.starts_with("[Bond");
            let index = ["PRESENT", "BURST"].contains(&constant)
                || (name == "exhaustion" && constant == "TREND");
            if text || index {
                continue;
            }
            let value = rest.split_once("= ").map_or("", |(_, value)| value);
            let value = value.trim_end_matches(';').trim_end_matches(" as f64");
            let value = value.trim_matches(['(', ')']);
            let value = (value != "[").then(|| value.to_owned());
            found.insert((name.clone(), constant.to_owned()), value);
        }
    }
    found
}

#[test]
fn the_page_has_each_constant_with_its_value() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/design/constants.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut listed = BTreeMap::new();
    for row in page.lines() {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if let [_, file, constant, value, _, _] = cells[..] {
            if let Some(name) = constant.strip_prefix('`') {
                let key = (file.to_owned(), name.trim_end_matches('`').to_owned());
                listed.insert(key, value.to_owned());
            }
        }
    }
    let constants = constants();
    assert!(constants.len() > 60, "{}", constants.len());
    for (key, value) in &constants {
        let listed = listed.get(key);
        assert!(listed.is_some(), "{key:?} is missing");
        if value.is_some() {
            assert_eq!(listed, value.as_ref(), "{key:?}");
        }
    }
    for key in listed.keys() {
        assert!(
            constants.contains_key(key),
            "{key:?} is no constant any more"
        );
    }
}
