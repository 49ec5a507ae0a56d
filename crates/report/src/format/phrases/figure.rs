//! Sentences on figures, and explanations of their numbers.
use crate::format::number;
use crate::study::measure::{self, Missing};
use crate::study::spread::{Spread, TRIALS_FOR_INTERVAL, TRIALS_FOR_MEDIAN};
use crate::study::{FigureStudy, Study};
use protocol::plan::{Better, Figure};

/// The explanation of a table beside published figures.
pub const COMPARED: &str =
    "Each cell is the mean of the trials. Below it stands the change against the first arm, paired \
     by repetition, with its spread. A sign is named only where all of a 95 % interval has it.";

/// A spread as text: `[43.9–52.8]` for a confidence interval, `range 46.1–50.5` for the lowest and
/// the highest trial.
pub fn spread(spread: &Spread, unit: &str) -> String {
    let ends = spread.ends();
    let both = number::range(ends.low, ends.high, unit);
    match spread {
        _ if ends.low == ends.high => "all trials alike".to_string(),
        Spread::Range(_) if number::value(ends.low, unit) == number::value(ends.high, unit) => {
            "all trials alike".to_string()
        }
        Spread::Range(_) => format!("range {both}"),
        Spread::Interval(_) => format!("[{both}]"),
    }
}

/// A spread as text, or that there is a single trial; see [`spread`].
pub fn spread_or_one(found: Option<&Spread>, unit: &str) -> String {
    found.map_or("one trial".to_string(), |found| spread(found, unit))
}

pub fn better(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
        Better::Neutral => "",
    }
}

/// A figure in full: `Resident: mean of probe.resident, scene “exhaustion”; higher is better`.
pub fn figure(figure: &Figure) -> String {
    let better = better(figure.better);
    format!(
        "{}: {} of {}, scene “{}”{}{better}",
        figure.title,
        measure::statistic_name(figure.statistic),
        figure.metric,
        figure.scene,
        if better.is_empty() { "" } else { "; " }
    )
}

/// The figures that the report shows: those that the run measured.
pub fn shown(study: &Study) -> impl Iterator<Item = &FigureStudy> {
    study.figures.iter().filter(|f| f.unmeasured.is_none())
}

/// The figures that the run did not measure, one sentence for each reason.
pub fn left_out(study: &Study) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for figure in &study.figures {
        let reason = match &figure.unmeasured {
            None => continue,
            Some(Missing::NoScene(scene)) => format!("the scene “{scene}” did not run"),
            Some(_) => "nothing recorded their metrics".to_string(),
        };
        let title = figure.figure.title.as_str();
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, titles)) => titles.push(title),
            None => reasons.push((reason, vec![title])),
        }
    }
    let sentence = |(reason, titles): (String, Vec<&str>)| {
        let reason = match titles.len() {
            1 => reason.replace("their metrics", "its metric"),
            _ => reason,
        };
        format!(
            "Not measured in this run, because {reason}: {}.",
            titles.join("; ")
        )
    };
    reasons.into_iter().map(sentence).collect()
}

/// Explains the table of two settings of one machine.
const SETTINGS: &str =
    "Each number is the median of the runs, followed by its 95 % confidence interval in brackets, or by \
     the range of fewer than six. The difference is the ratio of the second setting to the first: the \
     geometric mean over pairs, with its 95 % interval. “None found; <4%” means: 95 % sure that the \
     difference is under 4%.";

/// Explains the parts that occur in the cells of the figures.
pub fn legend(study: &Study) -> String {
    if study.run.bed.is_this_machine() {
        return SETTINGS.into();
    }
    let cells = || shown(study).flat_map(|f| &f.cells);
    let spreads = || cells().filter_map(|cell| cell.across.as_ref()?.median_spread);
    let mut out = "Each number is the median of the arm's trials".to_string();
    if spreads().any(|spread| spread.interval().is_some()) {
        out += ", followed by its 95 % confidence interval in brackets";
    }
    out += ".";
    if spreads().any(|spread| spread.interval().is_none()) {
        out += &format!(
            " With fewer than {TRIALS_FOR_MEDIAN} trials, “range” gives the lowest and the highest."
        );
    }
    if cells().any(|cell| cell.ratio.is_some()) {
        out += " The ratio is to the arm's baseline.";
    }
    let few = cells().any(|cell| {
        let ratio = cell.ratio.as_ref();
        ratio.is_some_and(|ratio| ratio.n < TRIALS_FOR_INTERVAL)
    });
    if few {
        out += &format!(
            " With fewer than {TRIALS_FOR_INTERVAL} trials no ratio is called better or worse."
        );
    }
    out
}

/// Explains the kinds of bars that occur in the charts of trials.
pub fn bars(study: &Study) -> &'static str {
    let cells = shown(study).flat_map(|f| &f.cells);
    let spreads = cells.filter_map(|cell| cell.across.as_ref()?.median_spread);
    let (intervals, ranges): (Vec<Spread>, Vec<Spread>) =
        spreads.partition(|spread| spread.interval().is_some());
    match (intervals.is_empty(), ranges.is_empty()) {
        (true, true) => "",
        (true, false) => "The bar reaches from the lowest to the highest trial.",
        (false, true) => {
            "The bar is the 95 % confidence interval of the median. Without a cap it goes on beyond \
             the scale."
        }
        (false, false) => {
            "A bar with caps is the 95 % confidence interval of the median, one without reaches from \
             the lowest to the highest trial."
        }
    }
}

/// The computation of the numbers, in paragraphs.
pub fn method(study: &Study) -> Vec<String> {
    let mut out = [
        "Each trial is one boot. The figure's statistic makes one number of the trial's values. \
         Tables show the median of the trials' numbers.",
        "From six trials on, brackets behind a median hold its confidence interval of at least 95 %. \
         Its ends are trials: as many from the outermost ones as the binomial distribution allows. \
         With fewer trials, not even all of them enclose the median with 95 %. The report then gives \
         the range from the lowest to the highest trial, which claims nothing of further trials.",
        "From four trials on, brackets behind a mean hold its 95 % confidence interval. With \
         mean m, standard error s and Student's quantile t, the interval is m·exp(±t·s/m) for times \
         and counts, which cannot fall below zero. For shares it is taken on the logit scale, with \
         the half-width t·s/(m·(1−m)), and stays within 0 and 100 %. Differences, which may be \
         negative, have m ± t·s. Both scales follow from the delta method, and agree with m ± t·s \
         where s is small.",
        "With two or three trials, Student's interval would be wider than most differences. A mean \
         then has the range of the trials, too.",
        "A ratio to the baseline is the geometric mean, over repetitions, of the ratio within one \
         repetition, whose arms share a seed. Its interval is Student's t on the logarithms. Where \
         a number is 0, it is the ratio of the means, with Fieller's interval, cut off at 0. \
         “Better” and “worse” require that all of the interval lies on one side of 1; otherwise the \
         report says “unclear”.",
        "Quantiles interpolate linearly between order statistics (definition 7 of Hyndman and Fan, \
         1996). “Pooled” takes all single values of all trials of an arm together.",
        "Only trials that ended well give numbers. The report lists every other trial, and each of \
         them breaks the promises about its arm.",
    ]
    .map(String::from)
    .to_vec();
    if study.run.bed.is_this_machine() {
        out[0] = "Each trial is one run of the command. The counters are of the whole machine, from the command's \
                  start to its end. Tables show the median of the runs' numbers."
            .into();
    }
    let cells = shown(study).flat_map(|f| &f.cells);
    let compared = cells.filter(|cell| {
        let spread = cell.ratio.as_ref().and_then(|ratio| ratio.spread);
        spread.is_some_and(|spread| spread.interval().is_some())
    });
    let compared = compared.count();
    if compared > 1 {
        out.push(format!(
            "{compared} ratios carry a 95 % interval, each taken alone. Were there no differences \
             at all, about {} of them would still exclude 1.",
            number::plain((compared as f64 * 0.05).ceil())
        ));
    }
    out
}
