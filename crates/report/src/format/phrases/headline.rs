//! The result in a sentence, and the state of the promises and the trials.
use super::figure::shown;
use super::{promise, run, setting};
use crate::format::number;
use crate::study::promises::{PromiseResult, Standing};
use crate::study::{ArmStudy, FigureStudy, Study, Verdict};
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

/// An arm, or all arms of a series, beside the baseline.
struct Pair<'a> {
    arm: &'a str,
    baseline: &'a str,
    /// Median of the arm, median of the baseline, and the ratio: one for each arm.
    values: Vec<(f64, f64, f64)>,
    unclear: bool,
}

impl Pair<'_> {
    /// How far the arms are from the baseline, whether above or below it.
    fn distance(&self) -> f64 {
        let logs = { self.values.iter() }.map(|(.., ratio)| ratio.max(f64::MIN_POSITIVE).ln());
        (logs.sum::<f64>() / self.values.len() as f64).abs()
    }

    fn contrast(&self, unit: &str) -> Contrast {
        Contrast {
            arm: self.arm.to_string(),
            value: spanned(self.values.iter().map(|found| found.0), unit),
            baseline: self.baseline.to_string(),
            baseline_value: spanned(self.values.iter().map(|found| found.1), unit),
            factor: self.factor(),
        }
    }

    fn factor(&self) -> String {
        let ratios = || self.values.iter().map(|found| found.2);
        let (low, high) = ends(ratios());
        let times = match (low, high) {
            (0.0, 0.0) => "none at all".to_string(),
            _ if low > 0.0 && high < 1.0 => {
                format!(
                    "{} times less",
                    spanned(ratios().map(|ratio| 1.0 / ratio), "")
                )
            }
            _ => format!("{} times as much", spanned(ratios(), "")),
        };
        match self.unclear {
            true => format!("{times}, unclear"),
            false => times,
        }
    }
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// The values' range, such as `17.4 to 74.8 %`; one value where all read alike.
fn spanned(values: impl Iterator<Item = f64>, unit: &str) -> String {
    let (low, high) = ends(values);
    match (number::value(low, unit), number::value(high, unit)) {
        (low, high) if low == high => high,
        (_, end) => format!("{} to {end}", number::plain_in(low, unit)),
    }
}

/// For each baseline, the arm that differs most from it. The arms of a sweep count together.
fn contrasts(study: &Study, figure: &FigureStudy) -> Vec<Contrast> {
    let mut pairs: Vec<Pair> = Vec::new();
    for cell in &figure.cells {
        let (Some(ratio), Some(arm)) = (&cell.ratio, study.arm(&cell.arm)) else {
            continue;
        };
        let Some(base) = arm.baseline.as_deref().and_then(|base| study.arm(base)) else {
            continue;
        };
        let other = figure.cells.iter().find(|other| other.arm == base.name);
        let medians = { cell.across.as_ref() }.zip(other.and_then(|other| other.across.as_ref()));
        let Some((own, other)) = medians else {
            continue;
        };
        let pair = Pair {
            arm: series(arm),
            baseline: series(base),
            values: vec![(own.median, other.median, ratio.value)],
            unclear: ratio.verdict(figure.figure.better) == Verdict::Unclear,
        };
        let same = |known: &&mut Pair| arm.point.is_some() && known.arm == pair.arm;
        match pairs.iter_mut().find(same) {
            Some(known) => {
                known.values.extend(pair.values);
                known.unclear |= pair.unclear;
            }
            None => pairs.push(pair),
        }
    }
    let mut strongest: Vec<Pair> = Vec::new();
    for pair in pairs {
        match { strongest.iter_mut() }.find(|known| known.baseline == pair.baseline) {
            Some(known) if known.distance() < pair.distance() => *known = pair,
            Some(_) => {}
            None => strongest.push(pair),
        }
    }
    let unit = &figure.figure.unit;
    strongest.iter().map(|pair| pair.contrast(unit)).collect()
}

/// The label of an arm's series, or of the arm.
fn series(arm: &ArmStudy) -> &str {
    match &arm.point {
        Some(point) if !point.label.is_empty() => &point.label,
        Some(point) => &point.series,
        None => &arm.label,
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
