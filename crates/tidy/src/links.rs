//! Checks links between the tree's pages: the file and the heading must exist.
use crate::tree::Tree;
use anyhow::Result;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use std::path::{Component, Path, PathBuf};

pub fn check(tree: &Tree) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for page in tree.with_extension("md") {
        let text = tree.text(page)?;
        for (event, range) in Parser::new(&text).into_offset_iter() {
            let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event
            else {
                continue;
            };
            if let Some(problem) = problem(tree, page, &text, &dest_url)? {
                let line = text[..range.start].lines().count().max(1);
                findings.push(format!("{}:{line}: {dest_url}: {problem}", page.display()));
            }
        }
    }
    Ok(findings)
}

/// The problem of a link of a page; none for a good link. Links to other machines are not followed.
fn problem(tree: &Tree, page: &Path, text: &str, url: &str) -> Result<Option<&'static str>> {
    if url.contains("://") || url.starts_with("mailto:") {
        return Ok(None);
    }
    let (file, heading) = url.split_once('#').unwrap_or((url, ""));
    let target = match file {
        "" => page.to_owned(),
        file => resolved(page, file),
    };
    if !tree.root.join(&target).exists() {
        return Ok(Some("no such file"));
    }
    if heading.is_empty() {
        return Ok(None);
    }
    let found = match file {
        "" => headings(text),
        _ => headings(&tree.text(&target)?),
    };
    Ok((!found.iter().any(|name| name == heading)).then_some("no such heading"))
}

/// The path of a link, without `.` and `..`.
fn resolved(page: &Path, link: &str) -> PathBuf {
    let mut path = page.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path
}

/// The anchors that a page's headings get: lower case, blanks as hyphens, other signs left out.
fn headings(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<String> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => open = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => found.extend(open.take().map(|title| anchor(&title))),
            Event::Text(part) | Event::Code(part) => {
                if let Some(title) = &mut open {
                    title.push_str(&part);
                }
            }
            _ => {}
        }
    }
    found
}

fn anchor(title: &str) -> String {
    title
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            letter => letter.is_alphanumeric().then_some(letter),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_get_the_anchors_that_forges_give_them() {
        let found = headings("# Two words\n\n## `vm.swappiness`, and why\n");
        assert_eq!(found, ["two-words", "vmswappiness-and-why"]);
    }

    #[test]
    fn a_link_is_resolved_from_its_page() {
        let path = resolved(Path::new("docs/guide/a.md"), "../design/./b.md");
        assert_eq!(path, Path::new("docs/design/b.md"));
    }
}
