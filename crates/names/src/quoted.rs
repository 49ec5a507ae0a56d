//! Words of a command line.

/// A word of a shell's command line, quoted where it must be.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=%+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_word_stays_one_word() {
        assert_eq!(quoted("/a/b-1.toml"), "/a/b-1.toml");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("a;b"), "'a;b'");
        assert_eq!(quoted("a'b"), r"'a'\''b'");
    }
}
