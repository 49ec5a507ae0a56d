//! `report.md`: GitHub's Markdown, in the order of the page.
use super::phrases::{figure, headline, run};
use super::table::{Cell, Table, Tone};
use super::tables::{self, comparisons, curves};
use super::text::{fenced, markdown as esc};
use super::{number, text};
use crate::Study;
use std::fmt::Write;

/// The whole report.
pub fn markdown(study: &Study) -> String {
    let mut out = String::new();
    head(&mut out, study);
    results(&mut out, study);
    failures(&mut out, study);
    figures(&mut out, study);
    measured(&mut out, study);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn head(out: &mut String, study: &Study) {
    let facts = &study.run;
    let _ = writeln!(out, "# {}\n", esc(&facts.title));
    if let Some(found) = headline::headline(study) {
        let _ = writeln!(out, "{}\n", esc(&found.sentence()));
    }
    let sentences: Vec<String> = headline::summary(study).iter().map(|s| esc(s)).collect();
    let _ = writeln!(out, "**{}** {}\n", sentences[0], sentences[1..].join(" "));
    let _ = writeln!(
        out,
        "{} · {} arms × {} · {} · {} · hotset {}\n",
        esc(&facts.bed.name),
        study.arms.len(),
        run::repetitions(study),
        esc(&facts.experiment),
        number::date(facts.started),
        esc(&facts.hotset_version)
    );
}

fn results(out: &mut String, study: &Study) {
    if !study.curves.is_empty() {
        out.push_str("## Curves\n\n");
        for one in curves::tables(study) {
            table(out, &one);
        }
        out.push_str("Each cell is the mean of the trials, with its spread.\n\n");
    }
    if !study.promises.is_empty() {
        out.push_str("## Promises\n\n");
        rows(out, &tables::promises(study));
    }
}

fn failures(out: &mut String, study: &Study) {
    let Some(found) = tables::run::failures(study) else {
        return;
    };
    out.push_str("## Trials that did not end well\n\n");
    rows(out, &found);
    for failure in &study.failures {
        let _ = writeln!(
            out,
            "Last lines of the console: {}, {}\n\n{}",
            esc(study.label(&failure.arm)),
            esc(&run::repetition(failure)),
            fenced(&failure.console_tail.join("\n"))
        );
    }
}

fn figures(out: &mut String, study: &Study) {
    if !study.figures.is_empty() {
        out.push_str("## Figures\n\n");
        let _ = writeln!(out, "{}\n", esc(&figure::legend(study)));
        for one in tables::figures(study, tables::PAGE_WIDE) {
            table(out, &one);
        }
        bullets(out, &figure::left_out(study));
    }
    bullets(out, &run::caution(study));
    if !study.comparisons.is_empty() {
        out.push_str("## Beside published figures\n\n");
        for one in comparisons::tables(study) {
            table(out, &one);
        }
        let _ = writeln!(out, "{}\n", figure::COMPARED);
    }
    if figure::shown(study).next().is_some() {
        out.push_str("## All statistics\n\n");
        rows(out, &tables::statistics(study));
    }
}

fn measured(out: &mut String, study: &Study) {
    let about = study.run.about.trim();
    out.push_str("## How it was measured\n\n");
    if !about.is_empty() {
        let _ = writeln!(out, "{}\n", text::clean(about));
    }
    rows(out, &tables::run::arms(study));
    rows(out, &tables::run::bed(study));
    out.push_str("The command:\n\n");
    out.push_str(&fenced(&study.run.command));
    out.push_str("\n## How the numbers are made\n\n");
    bullets(out, &figure::method(study));
}

fn bullets(out: &mut String, sentences: &[String]) {
    for sentence in sentences {
        let _ = writeln!(out, "- {}", esc(sentence));
    }
    if !sentences.is_empty() {
        out.push('\n');
    }
}

fn table(out: &mut String, table: &Table) {
    let _ = writeln!(out, "### {}\n", esc(&table.caption));
    rows(out, table);
}

/// Groups become tables of their own: Markdown's have no row that spans all columns.
fn rows(out: &mut String, table: &Table) {
    for group in &table.groups {
        if let Some(title) = &group.title {
            let _ = writeln!(out, "**{}**\n", esc(title));
        }
        for (head, small) in &table.head {
            let small = if small.is_empty() {
                String::new()
            } else {
                format!(" ({})", esc(small))
            };
            let _ = write!(out, "| {}{small} ", esc(head));
        }
        out.push_str("|\n");
        for place in 0..table.head.len() {
            let numeric = group.rows.iter().any(|r| r.cells[place].numeric);
            out.push_str(if numeric { "|---:" } else { "|---" });
        }
        out.push_str("|\n");
        for row in &group.rows {
            for one in &row.cells {
                let _ = write!(out, "| {} ", cell(one));
            }
            out.push_str("|\n");
        }
        out.push('\n');
    }
    bullets(out, &table.notes);
}

fn cell(cell: &Cell) -> String {
    let tone = |text: &str, tone: Tone| match tone {
        Tone::Good | Tone::Bad => format!("**{}**", esc(text)),
        Tone::Plain | Tone::Faint => esc(text),
    };
    let mut parts = Vec::new();
    if !cell.main.is_empty() {
        parts.push(tone(&cell.main, cell.tone));
    }
    parts.extend(cell.small.iter().map(|(text, t)| tone(text, *t)));
    parts.join("<br>")
}
