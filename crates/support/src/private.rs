//! Names that a report does not need: the machine's, and its users'.
use kernfs::Root;
use std::fs;

/// The ids of people's accounts, as systemd and login.defs(5) have them.
const PEOPLE: std::ops::Range<u32> = 1000..60_000;
/// Shorter names are parts of other words too often.
const SHORTEST: usize = 3;

/// Names, and the words that stand for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(Vec<(String, String)>);

impl Names {
    /// Those of the machine below `root`.
    #[must_use]
    pub fn of(root: &Root) -> Names {
        let mut found = Vec::new();
        let host = fs::read_to_string(root.path("/proc/sys/kernel/hostname")).unwrap_or_default();
        let host = host.trim();
        if host != "localhost" {
            found.push((host.to_owned(), "HOST".to_owned()));
        }
        let users = fs::read_to_string(root.path("/etc/passwd")).unwrap_or_default();
        let people = users.lines().filter_map(|line| {
            let mut fields = line.split(':');
            let (name, id) = (fields.next()?, fields.nth(1)?);
            PEOPLE.contains(&id.parse().ok()?).then(|| name.to_owned())
        });
        found.extend(people.zip((1..).map(|number| format!("USER{number}"))));
        found.retain(|(name, _)| name.len() >= SHORTEST);
        // A name that is part of another comes after it.
        found.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Names(found)
    }

    /// The text with each name replaced where it is a word of its own.
    #[must_use]
    pub fn replaced(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, word) in &self.0 {
            text = replaced(&text, name, word);
        }
        text
    }
}

fn replaced(text: &str, name: &str, word: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let in_a_word = |letter: Option<char>| {
            letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
        };
        done.push_str(before);
        let preceding = before.chars().last().or(done.chars().last());
        match in_a_word(preceding) || in_a_word(after.chars().next()) {
            true => done.push_str(name),
            false => done.push_str(word),
        }
        rest = after;
    }
    done.push_str(rest);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_replaced() {
        assert_eq!(
            replaced("ann: /home/ann/annual channel ann", "ann", "USER1"),
            "USER1: /home/USER1/annual channel USER1"
        );
        assert_eq!(replaced("annann ann", "ann", "U"), "annann U");
    }
}
