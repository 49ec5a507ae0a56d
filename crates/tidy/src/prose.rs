//! The length of sentences in the guide, the design pages and the man pages.
use crate::tree::Tree;
use anyhow::Result;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::path::Path;

/// The most words in a sentence. The style guide's goal is 25.
const MOST_WORDS: usize = 30;

pub fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in &tree.files {
        let paragraphs = match kind_of(file) {
            Some(Kind::Markdown) => markdown(&tree.text(file)?),
            Some(Kind::Man) => man(&tree.text(file)?),
            None => continue,
        };
        for (line, paragraph) in paragraphs {
            for sentence in long_sentences(&paragraph) {
                let count = sentence.split_whitespace().count();
                let start: String = sentence.chars().take(60).collect();
                findings.push(format!(
                    "{}:{line}: {count} words: {start}...",
                    file.display()
                ));
            }
        }
    }
    Ok(findings)
}

enum Kind {
    Markdown,
    Man,
}

/// The kind of a checked file; none for a file that is not checked, such as docs/measurements.
fn kind_of(file: &Path) -> Option<Kind> {
    let markdown = file.extension().is_some_and(|found| found == "md");
    let short = ["docs/guide", "docs/design"]
        .iter()
        .any(|folder| file.starts_with(folder))
        || (markdown && file.components().count() == 1);
    match () {
        () if file.starts_with("dist/man") => Some(Kind::Man),
        () if markdown && short => Some(Kind::Markdown),
        () => None,
    }
}

/// Paragraphs and items of lists, each with its first line. Code, tables and headings are left out.
fn markdown(text: &str) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<(usize, String)> = Vec::new();
    let mut apart = true;
    let mut skipped = 0;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::Table(_) | Tag::Heading { .. }) => skipped += 1,
            Event::End(TagEnd::CodeBlock | TagEnd::Table | TagEnd::Heading(_)) => skipped -= 1,
            Event::Start(Tag::Paragraph | Tag::Item)
            | Event::End(TagEnd::Paragraph | TagEnd::Item) => {
                apart = true;
            }
            Event::Text(part) | Event::Code(part) if skipped == 0 => {
                if apart {
                    let line = text[..range.start].matches('\n').count() + 1;
                    paragraphs.push((line, String::new()));
                    apart = false;
                }
                if let Some((_, paragraph)) = paragraphs.last_mut() {
                    paragraph.push_str(&part);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some((_, paragraph)) = paragraphs.last_mut() {
                    paragraph.push(' ');
                }
            }
            _ => {}
        }
    }
    paragraphs
}

/// Paragraphs of a page in man(7)'s macros. Examples (`.nf` or `.EX` to `.fi` or `.EE`) are left out.
fn man(text: &str) -> Vec<(usize, String)> {
    let mut paragraphs: Vec<(usize, String)> = Vec::new();
    let (mut apart, mut example) = (true, false);
    for (number, line) in text.lines().enumerate() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let text = match word {
            ".nf" | ".EX" => {
                example = true;
                continue;
            }
            ".fi" | ".EE" => {
                (example, apart) = (false, true);
                continue;
            }
            // Fonts within a sentence.
            ".B" | ".I" | ".BR" | ".IR" | ".RB" | ".RI" | ".BI" | ".IB" => rest,
            _ if word.starts_with('.') || word.starts_with('\'') || line.trim().is_empty() => {
                apart = true;
                continue;
            }
            _ => line,
        };
        if example {
            continue;
        }
        if apart {
            paragraphs.push((number + 1, String::new()));
            apart = false;
        }
        if let Some((_, paragraph)) = paragraphs.last_mut() {
            paragraph.push_str(text);
            paragraph.push(' ');
        }
    }
    paragraphs
}

/// Sentences end at a full stop, a question mark, an exclamation mark, a colon or a semicolon that a
/// blank follows.
fn long_sentences(paragraph: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let bytes = paragraph.as_bytes();
    for at in 0..bytes.len() {
        let end = at + 1 == bytes.len()
            || (b".?!:;".contains(&bytes[at]) && bytes[at + 1].is_ascii_whitespace());
        if end {
            let sentence = paragraph[start..=at].trim();
            if sentence.split_whitespace().count() > MOST_WORDS {
                found.push(sentence);
            }
            start = at + 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(count: usize) -> String {
        vec!["word"; count].join(" ")
    }

    #[test]
    fn only_sentences_over_the_limit_are_found() {
        let text = format!("{}. {}; {}!", words(30), words(31), words(2));
        assert_eq!(long_sentences(&text).len(), 1);
        assert_eq!(long_sentences(&words(31)).len(), 1);
    }

    #[test]
    fn code_tables_and_headings_are_not_prose() {
        let long = words(40);
        let page = format!("# {long}\n\n    {long}\n\n| a |\n|---|\n| {long} |\n\n- one\n- two\n");
        let paragraphs = markdown(&page);
        assert_eq!(paragraphs, [(9, "one".to_owned()), (10, "two".to_owned())]);
    }

    #[test]
    fn words_in_another_font_belong_to_the_sentence() {
        let page = ".SH NAME\none\n.B two\nthree.\n.PP\n.nf\nfour\n.fi\nfive\n";
        let paragraphs = man(page);
        assert_eq!(paragraphs[0], (2, "one two three. ".to_owned()));
        assert_eq!(paragraphs[1], (9, "five ".to_owned()));
    }
}
