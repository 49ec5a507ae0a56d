//! The name that was probably meant.

/// Jaro-Winkler similarity from which a name is worth suggesting. Of short names, one slip in three letters
/// has 0.82; two other letters, `foo` for `loop`, have 0.72.
const ALIKE: f64 = 0.8;

/// The candidate most like `wrong`, if any is like it. Letter case is ignored.
pub fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = wrong.to_lowercase();
    candidates
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&wrong, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness > ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// Whether a name differs from another by a slip or two: a letter that is wrong, missing, added or swapped.
pub fn is_slip(wrong: &str, right: &str) -> bool {
    strsim::osa_distance(wrong, right) <= 2
}

/// The end of an error message about `wrong`: a question with the nearest candidate, or nothing.
pub fn suggestion<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(wrong, candidates) {
        Some(name) => format!("; did you mean {name}?"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["lru", "arc", "s3-fifo", "three-workers"];

    #[test]
    fn a_slip_finds_its_name() {
        assert_eq!(nearest("s3fifo", NAMES), Some("s3-fifo"));
        assert_eq!(nearest("three-worker", NAMES), Some("three-workers"));
        assert_eq!(nearest("LRU", NAMES), Some("lru"));
        assert!(suggestion("thre-workers", NAMES).contains("three-workers"));
    }

    #[test]
    fn a_slip_is_near_and_another_name_is_not() {
        assert!(is_slip("vm.claen_min_ratio", "vm.clean_min_ratio"));
        assert!(!is_slip("vm.dirty_ratio", "vm.clean_min_ratio"));
        assert!(!is_slip("vm.min_slab_ratio", "vm.clean_min_ratio"));
    }

    #[test]
    fn nothing_is_suggested_for_another_word() {
        assert_eq!(nearest("postgresql", NAMES), None);
        assert_eq!(nearest("foo", ["loop", "scan"]), None);
        assert_eq!(nearest("lri", NAMES), Some("lru"));
        assert_eq!(nearest("", NAMES), None);
        assert_eq!(suggestion("postgresql", NAMES), "");
    }
}
