//! The report on a terminal: arms as rows, as many figures side by side as fit.
use super::{comparisons, curves, number, tables, text, words};
use crate::study::{figures, FigureStudy};
use crate::Study;
use raw::plan::Better;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

use super::table::Tone;

const BOLD: &str = "1";
const GAP: usize = 2;

/// The study as text of at most `width` columns (40 at the least), with ANSI colours when asked.
pub fn terminal(study: &Study, width: usize, color: bool) -> String {
    let page = Page {
        width: width.max(40),
        color,
    };
    let mut out = String::new();
    page.head(study, &mut out);
    page.figures(study, &mut out);
    page.curves(study, &mut out);
    page.failures(study, &mut out);
    page.promises(study, &mut out);
    out
}

struct Page {
    width: usize,
    color: bool,
}

/// Lines of one cell.
type Lines = Vec<(String, Tone)>;

impl Page {
    fn paint(&self, text: &str, code: &str) -> String {
        match self.color && !code.is_empty() && !text.is_empty() {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_string(),
        }
    }

    fn toned(&self, text: &str, tone: Tone) -> String {
        let code = match tone {
            Tone::Plain => "",
            Tone::Good => "32",
            Tone::Bad | Tone::Gap => "31",
            Tone::Faint => "2",
        };
        self.paint(text, code)
    }

    fn head(&self, study: &Study, out: &mut String) {
        let run = &study.run;
        for line in wrap(&text::line(&run.title), self.width) {
            let _ = writeln!(out, "{}", self.paint(&line, BOLD));
        }
        let bed = &run.bed;
        let place = format!(
            "{}, {} MiB, {} CPU{}; {} repetitions; {}",
            text::line(&bed.name),
            bed.memory_mb,
            bed.cpus,
            if bed.cpus == 1 { "" } else { "s" },
            run.repetitions,
            number::date(run.started)
        );
        for line in wrap(&place, self.width) {
            let _ = writeln!(out, "{}", self.toned(&line, Tone::Faint));
        }
        out.push('\n');
    }

    fn figures(&self, study: &Study, out: &mut String) {
        let labels: Vec<String> = study
            .arms
            .iter()
            .map(|a| text::line(study.label(&a.name)))
            .collect();
        let widest = labels.iter().map(|l| l.width()).max().unwrap_or(0);
        let first = widest.clamp(3, self.width / 3);
        let columns: Vec<Column> = study.figures.iter().map(column).collect();
        let mut rest: &[Column] = &columns;
        let mut before = None;
        while let Some(lead) = rest.first() {
            let mut taken = 0;
            let mut used = first;
            for column in rest.iter().take_while(|c| c.scene == lead.scene) {
                let wide = column.width(self.width - first - GAP);
                if taken > 0 && used + GAP + wide > self.width {
                    break;
                }
                used += GAP + wide;
                taken += 1;
            }
            let (now, later) = rest.split_at(taken);
            let more = if before == Some(&lead.scene) {
                ", continued"
            } else {
                ""
            };
            before = Some(&lead.scene);
            let scene = format!("Scene {}{more}", text::line(&lead.scene));
            for line in wrap(&scene, self.width) {
                let _ = writeln!(out, "{}", self.paint(&line, BOLD));
            }
            self.table("Arm", &labels, first, now, out);
            rest = later;
        }
        if !columns.is_empty() {
            let legend = "median of trials [95 % interval of the mean]; ratio to the baseline arm";
            for sentence in [legend.to_string()].iter().chain(&words::caution(study)) {
                for line in wrap(sentence, self.width) {
                    let _ = writeln!(out, "{}", self.toned(&line, Tone::Faint));
                }
            }
            out.push('\n');
        }
    }

    /// Of a curve rows are `x`, columns series; all of them, since they are to be compared.
    fn curves(&self, study: &Study, out: &mut String) {
        let curves = curves::tables(study).into_iter();
        for table in curves.chain(comparisons::tables(study)) {
            for line in wrap(&text::line(&table.caption), self.width) {
                let _ = writeln!(out, "{}", self.paint(&line, BOLD));
            }
            let rows = table.groups.iter().flat_map(|group| &group.rows);
            let rows: Vec<_> = rows.collect();
            let labels: Vec<String> = rows.iter().map(|r| r.cells[0].main.clone()).collect();
            let head = table.head[0].0.as_str();
            let widest = labels.iter().map(|l| l.width()).max().unwrap_or(0);
            let first = widest.max(head.width()).min(self.width / 3);
            let column = |place: usize| Column {
                scene: String::new(),
                title: text::line(&table.head[place].0),
                better: "",
                cells: rows
                    .iter()
                    .map(|row| {
                        let cell = &row.cells[place];
                        let mut lines = vec![(text::line(&cell.main), cell.tone)];
                        lines.extend(cell.small.iter().cloned());
                        lines
                    })
                    .collect(),
            };
            let columns: Vec<Column> = (1..table.head.len()).map(column).collect();
            let mut rest: &[Column] = &columns;
            while !rest.is_empty() {
                let mut used = first;
                let fit = rest.iter().take_while(|column| {
                    used += GAP + column.width(self.width - first - GAP);
                    used <= self.width
                });
                let (now, later) = rest.split_at(fit.count().max(1));
                self.table(head, &labels, first, now, out);
                rest = later;
            }
        }
    }

    fn table(
        &self,
        head: &str,
        labels: &[String],
        first: usize,
        columns: &[Column],
        out: &mut String,
    ) {
        let room = self.width - first - GAP;
        let widths: Vec<usize> = columns.iter().map(|c| c.width(room)).collect();
        let heads: Vec<Lines> = columns
            .iter()
            .zip(&widths)
            .map(|(c, &w)| {
                let lines = wrap(&c.title, w).into_iter().map(|l| (l, Tone::Plain));
                let mut lines: Lines = lines.collect();
                if !c.better.is_empty() {
                    lines.extend(wrap(c.better, w).into_iter().map(|l| (l, Tone::Faint)));
                }
                lines
            })
            .collect();
        self.row(
            &[(head.to_string(), Tone::Plain)],
            first,
            &heads,
            &widths,
            out,
        );
        let total = first + widths.iter().map(|w| w + GAP).sum::<usize>();
        let _ = writeln!(out, "{}", self.toned(&"─".repeat(total), Tone::Faint));
        for (place, label) in labels.iter().enumerate() {
            let label: Lines = wrap(label, first)
                .into_iter()
                .map(|l| (l, Tone::Plain))
                .collect();
            let cells: Vec<Lines> = columns
                .iter()
                .zip(&widths)
                .map(|(c, &w)| {
                    let wrapped = |(text, tone): &(String, Tone)| -> Lines {
                        wrap(text, w).into_iter().map(|l| (l, *tone)).collect()
                    };
                    c.cells[place].iter().flat_map(wrapped).collect()
                })
                .collect();
            self.row(&label, first, &cells, &widths, out);
        }
        out.push('\n');
    }

    fn row(
        &self,
        label: &[(String, Tone)],
        first: usize,
        cells: &[Lines],
        widths: &[usize],
        out: &mut String,
    ) {
        let deep = cells.iter().map(Vec::len).max().unwrap_or(0);
        for depth in 0..deep.max(label.len()) {
            let none = (String::new(), Tone::Plain);
            let (text, tone) = label.get(depth).unwrap_or(&none);
            let mut line = self.toned(text, *tone) + &pad(text, first);
            for (cell, &wide) in cells.iter().zip(widths) {
                let (text, tone) = cell.get(depth).unwrap_or(&none);
                line += &" ".repeat(GAP);
                line += &pad(text, wide);
                line += &self.toned(text, *tone);
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }

    fn failures(&self, study: &Study, out: &mut String) {
        for arm in study.arms.iter().filter(|a| a.absent > 0) {
            let text = format!(
                "{}: {} of {} trials never ran",
                text::line(study.label(&arm.name)),
                arm.absent,
                arm.planned
            );
            for line in wrap(&text, self.width) {
                let _ = writeln!(out, "{}", self.toned(&line, Tone::Bad));
            }
        }
        for failure in &study.failures {
            let text = format!(
                "{}, {}: {}",
                study.label(&failure.arm),
                words::repetition(failure),
                words::outcome(&failure.outcome)
            );
            for line in wrap(&text::line(&text), self.width) {
                let _ = writeln!(out, "{}", self.toned(&line, Tone::Bad));
            }
        }
        if !study.failures.is_empty() || study.arms.iter().any(|a| a.absent > 0) {
            out.push('\n');
        }
    }

    fn promises(&self, study: &Study, out: &mut String) {
        if study.promises.is_empty() {
            return;
        }
        let _ = writeln!(out, "{}", self.paint("Promises", BOLD));
        for p in &study.promises {
            let (mark, tone) = match (p.holds, p.unsure) {
                (true, false) => ("ok    ", Tone::Good),
                (true, true) => ("ok?   ", Tone::Plain),
                (false, true) => ("UNSURE", Tone::Bad),
                (false, false) => ("BROKEN", Tone::Bad),
            };
            let mut sentence = format!(
                "{} — {}: {} ({})",
                p.title,
                study.label(&p.arm),
                words::promised_value(study, p),
                words::bound(study, p)
            );
            if !p.why.is_empty() {
                sentence.push_str(&format!("; {}", p.why));
            }
            let indent = mark.width() + GAP;
            for (place, line) in wrap(&text::line(&sentence), self.width - indent)
                .iter()
                .enumerate()
            {
                let lead = match place {
                    0 => self.toned(mark, tone),
                    _ => " ".repeat(mark.width()),
                };
                let _ = writeln!(out, "{lead}{}{line}", " ".repeat(GAP));
            }
        }
        let holding = study.promises.iter().filter(|p| p.holds).count();
        let _ = writeln!(out, "{holding} of {} hold", study.promises.len());
    }
}

struct Column {
    scene: String,
    title: String,
    better: &'static str,
    /// One an arm.
    cells: Vec<Lines>,
}

impl Column {
    /// Wide enough for the numbers; reasons and long titles wrap.
    fn width(&self, room: usize) -> usize {
        let reasons = 18;
        let cells = self.cells.iter().flatten();
        let numbers = cells.map(|(text, tone)| match tone {
            Tone::Gap => text.width().min(reasons),
            _ => text.width(),
        });
        let heads = [self.title.as_str(), self.better].map(|t| t.width().min(reasons));
        let least = heads.into_iter().max().unwrap_or(0);
        numbers.max().unwrap_or(0).max(least).min(room)
    }
}

fn column(f: &FigureStudy) -> Column {
    Column {
        scene: f.figure.scene.clone(),
        title: text::line(&f.figure.title),
        better: match f.figure.better {
            Better::Neutral => "",
            better => words::better(better),
        },
        cells: f
            .cells
            .iter()
            .map(|c| cell(f, c).into_iter())
            .map(|lines| lines.map(|(t, tone)| (text::line(&t), tone)).collect())
            .collect(),
    }
}

fn cell(f: &FigureStudy, cell: &figures::Cell) -> Lines {
    let unit = &f.figure.unit;
    let mut lines: Lines = Vec::new();
    match &cell.across {
        Some(across) => {
            lines.push((number::value(across.median, unit), Tone::Plain));
            let range = match across.interval {
                Some(i) => format!("[{}]", number::range(i.low, i.high, unit)),
                None => "one trial".into(),
            };
            lines.push((range.replace(' ', "\u{a0}"), Tone::Faint));
        }
        None => lines.push(("no data".into(), Tone::Bad)),
    }
    if let Some((text, tone)) = tables::ratio(cell, f.figure.better) {
        lines.push((text, tone));
    }
    for gap in &cell.gaps {
        lines.push((gap.to_string(), Tone::Gap));
    }
    lines
}

fn pad(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.width()))
}

/// Breaks at spaces, and within words that are wider than a line.
fn wrap(text: &str, width: usize) -> Vec<String> {
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
    fn wrapping() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("a abcdef", 4), ["a", "abcd", "ef"]);
        assert_eq!(wrap("", 4), [""]);
    }
}
