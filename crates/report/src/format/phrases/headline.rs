//! The result in a sentence, and the state of the promises and the trials.
use super::figure::shown;
use super::{promise, run, setting};
use crate::format::number;
use crate::study::promises::{PromiseResult, Standing};
use crate::study::{FigureStudy, Study, Verdict};
use protocol::plan::Better;

/// The first figure that compares arms, with the numbers of those arms.
pub struct Headline {
    /// The figure and its scene: `Share of the file in memory, in the scene “exhaustion”`.
    pub subject: String,
    pub contrasts: Vec<Contrast>,
}

/// An arm and its baseline, with the medians of both as text.
pub struct Contrast {
    pub arm: String,
    pub value: String,
    pub baseline: String,
    pub baseline_value: String,
    /// The ratio: `2.07 times as much` or `19.0 times less`, with a mark where it is unclear.
    pub factor: String,
}

impl Headline {
    /// The whole sentence.
    pub fn sentence(&self) -> String {
        let contrast = |c: &Contrast| {
            let Contrast {
                arm,
                value,
                baseline,
                baseline_value,
                factor,
            } = c;
            format!("{value} for {arm} against {baseline_value} for {baseline} ({factor})")
        };
        let contrasts: Vec<String> = self.contrasts.iter().map(contrast).collect();
        format!("{}: {}.", self.subject, contrasts.join("; "))
    }
}

/// The headline of a run that compares arms with baselines; other runs have none.
pub fn headline(study: &Study) -> Option<Headline> {
    let compares = |f: &&FigureStudy| {
        f.figure.better != Better::Neutral && f.cells.iter().any(|cell| cell.ratio.is_some())
    };
    let figure = shown(study).find(compares)?;
    Some(Headline {
        subject: format!(
            "{}, in the scene “{}”",
            figure.figure.title, figure.figure.scene
        ),
        contrasts: contrasts(study, figure),
    })
}

/// For each baseline, the arm that differs most from it.
fn contrasts(study: &Study, figure: &FigureStudy) -> Vec<Contrast> {
    let mut strongest: Vec<(&str, f64, Contrast)> = Vec::new();
    for cell in &figure.cells {
        let Some(ratio) = &cell.ratio else { continue };
        let Some(base) = study.arm(&cell.arm).and_then(|a| a.baseline.as_deref()) else {
            continue;
        };
        let other = figure.cells.iter().find(|c| c.arm == base);
        let medians = cell
            .across
            .as_ref()
            .zip(other.and_then(|c| c.across.as_ref()));
        let Some((own, other)) = medians else {
            continue;
        };
        let size = ratio.value.max(f64::MIN_POSITIVE).ln().abs();
        let unit = &figure.figure.unit;
        let contrast = Contrast {
            arm: study.label(&cell.arm).to_string(),
            value: number::value(own.median, unit),
            baseline: study.label(base).to_string(),
            baseline_value: number::value(other.median, unit),
            factor: factor(ratio.value, ratio.verdict(figure.figure.better)),
        };
        match strongest.iter_mut().find(|(known, ..)| *known == base) {
            Some(known) if known.1 < size => *known = (base, size, contrast),
            Some(_) => {}
            None => strongest.push((base, size, contrast)),
        }
    }
    strongest
        .into_iter()
        .map(|(.., contrast)| contrast)
        .collect()
}

fn factor(ratio: f64, verdict: Verdict) -> String {
    let times = match ratio {
        0.0 => "none at all".to_string(),
        less if less < 1.0 => format!("{} times less", number::plain(1.0 / less)),
        more => format!("{} times as much", number::plain(more)),
    };
    match verdict {
        Verdict::Unclear => format!("{times}, unclear"),
        _ => times,
    }
}

/// Sentences on the promises, on the trials, and on figures that are worse than the baseline's. The
/// first sentence counts the promises.
pub fn summary(study: &Study) -> Vec<String> {
    if let Some(pair) = setting::pair(study) {
        let mut out = setting::summary(study, &pair);
        out.push(trials(study).replace("trials", "runs"));
        return out;
    }
    let (first, named) = promises(study);
    let mut out = vec![first];
    out.extend(named);
    out.push(trials(study));
    out.extend(worse(study));
    out
}

/// How many promises hold, and the names of those that do not.
fn promises(study: &Study) -> (String, Option<String>) {
    let all = study.promises.len();
    let count = |wanted: Standing| {
        let standings = study.promises.iter().map(PromiseResult::standing);
        standings.filter(|found| *found == wanted).count()
    };
    let mut parts = Vec::new();
    match count(Standing::Broken) {
        0 => {}
        1 => parts.push("1 is BROKEN".to_string()),
        n => parts.push(format!("{n} are BROKEN")),
    }
    match count(Standing::Unsure) {
        0 => {}
        n => parts.push(format!("{n} cannot be judged from so few repetitions")),
    }
    match count(Standing::Undecided) {
        0 => {}
        1 => parts.push("1 is not decided".to_string()),
        n => parts.push(format!("{n} are not decided")),
    }
    match count(Standing::Unmeasured) {
        0 => {}
        1 => parts.push("1 was not measured".to_string()),
        n => parts.push(format!("{n} were not measured")),
    }
    let first = match (all, parts.is_empty()) {
        (0, _) => "The experiment promises nothing.".to_string(),
        (1, true) => "The one promise holds.".to_string(),
        (_, true) => format!("All {all} promises hold."),
        (1, false) => format!("Of 1 promise {}.", parts.join("; ")),
        (_, false) => format!("Of {all} promises {}.", parts.join("; ")),
    };
    (first, not_kept(study))
}

/// The first few promises that are not kept, the broken ones first.
fn not_kept(study: &Study) -> Option<String> {
    const NAMED: usize = 3;
    let failed = study.promises.iter().filter(|p| !p.holds);
    let mut failed: Vec<&PromiseResult> = failed.collect();
    failed.sort_by_key(|p| p.standing() != Standing::Broken);
    let broken = failed.iter().all(|p| p.standing() == Standing::Broken);
    let named = failed.iter().take(NAMED).map(|p| {
        let value = format!("{}, promised {}", promise::value(p), promise::bound(p));
        let reason = match (p.why.is_empty(), p.value) {
            (true, _) => value,
            (false, None) => p.why.clone(),
            (false, Some(_)) => format!("{value}; {}", p.why),
        };
        format!("“{}” for {} ({reason})", p.title, study.label(&p.arm))
    });
    let mut named: Vec<String> = named.collect();
    if failed.len() > NAMED {
        named.push(format!("and {} more", failed.len() - NAMED));
    }
    let open = failed.iter().all(|p| p.standing() == Standing::Undecided);
    let heading = match (broken, open) {
        (true, _) => "Broken",
        (_, true) => "Not decided",
        _ => "Not kept",
    };
    (!named.is_empty()).then(|| format!("{heading}: {}.", named.join("; ")))
}

fn trials(study: &Study) -> String {
    let planned: u32 = study.arms.iter().map(|a| a.planned).sum();
    let absent: u32 = study.arms.iter().map(|a| a.absent).sum();
    let failed = study.failures.len();
    if failed == 0 && absent == 0 {
        return format!("All {planned} trials ended well.");
    }
    let mut out = Vec::new();
    if failed > 0 {
        let kinds = ["panic", "hang", "failure"].into_iter().filter_map(|kind| {
            let of_kind = study.failures.iter();
            let n = of_kind.filter(|f| run::kind(&f.outcome) == kind).count();
            let plural = if n == 1 { "" } else { "s" };
            (n > 0).then(|| format!("{n} {kind}{plural}"))
        });
        let kinds: Vec<String> = kinds.collect();
        out.push(format!(
            "{failed} of {planned} trials did not end well ({}).",
            kinds.join(", ")
        ));
    }
    if absent > 0 {
        out.push(format!(
            "{absent} of {planned} trials never ran: the run was interrupted."
        ));
    }
    out.join(" ")
}

fn worse(study: &Study) -> Option<String> {
    let named = shown(study).filter_map(|f| {
        let arms = f.cells.iter().filter_map(|cell| {
            let ratio = cell.ratio.as_ref()?;
            (ratio.verdict(f.figure.better) == Verdict::Worse)
                .then(|| format!("{} {}", study.label(&cell.arm), number::times(ratio.value)))
        });
        let arms: Vec<String> = arms.collect();
        (!arms.is_empty()).then(|| format!("{} ({})", f.figure.title, arms.join(", ")))
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| format!("Worse than the baseline: {}.", named.join("; ")))
}
