//! A page of tables and charts of a simulation or a trace. Like the report of a run, the page is one file
//! that loads nothing, and well-formed XML.
use super::parts::{contents, page, section, table, verbatim};
use crate::format::charts::bars;
use crate::format::charts::line_chart::{self, LineChart};
use crate::format::table::Table;
use crate::format::text::{clean, line};
use maud::{html as markup, Markup};

/// The page.
pub struct Sheet {
    pub title: String,
    /// Small print below the title.
    pub meta: String,
    /// The result in a sentence or two.
    pub verdict: String,
    /// What follows from it, such as a command.
    pub lead: Vec<Part>,
    /// A caveat on the result; none when empty.
    pub caution: String,
    pub sections: Vec<Section>,
}

/// A part of the page, with a heading that the contents lead to.
pub struct Section {
    /// Letters only: the heading's anchor.
    pub id: &'static str,
    pub title: String,
    pub parts: Vec<Part>,
}

impl Section {
    #[must_use]
    pub fn new(id: &'static str, title: &str, parts: Vec<Part>) -> Section {
        Section {
            id,
            title: title.into(),
            parts,
        }
    }
}

/// The contents of a section.
pub enum Part {
    Paragraph(String),
    /// With the class that styles it: `main` for figures, `bed` for facts.
    Table(Table, &'static str),
    Lines(LineChart),
    /// A title, and the name, the number and the shown number of each row.
    Bars(String, Vec<(String, f64, String)>),
    /// Charts beside each other where there is room.
    Panels(Vec<LineChart>),
    Verbatim(String),
}

/// The whole page.
pub fn html(sheet: &Sheet) -> String {
    let sections = &sheet.sections;
    let body = markup! {
        header {
            h1 { (line(&sheet.title)) }
            p class="meta" { (line(&sheet.meta)) }
            @if !sheet.verdict.is_empty() { p class="verdict" { (clean(&sheet.verdict)) } }
            @for found in &sheet.lead { (part(found)) }
            @if !sheet.caution.is_empty() { p class="caution" { (clean(&sheet.caution)) } }
            (contents(sections.iter().map(|one| (one.id, one.title.as_str()))))
        }
        @for one in sections {
            (section(one.id, &one.title, markup! { @for found in &one.parts { (part(found)) } }))
        }
    };
    page(&sheet.title, body)
}

fn part(part: &Part) -> Markup {
    markup! {
        @match part {
            Part::Paragraph(text) => p { (clean(text)) },
            Part::Table(found, class) => (table(found, class, line_chart::key)),
            Part::Lines(chart) => {
                h3 { (line(&chart.title)) }
                p class="key-line" { (chart.keys()) }
                figure { (chart.inline()) }
            },
            Part::Bars(title, rows) => {
                h3 { (line(title)) }
                figure { (bars(title, rows)) }
            },
            Part::Panels(charts) => div class=(if charts.len() % 2 == 0 { "panels pairs" } else { "panels" }) {
                @for chart in charts {
                    figure {
                        figcaption { (line(&chart.title)) small { (chart.keys()) } }
                        (chart.small())
                    }
                }
            },
            Part::Verbatim(text) => (verbatim(text)),
        }
    }
}
