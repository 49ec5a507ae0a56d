//! The report on a terminal, in the order of the page: the result, charts, promises, tables.
use super::columns::{pieces, Column, Lines};
use super::sparkline;
use super::style::Style;
use crate::format::phrases::{figure, headline, promise, run};
use crate::format::table::{Table, Tone};
use crate::format::tables::{self, comparisons, curves};
use crate::format::{number, text};
use crate::Study;
use unicode_width::UnicodeWidthStr;

/// The study as text of at most `width` columns (40 at the least), with ANSI colours when asked.
pub fn terminal(study: &Study, width: usize, color: bool) -> String {
    let mut page = Page {
        style: Style {
            width: width.max(40),
            color,
        },
        out: String::new(),
    };
    page.head(study);
    page.charts(study);
    page.promises(study);
    page.failures(study);
    page.figures(study);
    page.others(study);
    page.foot(study);
    page.out
}

struct Page {
    style: Style,
    out: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.out += line.trim_end();
        self.out.push('\n');
    }

    /// Running text, wrapped.
    fn paragraph(&mut self, text: &str, tone: Tone) {
        for line in self.style.wrapped(text) {
            let line = self.style.toned(&line, tone);
            self.line(&line);
        }
    }

    fn heading(&mut self, text: &str) {
        for line in self.style.wrapped(text) {
            let line = self.style.bold(&line);
            self.line(&line);
        }
    }

    fn gap(&mut self) {
        self.out.push('\n');
    }

    fn head(&mut self, study: &Study) {
        self.heading(&study.run.title);
        let bed = &study.run.bed;
        let place = format!(
            "{}, {}, {}; {}; {}",
            bed.name,
            run::memory(study),
            run::cpus(study),
            run::repetitions(study),
            number::date(study.run.started)
        );
        self.paragraph(&place, Tone::Faint);
        self.gap();
        if let Some(found) = headline::headline(study) {
            self.paragraph(&found.sentence(), Tone::Plain);
            self.gap();
        }
    }

    /// The charts of the plan, with a line of blocks for each arm.
    fn charts(&mut self, study: &Study) {
        for chart in &study.charts {
            let Some(drawn) = sparkline::drawn(study, chart, self.style.width) else {
                continue;
            };
            self.heading(&drawn.title);
            self.paragraph(&drawn.scale, Tone::Faint);
            for line in drawn.lines {
                self.line(&line);
            }
            self.gap();
        }
    }

    fn promises(&mut self, study: &Study) {
        if study.promises.is_empty() {
            return;
        }
        self.heading("Promises");
        let standings = study
            .promises
            .iter()
            .map(|p| promise::standing(p).0.width());
        let indent = standings.max().unwrap_or(0) + 2;
        for p in &study.promises {
            let (mark, tone) = promise::standing(p);
            let mut sentence = format!(
                "{} — {}: {} ({})",
                p.title,
                study.label(&p.arm),
                promise::value(p),
                promise::bound(p)
            );
            if !p.why.is_empty() {
                sentence += &format!("; {}", p.why);
            }
            let room = Style {
                width: self.style.width - indent,
                ..self.style
            };
            for (place, line) in room.wrapped(&sentence).iter().enumerate() {
                let lead = match place {
                    0 => self.style.toned(mark, tone) + &" ".repeat(indent - mark.width()),
                    _ => " ".repeat(indent),
                };
                self.line(&(lead + line));
            }
        }
        self.gap();
    }

    fn failures(&mut self, study: &Study) {
        for arm in study.arms.iter().filter(|a| a.absent > 0) {
            let label = study.label(&arm.name);
            let text = format!(
                "{label}: {} of {} trials never ran",
                arm.absent, arm.planned
            );
            self.paragraph(&text, Tone::Bad);
        }
        for failure in &study.failures {
            let text = format!(
                "{}, {}: {}",
                study.label(&failure.arm),
                run::repetition(failure),
                run::outcome(&failure.outcome)
            );
            self.paragraph(&text, Tone::Bad);
        }
        if !study.failures.is_empty() || study.arms.iter().any(|a| a.absent > 0) {
            self.gap();
        }
    }

    /// Arms as rows, as many figures side by side as fit.
    fn figures(&mut self, study: &Study) {
        for table in tables::figures(study, usize::MAX) {
            self.heading(&table.caption);
            self.table(&table);
        }
        if figure::shown(study).next().is_some() {
            self.paragraph(&figure::legend(study), Tone::Faint);
        }
        for sentence in figure::left_out(study) {
            self.paragraph(&sentence, Tone::Faint);
        }
        if !study.figures.is_empty() {
            self.gap();
        }
    }

    /// Curves, whose rows are `x` and whose columns are series, and published figures.
    fn others(&mut self, study: &Study) {
        let curves = curves::tables(study).into_iter();
        for table in curves.chain(comparisons::tables(study)) {
            self.heading(&table.caption);
            self.table(&table);
        }
    }

    /// A table, in as many pieces as its columns need.
    fn table(&mut self, table: &Table) {
        let rows: Vec<_> = table.groups.iter().flat_map(|group| &group.rows).collect();
        let cell = |place: usize| -> Vec<Lines> {
            let lines = rows.iter().map(|row| {
                let cell = &row.cells[place];
                let mut lines = vec![(text::line(&cell.main), cell.tone)];
                lines.extend(cell.small.iter().map(|(t, tone)| (text::line(t), *tone)));
                lines
            });
            lines.collect()
        };
        let columns = (0..table.head.len()).map(|place| Column {
            title: text::line(&table.head[place].0),
            small: text::line(&table.head[place].1),
            cells: cell(place),
        });
        let columns: Vec<Column> = columns.collect();
        if let Some((first, rest)) = columns.split_first() {
            self.out += &pieces(&self.style, first, rest);
        }
        for note in &table.notes {
            self.paragraph(note, Tone::Faint);
        }
        if !table.notes.is_empty() {
            self.gap();
        }
    }

    /// The meaning of the numbers, and the result again: a reader sees the last lines first when the report
    /// has scrolled by.
    fn foot(&mut self, study: &Study) {
        let caution = run::caution(study);
        for sentence in &caution {
            self.paragraph(sentence, Tone::Faint);
        }
        if !caution.is_empty() {
            self.gap();
        }
        let sentences = headline::summary(study);
        let tone = if study.run.bed.is_this_machine() {
            Tone::Plain
        } else if study.all_hold() {
            Tone::Good
        } else {
            Tone::Bad
        };
        self.paragraph(&sentences[0], tone);
        for sentence in &sentences[1..] {
            self.paragraph(sentence, Tone::Plain);
        }
    }
}
