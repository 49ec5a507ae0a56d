//! Foreign text (names, kernel messages) made harmless in each format.

/// Text without control characters and without those that change the direction of writing. A
/// console's escape sequences must neither reach a terminal nor break a page. Line feeds and tabs
/// stay.
pub fn clean(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => {
                '\u{fffd}'
            }
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// Clean text on one line; see [`clean`].
pub fn line(text: &str) -> String {
    clean(text).replace(['\n', '\t'], " ")
}

/// Clean text on one line for Markdown's paragraphs and table cells; none of it is markup.
pub fn markdown(text: &str) -> String {
    let mut out = String::new();
    for c in line(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// A fenced block of Markdown, whose fence the text cannot close.
pub fn fenced(text: &str) -> String {
    let text = clean(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_never_markup() {
        assert_eq!(
            clean("\u{1b}[31mred\u{202e}\r\n"),
            "\u{fffd}[31mred\u{fffd}\u{fffd}\n"
        );
        assert_eq!(markdown("a|b\n*c*"), "a\\|b \\*c\\*");
        assert!(fenced("x\n```\n").starts_with("````text\nx\n```\n````"));
    }
}
