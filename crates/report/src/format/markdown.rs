//! `report.md`: GitHub's Markdown.
use super::table::{Cell, Table, Tone};
use super::text::{fenced, markdown as esc};
use super::{comparisons, curves, number, tables, text, words};
use crate::Study;
use std::fmt::Write;

/// The whole report.
pub fn markdown(study: &Study) -> String {
    let run = &study.run;
    let mut out = format!("# {}\n\n", esc(&run.title));
    let _ = writeln!(
        out,
        "Experiment {} · {} · hotset {} · {} arms × {} repetitions\n",
        esc(&run.experiment),
        number::date(run.started),
        esc(&run.hotset_version),
        study.arms.len(),
        run.repetitions
    );
    let verdict: Vec<String> = words::verdict(study).iter().map(|s| esc(s)).collect();
    let _ = writeln!(out, "**{}** {}\n", verdict[0], verdict[1..].join(" "));
    if !run.about.trim().is_empty() {
        let _ = writeln!(out, "{}\n", text::clean(run.about.trim()));
    }
    out.push_str("## Figures\n\n");
    bullets(&mut out, &words::caution(study));
    for one in tables::main(study) {
        table(&mut out, &one, 3);
    }
    out.push_str(
        "Median of the trials [95 % confidence interval of the mean], then the ratio to the arm's \
         baseline.\n\n",
    );
    if !study.curves.is_empty() {
        out.push_str("## Curves\n\n");
        for one in curves::tables(study) {
            table(&mut out, &one, 3);
        }
        out.push_str("Mean of the trials [95 % confidence interval of the mean].\n\n");
    }
    if !study.comparisons.is_empty() {
        out.push_str("## Beside what was published\n\n");
        for one in comparisons::tables(study) {
            table(&mut out, &one, 3);
        }
        let _ = writeln!(out, "{}\n", words::COMPARED);
    }
    if !study.promises.is_empty() {
        out.push_str("## Promises\n\n");
        rows(&mut out, &tables::promises(study));
    }
    if let Some(failures) = tables::failures(study) {
        out.push_str("## Trials that did not end well\n\n");
        rows(&mut out, &failures);
        for failure in &study.failures {
            let _ = writeln!(
                out,
                "Console of {}, {}, its last lines:\n\n{}",
                esc(study.label(&failure.arm)),
                esc(&words::repetition(failure)),
                fenced(&failure.console_tail.join("\n"))
            );
        }
    }
    out.push_str("## All statistics\n\n");
    rows(&mut out, &tables::full(study));
    out.push_str("## Arms and test bed\n\n");
    rows(&mut out, &tables::arms(study));
    rows(&mut out, &tables::bed(study));
    out.push_str("## Reproduce\n\n");
    out.push_str(&fenced(&run.command));
    out.push_str("\n## How the numbers are made\n\n");
    bullets(&mut out, &words::method(study));
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn bullets(out: &mut String, sentences: &[String]) {
    for sentence in sentences {
        let _ = writeln!(out, "- {}", esc(sentence));
    }
    if !sentences.is_empty() {
        out.push('\n');
    }
}

fn table(out: &mut String, table: &Table, level: usize) {
    let _ = writeln!(out, "{} {}\n", "#".repeat(level), esc(&table.caption));
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
}

fn cell(cell: &Cell) -> String {
    let tone = |text: &str, tone: Tone| match tone {
        Tone::Good | Tone::Bad | Tone::Gap => format!("**{}**", esc(text)),
        Tone::Plain | Tone::Faint => esc(text),
    };
    let mut parts = Vec::new();
    if !cell.main.is_empty() {
        parts.push(tone(&cell.main, cell.tone));
    }
    parts.extend(cell.small.iter().map(|(text, t)| tone(text, *t)));
    parts.join("<br>")
}
