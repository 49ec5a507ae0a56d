//! A page of tables and charts that is about no experiment: the simulator's, a trace's. Like the
//! report of a run it is one file that needs nothing else, and well-formed XML.
use super::bars::bars;
use super::html::{begin, section, table, END};
use super::line_chart::{self, LineChart};
use super::table::Table;
use super::text::{self, html as esc};
use std::fmt::Write;

/// The page.
pub struct Sheet {
    pub title: String,
    /// Small print below the title.
    pub meta: String,
    /// The result in a sentence or two.
    pub verdict: String,
    /// What a reader must know before taking the result at its word; none when empty.
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

pub enum Part {
    Words(String),
    /// With the class that styles it: `main` for figures, `bed` for facts.
    Table(Table, &'static str),
    Lines(LineChart),
    /// A title, and each row's name, number and the number as it is to be read.
    Bars(String, Vec<(String, f64, String)>),
    /// Charts beside each other where there is room.
    Panels(Vec<LineChart>),
    Verbatim(String),
}

/// The whole page.
pub fn html(sheet: &Sheet) -> String {
    let mut out = begin(&sheet.title);
    let _ = write!(
        out,
        "<header><h1>{}</h1><p class=\"meta\">{}</p>",
        esc(&text::line(&sheet.title)),
        esc(&text::line(&sheet.meta))
    );
    if !sheet.verdict.is_empty() {
        let _ = write!(out, "<p class=\"verdict\">{}</p>", esc(&sheet.verdict));
    }
    if !sheet.caution.is_empty() {
        let _ = write!(out, "<p class=\"caution\">{}</p>", esc(&sheet.caution));
    }
    out.push_str("<nav aria-label=\"Contents\">");
    for one in &sheet.sections {
        let _ = write!(out, "<a href=\"#{}\">{}</a> ", one.id, esc(&one.title));
    }
    out.push_str("</nav></header>\n");
    for one in &sheet.sections {
        section(&mut out, one.id, &one.title);
        for part in &one.parts {
            shown(&mut out, part);
        }
        out.push_str("</section>\n");
    }
    out.push_str(END);
    out
}

fn shown(out: &mut String, part: &Part) {
    // Writing to a String cannot fail.
    let _ = match part {
        Part::Words(words) => writeln!(out, "<p>{}</p>", esc(words)),
        Part::Table(one, class) => {
            table(out, one, class, line_chart::key);
            Ok(())
        }
        Part::Lines(chart) => writeln!(
            out,
            "<h3>{}</h3><p class=\"key-line\">{}</p><figure>{}</figure>",
            esc(&text::line(&chart.title)),
            chart.keys(),
            chart.inline()
        ),
        Part::Bars(title, rows) => writeln!(
            out,
            "<h3>{}</h3><figure>{}</figure>",
            esc(&text::line(title)),
            bars(title, rows)
        ),
        Part::Panels(charts) => {
            out.push_str("<div class=\"panels\">");
            for chart in charts {
                let _ = writeln!(
                    out,
                    "<figure><figcaption>{}<small>{}</small></figcaption>{}</figure>",
                    esc(&text::line(&chart.title)),
                    chart.keys(),
                    chart.small()
                );
            }
            writeln!(out, "</div>")
        }
        Part::Verbatim(words) => writeln!(out, "<pre tabindex=\"0\">{}</pre>", esc(words)),
    };
}
