//! Compiler warnings, compared between two builds of the same files.
use std::collections::BTreeMap;

/// The warnings in a build's output by file and text, with the count of each. Line and column are
/// left out: a patch moves them.
pub fn collect(output: &str) -> BTreeMap<(String, String), u32> {
    let mut found = BTreeMap::new();
    for line in output.lines() {
        if let Some(warning) = one(line) {
            *found.entry(warning).or_insert(0) += 1;
        }
    }
    found
}

/// "mm/x.c:3:4: warning: text" (gcc and sparse alike) as file and text.
fn one(line: &str) -> Option<(String, String)> {
    let (place, text) = ["warning: ", "error: "]
        .iter()
        .find_map(|sign| line.split_once(sign))?;
    let file = place.split(':').next()?.trim();
    // The object directory is elsewhere, so the tree's path, absolute or relative, stands before.
    let file = file.trim_start_matches("../");
    (!file.is_empty() && place.contains(':')).then(|| (file.to_string(), text.trim().to_string()))
}

/// The warnings of `after` that `before` has not, or has fewer times, for files that end with one
/// of `files`. One line each.
pub fn new_ones(before: &str, after: &str, files: &[String]) -> Vec<String> {
    let before = collect(before);
    collect(after)
        .into_iter()
        .filter(|(warning, count)| before.get(warning).copied().unwrap_or(0) < *count)
        .filter_map(|((file, text), _)| {
            // The tree's own path is left out.
            let short = files
                .iter()
                .find(|wanted| file == **wanted || file.ends_with(&format!("/{wanted}")))?;
            Some(format!("{short}: {text}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_warnings_of_the_touched_files_count() {
        let before = "mm/a.c:10:1: warning: unused variable 'x' [-Wunused-variable]\n";
        let after = "mm/a.c:22:1: warning: unused variable 'x' [-Wunused-variable]\n\
                     mm/a.c:30:1: warning: unused variable 'x' [-Wunused-variable]\n\
                     /src/mm/a.c:31:5: warning: no previous prototype for 'f'\n\
                     lib/b.c:1:1: warning: other\n  CC      mm/a.o\n";
        let files = ["mm/a.c".to_string()];
        assert_eq!(
            new_ones(before, after, &files),
            [
                "mm/a.c: no previous prototype for 'f'",
                "mm/a.c: unused variable 'x' [-Wunused-variable]"
            ]
        );
        assert!(new_ones(after, after, &files).is_empty());
    }
}
