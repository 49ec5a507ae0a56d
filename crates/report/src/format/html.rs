//! `report.html`: one file that needs nothing else, neither network nor script.
//!
//! It is also well-formed XML, so that a strict parser can check it.
use super::table::{Cell, Table, Tone};
use super::text::{self, html as esc};
use super::{about, comparisons, curves, number, svg, tables, words};
use crate::study::{ChartStudy, FailedTrial, Line, Study};
use std::fmt::Write;

const STYLE: &str = include_str!("report.css");

/// What closes a page that [`begin`] opened.
pub(super) const END: &str = "</main></body></html>\n";

/// The whole page.
pub fn html(study: &Study) -> String {
    let mut out = begin(&study.run.title);
    head(&mut out, study);
    figures(&mut out, study);
    drawn_curves(&mut out, study);
    published(&mut out, study);
    promises(&mut out, study);
    failures(&mut out, study);
    charts(&mut out, study);
    section(&mut out, "statistics", "All statistics");
    table(&mut out, &tables::full(study), "full named", svg::key);
    out.push_str("</section>\n");
    bed(&mut out, study);
    out.push_str(END);
    out
}

/// The page up to what it says; [`END`] ends it.
pub(super) fn begin(title: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
         <meta name=\"color-scheme\" content=\"light dark\"/>\
         <title>{}</title>\n<style>{STYLE}</style></head>\n<body><main>\n",
        esc(&text::line(title))
    )
}

fn head(out: &mut String, study: &Study) {
    let run = &study.run;
    let _ = writeln!(
        out,
        "<header><h1>{}</h1><p class=\"meta\">{} · {} · hotset {} · {} arms × {} repetitions</p>",
        esc(&run.title),
        esc(&run.experiment),
        number::date(run.started),
        esc(&run.hotset_version),
        study.arms.len(),
        run.repetitions
    );
    let verdict: Vec<String> = words::verdict(study).iter().map(|s| esc(s)).collect();
    let class = if study.all_hold() { "holds" } else { "broken" };
    let _ = writeln!(
        out,
        "<p class=\"verdict {class}\"><strong>{}</strong> {}</p>",
        verdict[0],
        verdict[1..].join(" ")
    );
    out.push_str("<nav aria-label=\"Contents\">");
    let mut links = vec![("figures", "Figures")];
    if !study.promises.is_empty() {
        links.push(("promises", "Promises"));
    }
    if !study.curves.is_empty() {
        links.insert(1, ("curves", "Curves"));
    }
    if !study.comparisons.is_empty() {
        links.insert(1, ("published", "Beside what was published"));
    }
    if !study.failures.is_empty() {
        links.push(("failures", "Failures"));
    }
    links.extend([
        ("charts", "Charts"),
        ("statistics", "All statistics"),
        ("bed", "Arms and bed"),
        ("method", "Method"),
    ]);
    for (id, name) in links {
        let _ = write!(out, "<a href=\"#{id}\">{name}</a> ");
    }
    out.push_str("</nav>");
    if !run.about.trim().is_empty() {
        let _ = write!(
            out,
            "<div class=\"about\">{}</div>",
            about::to_html(&run.about)
        );
    }
    out.push_str("</header>\n");
}

pub(super) fn section(out: &mut String, id: &str, title: &str) {
    let _ = writeln!(out, "<section id=\"{id}\"><h2>{}</h2>", esc(title));
}

fn figures(out: &mut String, study: &Study) {
    section(out, "figures", "Figures");
    out.push_str(
        "<p>Median of the trials, [95 % confidence interval of the mean], ratio to the arm’s \
         baseline.</p>",
    );
    caution(out, study);
    if study.figures.is_empty() {
        out.push_str("<p>The experiment names no figures.</p>");
    }
    for one in tables::main(study) {
        table(out, &one, "main", svg::key);
    }
    out.push_str("</section>\n");
}

fn published(out: &mut String, study: &Study) {
    if study.comparisons.is_empty() {
        return;
    }
    section(out, "published", "Beside what was published");
    let _ = writeln!(out, "<p>{}</p>", words::COMPARED);
    for one in comparisons::tables(study) {
        table(out, &one, "main", svg::key);
    }
    out.push_str("</section>\n");
}

fn drawn_curves(out: &mut String, study: &Study) {
    if study.curves.is_empty() {
        return;
    }
    section(out, "curves", "Curves");
    out.push_str("<p>Mean of the trials; bars and brackets are its 95 % confidence interval.</p>");
    for (curve, found) in study.curves.iter().zip(curves::tables(study)) {
        let unit = match number::name(&curve.curve.unit) {
            "" => String::new(),
            unit => format!(", {}", esc(unit)),
        };
        let keys =
            curve.lines.iter().enumerate().map(|(place, line)| {
                format!("{} {}", svg::key(place), esc(&text::line(&line.label)))
            });
        let keys: Vec<String> = keys.collect();
        let _ = writeln!(
            out,
            "<h3>{}{unit}</h3><p class=\"key-line\">Scene “{}”. {}</p><div \
             class=\"panels\"><figure>{}</figure></div>",
            esc(&curve.curve.title),
            esc(&curve.curve.scene),
            keys.join(" · "),
            curves::drawn(curve)
        );
        table(out, &found, "main", svg::key);
    }
    out.push_str("</section>\n");
}

fn caution(out: &mut String, study: &Study) {
    let caution = words::caution(study);
    if !caution.is_empty() {
        let text: Vec<String> = caution.iter().map(|s| esc(s)).collect();
        let _ = writeln!(out, "<p class=\"caution\">{}</p>", text.join(" "));
    }
}

fn promises(out: &mut String, study: &Study) {
    if study.promises.is_empty() {
        return;
    }
    section(out, "promises", "Promises");
    table(
        out,
        &tables::promises(study),
        "promises named cards",
        svg::key,
    );
    out.push_str("</section>\n");
}

fn failures(out: &mut String, study: &Study) {
    let Some(found) = tables::failures(study) else {
        return;
    };
    section(out, "failures", "Trials that did not end well");
    table(out, &found, "failures named cards", svg::key);
    for failure in &study.failures {
        console(out, study, failure);
    }
    out.push_str("</section>\n");
}

fn console(out: &mut String, study: &Study, failure: &FailedTrial) {
    let tail = match failure.console_tail.is_empty() {
        true => "(the console said nothing)".to_string(),
        false => failure.console_tail.join("\n"),
    };
    let _ = writeln!(
        out,
        "<h3>Console of {}, {}: last lines</h3><pre tabindex=\"0\">{}</pre>",
        esc(&text::line(study.label(&failure.arm))),
        esc(&words::repetition(failure)),
        esc(&tail)
    );
}

fn charts(out: &mut String, study: &Study) {
    section(out, "charts", "Charts");
    for chart in &study.charts {
        let unit = match number::name(&chart.chart.unit) {
            "" => String::new(),
            unit => format!(", {unit}"),
        };
        let scale = if chart.chart.log { ", log scale" } else { "" };
        let _ = writeln!(
            out,
            "<h3>{}{}{scale}</h3><p class=\"key-line\">Scene “{}”. {}</p><div class=\"panels\">",
            esc(&chart.chart.title),
            esc(&unit),
            esc(&chart.chart.scene),
            legend(chart)
        );
        for (label, panel) in svg::lines(study, chart) {
            let _ = writeln!(
                out,
                "<figure><figcaption>{}</figcaption>{panel}</figure>",
                esc(&text::line(&label))
            );
        }
        out.push_str("</div>\n");
    }
    if !study.figures.is_empty() {
        out.push_str(
            "<h3>Every trial</h3><p class=\"key-line\">A mark a trial; the bar is the 95 % \
             interval of the mean (without a cap it goes on), the tall line the median.</p>\
             <div class=\"panels\">",
        );
        for f in &study.figures {
            let unit = match number::name(&f.figure.unit) {
                "" => String::new(),
                unit => format!(", {}", esc(unit)),
            };
            let better = words::better(f.figure.better);
            let comma = if better.is_empty() { "" } else { "; " };
            let (chart, log) = match svg::dots(study, f) {
                Some((chart, true)) => (chart, "; log scale"),
                Some((chart, false)) => (chart, ""),
                None => ("<p class=\"bad\">no data</p>".to_string(), ""),
            };
            let _ = writeln!(
                out,
                "<figure><figcaption>{}{unit} <small>scene “{}”{comma}{better}{log}</small>\
                 </figcaption>{chart}</figure>",
                esc(&f.figure.title),
                esc(&f.figure.scene)
            );
        }
        out.push_str("</div>");
    }
    caution(out, study);
    out.push_str("</section>\n");
}

fn legend(chart: &ChartStudy) -> String {
    let any = |test: fn(&Line) -> bool| chart.arms.iter().flat_map(|a| &a.lines).any(test);
    let mut out = "Bold: the repetition whose mean is the median. Thin: the others.".to_string();
    if any(|line| !line.ok) {
        out.push_str(" Dotted: trials that failed.");
    }
    out.push_str(" Grey dashes: the arm’s baseline.");
    if any(|line| !line.kills.is_empty()) {
        out.push_str(" Ticks at the foot: OOM kills of the bold one.");
    }
    out
}

fn bed(out: &mut String, study: &Study) {
    section(out, "bed", "Arms and test bed");
    table(out, &tables::arms(study), "arms cards", svg::key);
    table(out, &tables::bed(study), "bed", svg::key);
    let _ = writeln!(
        out,
        "<h3>Reproduce</h3><pre tabindex=\"0\">{}</pre>",
        esc(&study.run.command)
    );
    if !study.run.source.trim().is_empty() {
        let _ = writeln!(
            out,
            "<details><summary>The experiment file as it was run</summary><pre \
             tabindex=\"0\">{}</pre></details>",
            esc(&study.run.source)
        );
    }
    out.push_str("</section>\n");
    section(out, "method", "How the numbers are made");
    out.push_str("<ul>");
    for sentence in words::method(study) {
        let _ = write!(out, "<li>{}</li>", esc(&sentence));
    }
    out.push_str("</ul></section>\n");
}

/// `key` draws what marks a row, by [`Row::arm`](super::table::Row::arm).
pub(super) fn table(out: &mut String, table: &Table, class: &str, key: fn(usize) -> String) {
    let _ = write!(
        out,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table \
         class=\"{class}\"><caption>{0}</caption><thead><tr>",
        esc(&table.caption)
    );
    for (place, (head, small)) in table.head.iter().enumerate() {
        let numeric = table
            .groups
            .iter()
            .flat_map(|g| &g.rows)
            .any(|r| r.cells[place].numeric);
        let class = if numeric { " class=\"num\"" } else { "" };
        let _ = write!(out, "<th scope=\"col\"{class}>{}", esc(head));
        if !small.is_empty() {
            let _ = write!(out, "<small>{}</small>", esc(small));
        }
        out.push_str("</th>");
    }
    out.push_str("</tr></thead>");
    for group in &table.groups {
        out.push_str("<tbody>");
        if let Some(title) = &group.title {
            let _ = write!(
                out,
                "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{}\"><span>{}</span></th></tr>",
                table.head.len(),
                esc(title)
            );
        }
        for row in &group.rows {
            out.push_str("<tr>");
            for (place, (one, (head, _))) in row.cells.iter().zip(&table.head).enumerate() {
                let key = match (place, row.arm) {
                    (0, Some(arm)) => key(arm),
                    _ => String::new(),
                };
                cell(out, one, (place > 0).then_some(head), &key);
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody>");
    }
    out.push_str("</table></div>\n");
}

/// `head` is the column's, which narrow screens show beside the cell; a row's own header has none.
fn cell(out: &mut String, cell: &Cell, head: Option<&String>, key: &str) {
    let (tag, scope) = match head {
        None => ("th", " scope=\"row\"".to_string()),
        Some(head) => ("td", format!(" data-head=\"{}\"", esc(head))),
    };
    let num = if cell.numeric { " class=\"num\"" } else { "" };
    let _ = write!(out, "<{tag}{scope}{num}>{key}");
    let span = |out: &mut String, text: &str, tone: Tone, tag: &str| {
        let class = match tone {
            Tone::Plain => "",
            Tone::Good => " class=\"good\"",
            Tone::Bad => " class=\"bad\"",
            Tone::Faint => " class=\"faint\"",
            Tone::Gap => " class=\"gap\"",
        };
        let _ = write!(out, "<{tag}{class}>{}</{tag}>", esc(text));
    };
    if !cell.main.is_empty() {
        span(out, &cell.main, cell.tone, "span");
    }
    for (text, tone) in &cell.small {
        span(out, text, *tone, "small");
    }
    let _ = write!(out, "</{tag}>");
}
