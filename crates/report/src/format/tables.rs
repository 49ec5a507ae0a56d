//! The report's tables.
use super::number;
use super::table::{Cell, Group, Row, Table, Tone};
use super::words;
use crate::study::{figures, FigureStudy, Study, Verdict};
use raw::plan::Better;

/// Figures of one table stand side by side; more would not fit a page.
const FIGURES_WIDE: usize = 4;

/// Arm by figure: a table a scene, or several where a scene has many figures.
pub fn main(study: &Study) -> Vec<Table> {
    let mut tables = Vec::new();
    let mut rest: &[FigureStudy] = &study.figures;
    while let Some(first) = rest.first() {
        let same = rest
            .iter()
            .take_while(|f| f.figure.scene == first.figure.scene)
            .count();
        let (now, later) = rest.split_at(same);
        // Five become three and two, not four and one.
        let wide = same.div_ceil(same.div_ceil(FIGURES_WIDE));
        for (place, chunk) in now.chunks(wide).enumerate() {
            let more = if place == 0 { "" } else { ", continued" };
            let caption = format!("Scene “{}”{more}", first.figure.scene);
            tables.push(one_main(study, chunk, caption));
        }
        rest = later;
    }
    tables
}

fn one_main(study: &Study, figures: &[FigureStudy], caption: String) -> Table {
    let mut head = vec![("Arm".to_string(), String::new())];
    head.extend(figures.iter().map(|f| {
        (
            f.figure.title.clone(),
            words::better(f.figure.better).to_string(),
        )
    }));
    let rows = study.arms.iter().enumerate().map(|(place, arm)| {
        let mut cells = vec![Cell::text(study.label(&arm.name))];
        if arm.ok < arm.planned {
            let left = format!("{} of {} trials ok", arm.ok, arm.planned);
            cells[0] = cells[0].clone().with(left, Tone::Bad);
        }
        cells.extend(figures.iter().map(|f| main_cell(f, &f.cells[place])));
        Row {
            arm: Some(place),
            cells,
        }
    });
    Table {
        caption,
        head,
        groups: vec![Group {
            title: None,
            rows: rows.collect(),
        }],
    }
}

fn main_cell(study: &FigureStudy, cell: &figures::Cell) -> Cell {
    let figure = &study.figure;
    let mut out = match &cell.across {
        Some(across) => {
            let shown = Cell::number(number::value(across.median, &figure.unit));
            match across.interval {
                Some(i) => shown.with(
                    format!("[{}]", number::range(i.low, i.high, &figure.unit)),
                    Tone::Faint,
                ),
                None => shown.with("one trial", Tone::Faint),
            }
        }
        None => Cell::number("no data").toned(Tone::Bad),
    };
    if let Some((text, tone)) = ratio(cell, figure.better) {
        out = out.with(text, tone);
    }
    for gap in &cell.gaps {
        out = out.with(gap.to_string(), Tone::Gap);
    }
    out
}

/// An arm's ratio in few words; none for an arm that has no baseline.
pub fn ratio(cell: &figures::Cell, better: Better) -> Option<(String, Tone)> {
    let Some(ratio) = &cell.ratio else {
        // That a cell has no data is said where its number would stand.
        let why = cell.no_ratio.clone().filter(|_| cell.across.is_some())?;
        return Some((why, Tone::Faint));
    };
    let (word, tone) = match ratio.verdict(better) {
        Verdict::Better => (" better", Tone::Good),
        Verdict::Worse => (" worse", Tone::Bad),
        Verdict::Unclear => (" unclear", Tone::Faint),
        Verdict::Neutral => ("", Tone::Plain),
    };
    Some((format!("{}{word}", number::times(ratio.value)), tone))
}

/// Every statistic of every figure, one group a figure.
pub fn full(study: &Study) -> Table {
    let plain = |s: &str, small: &str| (s.to_string(), small.to_string());
    Table {
        caption: "All statistics".into(),
        head: vec![
            plain("Arm", ""),
            plain("Trials", "with a value"),
            plain("Mean", "of trials"),
            plain("95 % interval", "of the mean"),
            plain("Median", "of trials"),
            plain("Ratio", "to baseline, 95 %"),
            plain("Values", "pooled"),
            plain("Median", "pooled"),
            plain("p90", "pooled"),
            plain("Max", "pooled"),
        ],
        groups: study
            .figures
            .iter()
            .map(|f| Group {
                title: Some(words::figure(&f.figure)),
                rows: f
                    .cells
                    .iter()
                    .enumerate()
                    .map(|(place, cell)| full_row(study, f, place, cell))
                    .collect(),
            })
            .collect(),
    }
}

fn full_row(study: &Study, figure: &FigureStudy, place: usize, cell: &figures::Cell) -> Row {
    let unit = &figure.figure.unit;
    let show = |x: Option<f64>| Cell::number(x.map_or("–".into(), |x| number::value(x, unit)));
    let across = cell.across.as_ref();
    let pooled = cell.pooled.as_ref();
    let interval = across.and_then(|a| a.interval);
    let ratio = match &cell.ratio {
        Some(r) => {
            let shown = Cell::number(number::times(r.value));
            match r.interval {
                Some(i) => shown.with(number::range(i.low, i.high, ""), Tone::Faint),
                None => shown.with("no interval", Tone::Faint),
            }
        }
        None => Cell::number(cell.no_ratio.as_deref().unwrap_or("baseline")).toned(Tone::Faint),
    };
    let mut arm = Cell::text(study.label(&cell.arm));
    for gap in &cell.gaps {
        arm = arm.with(gap.to_string(), Tone::Gap);
    }
    let trials = across.map_or(0, |a| a.n);
    Row {
        arm: Some(place),
        cells: vec![
            arm,
            Cell::number(format!("{trials} of {}", study.arms[place].planned)),
            show(across.map(|a| a.mean)),
            Cell::number(interval.map_or("–".into(), |i| number::range(i.low, i.high, unit))),
            show(across.map(|a| a.median)),
            ratio,
            Cell::number(pooled.map_or("0".into(), |p| number::plain(p.n as f64))),
            show(pooled.map(|p| p.median)),
            show(pooled.map(|p| p.p90)),
            show(pooled.map(|p| p.max)),
        ],
    }
}

pub fn promises(study: &Study) -> Table {
    let head = ["Promise", "Arm", "Value", "Bound", "Holds"];
    let rows = study.promises.iter().map(|p| {
        let verdict = match (p.holds, p.unsure) {
            (true, false) => Cell::text("✓ holds").toned(Tone::Good),
            (true, true) => Cell::text("? unsure, which it may be"),
            (false, true) => Cell::text("? UNSURE").toned(Tone::Bad),
            (false, false) => Cell::text("✗ BROKEN").toned(Tone::Bad),
        };
        let verdict = match p.why.is_empty() {
            true => verdict,
            false => verdict.with(p.why.clone(), Tone::Plain),
        };
        Row {
            arm: None,
            cells: vec![
                Cell::text(&p.title).with(words::measured(p), Tone::Faint),
                Cell::text(study.label(&p.arm)),
                Cell::number(words::promised_value(study, p)),
                Cell::text(words::bound(study, p)),
                verdict,
            ],
        }
    });
    Table {
        caption: "Promises".into(),
        head: head.map(|h| (h.to_string(), String::new())).to_vec(),
        groups: vec![Group {
            title: None,
            rows: rows.collect(),
        }],
    }
}

/// Trials that did not end well; none where all did.
pub fn failures(study: &Study) -> Option<Table> {
    if study.failures.is_empty() {
        return None;
    }
    let head = ["Arm", "Repetition", "Ended", "Scenes seen", "After"];
    let rows = study.failures.iter().map(|f| Row {
        arm: None,
        cells: vec![
            Cell::text(study.label(&f.arm)),
            Cell::text(words::repetition(f)),
            Cell::text(words::outcome(&f.outcome)).toned(Tone::Bad),
            Cell::text(match f.scenes.is_empty() {
                true => "none".to_string(),
                false => f.scenes.join(", "),
            }),
            Cell::number(number::value(f.wall_s, "s")),
        ],
    });
    Some(Table {
        caption: "Trials that did not end well".into(),
        head: head.map(|h| (h.to_string(), String::new())).to_vec(),
        groups: vec![Group {
            title: None,
            rows: rows.collect(),
        }],
    })
}

/// What each arm was, and what became of its trials.
pub fn arms(study: &Study) -> Table {
    let head = ["Arm", "Kernel", "Ratios against", "Trials", "Settings"];
    let rows = study.arms.iter().enumerate().map(|(place, arm)| {
        let mut kernel = Cell::text(&arm.kernel);
        for release in &arm.releases {
            kernel = kernel.with(format!("says {release}"), Tone::Faint);
        }
        if let Some(kb) = arm.mem_total_kb {
            let memory = number::value(kb as f64 / 1024.0, "MiB");
            kernel = kernel.with(format!("MemTotal {memory}"), Tone::Faint);
        }
        let mut trials = Cell::number(format!("{} ok", arm.ok));
        if arm.failed > 0 {
            trials = trials.with(format!("{} failed", arm.failed), Tone::Bad);
        }
        if arm.absent > 0 {
            trials = trials.with(format!("{} never ran", arm.absent), Tone::Bad);
        }
        let mut settings = Cell::text(if arm.settings.is_empty() { "none" } else { "" });
        for (path, setting) in &arm.settings {
            settings = settings.with(words::setting(path, setting), Tone::Plain);
        }
        let base = arm.baseline.as_deref();
        Row {
            arm: Some(place),
            cells: vec![
                Cell::text(study.label(&arm.name)).with(&arm.name, Tone::Faint),
                kernel,
                Cell::text(base.map_or("–", |b| study.label(b))),
                trials,
                settings,
            ],
        }
    });
    Table {
        caption: "Arms".into(),
        head: head.map(|h| (h.to_string(), String::new())).to_vec(),
        groups: vec![Group {
            title: None,
            rows: rows.collect(),
        }],
    }
}

/// The test bed.
pub fn bed(study: &Study) -> Table {
    facts("Test bed", words::bed(study))
}

/// Rows of a name and a value.
pub fn facts<N: Into<String>, V: Into<String>>(
    caption: &str,
    rows: impl IntoIterator<Item = (N, V)>,
) -> Table {
    let rows = rows.into_iter().map(|(name, value)| Row {
        arm: None,
        cells: vec![Cell::text(name), Cell::text(value)],
    });
    Table {
        caption: caption.into(),
        head: vec![
            ("What".into(), String::new()),
            ("Here".into(), String::new()),
        ],
        groups: vec![Group {
            title: None,
            rows: rows.collect(),
        }],
    }
}
