//! Plain words for what libraries call by the names of Rust's types.

/// Types as JSON and TOML readers name them, and what they mean.
const TYPES: [(&str, &str); 13] = [
    ("u8", "a whole number"),
    ("u16", "a whole number"),
    ("u32", "a whole number"),
    ("u64", "a whole number"),
    ("u128", "a whole number"),
    ("usize", "a whole number"),
    ("i8", "a whole number"),
    ("i16", "a whole number"),
    ("i32", "a whole number"),
    ("i64", "a whole number"),
    ("f32", "a number"),
    ("f64", "a number"),
    ("struct", "an object"),
];

const BEFORE: &str = "expected ";

/// The text with plain words behind each "expected".
pub fn without_types(text: &str) -> String {
    let mut parts = text.split(BEFORE);
    let mut plain = parts.next().unwrap_or_default().to_string();
    for part in parts {
        plain += BEFORE;
        let (word, rest) = first_word(part);
        match TYPES.iter().find(|(name, _)| *name == word) {
            // The name of a structure means nothing to a user.
            Some(("struct", meaning)) => {
                plain += meaning;
                plain += first_word(rest.trim_start()).1;
            }
            Some((_, meaning)) => {
                plain += meaning;
                plain += rest;
            }
            None => plain += part,
        }
    }
    plain
}

fn first_word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    text.split_at(end.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::without_types;

    #[test]
    fn types_become_words() {
        for (text, plain) in [
            (
                "invalid type: string \"x\", expected u64",
                "invalid type: string \"x\", expected a whole number",
            ),
            (
                "integer `1`, expected struct Results at line 1",
                "integer `1`, expected an object at line 1",
            ),
            (
                "expected f64\nexpected i8;",
                "expected a number\nexpected a whole number;",
            ),
            ("expected u64s, expected", "expected u64s, expected"),
            ("expected a, not b", "expected a, not b"),
        ] {
            assert_eq!(without_types(text), plain);
        }
    }
}
