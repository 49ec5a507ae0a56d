//! Text broken into lines by the columns that it takes.
use unicode_width::UnicodeWidthStr;

pub fn pad(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.width()))
}

/// Lines of at most `width` columns. They break at spaces, or within a word wider than a line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        let last = lines.last().map_or(0, |l| l.width());
        if last > 0 && last + 1 + word.width() > width {
            lines.push(String::new());
        } else if last > 0 {
            push(&mut lines, ' ');
        }
        for c in word.chars() {
            let full = lines.last().map_or(0, |l| l.width()) + one(c) > width;
            if full {
                lines.push(String::new());
            }
            push(&mut lines, c);
        }
    }
    lines
}

fn one(c: char) -> usize {
    UnicodeWidthStr::width(c.encode_utf8(&mut [0; 4]) as &str)
}

fn push(lines: &mut [String], c: char) {
    if let Some(last) = lines.last_mut() {
        last.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_within_long_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("a abcdef", 4), ["a", "abcd", "ef"]);
        assert_eq!(wrap("", 4), [""]);
    }
}
