//! The experiment's description: Markdown, as HTML.
use crate::format::text;
use pulldown_cmark::{html, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Paragraphs, lists, code and emphasis. HTML within the Markdown becomes text. Of links and images
/// only the text stays, since the page loads nothing and leads nowhere.
pub fn to_html(markdown: &str) -> String {
    let markdown = text::clean(markdown);
    let events = Parser::new_ext(&markdown, Options::empty()).filter_map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
        Event::Start(Tag::HtmlBlock) => Some(Event::Start(Tag::Paragraph)),
        Event::End(TagEnd::HtmlBlock) => Some(Event::End(TagEnd::Paragraph)),
        Event::Start(Tag::Link { .. } | Tag::Image { .. }) => None,
        Event::End(TagEnd::Link | TagEnd::Image) => None,
        // The page has its own first two levels.
        Event::Start(Tag::Heading { .. }) => Some(Event::Start(Tag::Heading {
            level: HeadingLevel::H3,
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        })),
        Event::End(TagEnd::Heading(_)) => Some(Event::End(TagEnd::Heading(HeadingLevel::H3))),
        other => Some(other),
    });
    let mut out = String::new();
    html::push_html(&mut out, events);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_html_and_html_becomes_text() {
        let out = to_html("# One\n\n*a* `b`\n\n- c\n- d\n");
        assert!(out.contains("<h3>One</h3>"), "{out}");
        assert!(out.contains("<em>a</em> <code>b</code>"), "{out}");
        assert!(out.contains("<li>d</li>"), "{out}");
        let out =
            to_html("<script>x</script>\n\na <img src=x> [see](http://a.b/) ![pic](http://c/)");
        assert!(!out.contains("<script") && !out.contains("<img"), "{out}");
        assert!(!out.contains("http") && out.contains("see"), "{out}");
    }
}
