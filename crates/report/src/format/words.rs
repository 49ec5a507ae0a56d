//! The sentences of a report, made from the data.
use super::number;
use crate::study::{
    measure, promises::PromiseResult, FailedTrial, FigureStudy, Setting, Study, Verdict,
};
use raw::plan::{Across, Better, Figure, Judge, Statistic};
use raw::record::Outcome;

/// How a table beside published figures is read.
pub const COMPARED: &str =
    "Means of the trials; changes against the first arm, paired by repetition, with their 95 % \
     confidence interval. A sign is told only where all of the interval has it.";

/// The run in a paragraph: promises first, then how trials ended, then what differs.
pub fn verdict(study: &Study) -> Vec<String> {
    let (first, broken) = promises(study);
    let mut out = vec![first];
    out.extend(broken);
    out.push(trials(study));
    for figure in study
        .figures
        .iter()
        .filter(|f| f.figure.better != Better::Neutral)
        .take(2)
    {
        out.extend(best(study, figure));
    }
    out.extend(worse(study));
    out
}

/// How many hold, and which do not.
fn promises(study: &Study) -> (String, Option<String>) {
    let all = study.promises.len();
    let unsure = study.promises.iter().filter(|p| !p.holds && p.unsure);
    let unsure = unsure.count();
    let failed = study.promises.iter().filter(|p| !p.holds);
    let mut broken: Vec<&PromiseResult> = failed.collect();
    // What is broken is named before what cannot be told.
    broken.sort_by_key(|p| p.unsure);
    let cannot = format!("{unsure} cannot be told from so few repetitions.");
    let first = match (all, broken.len() - unsure) {
        (0, _) => "The experiment promises nothing.".into(),
        (_, 0) if unsure > 0 => format!("Of {all} promises {cannot}"),
        (_, n) if unsure > 0 => format!("Of {all} promises {n} BROKEN; {cannot}"),
        (1, 0) => "The one promise holds.".into(),
        (_, 0) => format!("All {all} promises hold."),
        (_, 1) => format!("1 of {all} promises is BROKEN."),
        (_, n) => format!("{n} of {all} promises are BROKEN."),
    };
    const NAMED: usize = 3;
    let mut named: Vec<String> = broken
        .iter()
        .take(NAMED)
        .map(|p| {
            let value = format!("{}, promised {}", promised_value(study, p), bound(study, p));
            let reason = match (p.why.is_empty(), p.value) {
                (true, _) => value,
                (false, None) => p.why.clone(),
                (false, Some(_)) => format!("{value}; {}", p.why),
            };
            format!("“{}” for {} ({reason})", p.title, study.label(&p.arm))
        })
        .collect();
    if broken.len() > NAMED {
        named.push(format!("and {} more", broken.len() - NAMED));
    }
    let which = (!named.is_empty()).then(|| {
        let word = if unsure == 0 { "Broken" } else { "Not kept" };
        format!("{word}: {}.", named.join("; "))
    });
    (first, which)
}

fn trials(study: &Study) -> String {
    let planned: u32 = study.arms.iter().map(|a| a.planned).sum();
    let failed = study.failures.len();
    let absent: u32 = study.arms.iter().map(|a| a.absent).sum();
    let mut out = match failed {
        0 if absent == 0 => return format!("All {planned} trials ended well."),
        0 => String::new(),
        1 => format!("1 of {planned} trials did not end well"),
        n => format!("{n} of {planned} trials did not end well"),
    };
    if failed > 0 {
        let kinds: Vec<String> = ["panic", "hang", "failure"]
            .into_iter()
            .filter_map(|kind| {
                let n = study
                    .failures
                    .iter()
                    .filter(|f| outcome_kind(&f.outcome) == kind)
                    .count();
                let plural = if n == 1 { "" } else { "s" };
                (n > 0).then(|| format!("{n} {kind}{plural}"))
            })
            .collect();
        out.push_str(&format!(" ({}).", kinds.join(", ")));
    }
    if absent > 0 {
        let sentence = format!("{absent} of {planned} trials never ran: the run was interrupted.");
        out = [out, sentence].join(" ").trim().to_string();
    }
    out
}

/// The arm that differs most for the better from its baseline.
fn best(study: &Study, f: &FigureStudy) -> Option<String> {
    let (cell, ratio) = f
        .cells
        .iter()
        .filter_map(|cell| Some((cell, cell.ratio.as_ref()?)))
        .filter(|(_, r)| r.verdict(f.figure.better) == Verdict::Better)
        .max_by(|a, b| a.1.value.ln().abs().total_cmp(&b.1.value.ln().abs()))?;
    let base = study.arm(&cell.arm)?.baseline.as_deref()?;
    let other = f.cells.iter().find(|c| c.arm == base)?.across.as_ref()?;
    let interval = ratio.interval.map_or(String::new(), |i| {
        format!(", 95 % interval {}", number::range(i.low, i.high, ""))
    });
    let factor = match ratio.value < 1.0 {
        true => format!("{} times less", number::plain(1.0 / ratio.value)),
        false => format!("{} times as much", number::plain(ratio.value)),
    };
    Some(format!(
        "{}, scene “{}”: {} had {} where {} had {} (medians; {factor}, ratio {}{interval}).",
        f.figure.title,
        f.figure.scene,
        study.label(&cell.arm),
        number::value(cell.across.as_ref()?.median, &f.figure.unit),
        study.label(base),
        number::value(other.median, &f.figure.unit),
        number::times(ratio.value),
    ))
}

fn worse(study: &Study) -> Option<String> {
    let mut named = Vec::new();
    for f in &study.figures {
        let arms: Vec<String> = f
            .cells
            .iter()
            .filter_map(|cell| {
                let ratio = cell.ratio.as_ref()?;
                (ratio.verdict(f.figure.better) == Verdict::Worse)
                    .then(|| format!("{} {}", study.label(&cell.arm), number::times(ratio.value)))
            })
            .collect();
        if !arms.is_empty() {
            named.push(format!("{} ({})", f.figure.title, arms.join(", ")));
        }
    }
    (!named.is_empty()).then(|| format!("Worse than the baseline: {}.", named.join("; ")))
}

/// `mean of probe.resident, scene exhaustion, mean over trials, relative to classic`.
pub fn measured(p: &PromiseResult) -> String {
    let across = match p.across {
        Across::Mean => "mean",
        Across::Median => "median",
        Across::Worst => "worst",
    };
    let relative = match &p.relative_to {
        Some(other) => format!(", relative to {other}"),
        None => String::new(),
    };
    let how = match (p.monotonic, p.judge) {
        (true, _) => "smallest step along the curve".to_string(),
        (_, Judge::Interval) => "95 % interval over the trials".to_string(),
        (_, Judge::Value) => format!("{across} of the trials"),
    };
    format!(
        "{} of {}, scene {}; {how}{relative}",
        measure::word(p.statistic),
        p.metric,
        p.scene
    )
}

/// A promise has no unit of its own: it takes that of a figure that shows the same, or else of one
/// whose statistic leaves the metric's unit as it is.
fn unit<'a>(study: &'a Study, p: &PromiseResult) -> &'a str {
    if p.relative_to.is_some() {
        return "×";
    }
    let changes = |s: Statistic| matches!(s, Statistic::Count | Statistic::Rate);
    let figures = || {
        let all = study.figures.iter().map(|f| &f.figure);
        all.filter(|f| f.metric == p.metric)
    };
    let same = figures().find(|f| f.statistic == p.statistic);
    let alike = || figures().find(|f| !changes(f.statistic) && !changes(p.statistic));
    same.or_else(alike).map_or("", |f| &f.unit)
}

fn in_unit(x: f64, unit: &str) -> String {
    match unit {
        "×" => number::times_promised(x),
        _ => number::value(x, unit),
    }
}

pub fn promised_value(study: &Study, p: &PromiseResult) -> String {
    let unit = unit(study, p);
    let value = p.value.map_or("n/a".into(), |v| in_unit(v, unit));
    match p.interval {
        Some(i) => {
            let unit = if unit == "×" { "" } else { unit };
            format!("{value} [{}]", number::range(i.low, i.high, unit))
        }
        None => value,
    }
}

/// `at least 95 %`.
pub fn bound(study: &Study, p: &PromiseResult) -> String {
    let unit = unit(study, p);
    let least = p
        .bound
        .at_least
        .map(|b| format!("at least {}", in_unit(b, unit)));
    let most = p
        .bound
        .at_most
        .map(|b| format!("at most {}", in_unit(b, unit)));
    let both: Vec<String> = least.into_iter().chain(most).collect();
    if both.is_empty() {
        "none".into()
    } else {
        both.join(", ")
    }
}

pub fn better(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
        Better::Neutral => "",
    }
}

/// `Probe file resident: mean of probe.resident, scene exhaustion, higher is better`.
pub fn figure(figure: &Figure) -> String {
    let better = better(figure.better);
    format!(
        "{}: {} of {}, scene “{}”{}{better}",
        figure.title,
        measure::word(figure.statistic),
        figure.metric,
        figure.scene,
        if better.is_empty() { "" } else { "; " }
    )
}

fn outcome_kind(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::Panic { .. } => "panic",
        Outcome::Hang { .. } => "hang",
        Outcome::Failed { .. } => "failure",
    }
}

pub fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ok => "ok".into(),
        Outcome::Panic { message } => format!("panic: {message}"),
        Outcome::Hang { silent_s } => format!("hang: nothing heard for {silent_s} s"),
        Outcome::Failed { message } => format!("failed: {message}"),
    }
}

/// Which trial, and where the console is that said more than the report shows.
pub fn repetition(failure: &FailedTrial) -> String {
    format!(
        "repetition {} (console/{}-{}.log)",
        failure.repetition + 1,
        failure.arm,
        failure.repetition
    )
}

pub fn setting(path: &str, setting: &Setting) -> String {
    let short = path
        .strip_prefix("/proc/sys/")
        .map_or_else(|| path.to_string(), |key| key.replace('/', "."));
    let back = setting.read_back.join(" or ");
    match &setting.asked {
        Some(asked) if back.is_empty() || back == *asked => format!("{short} = {asked}"),
        Some(asked) => format!("{short} = {asked} (reads {back})"),
        None => format!("{short} reads {back}"),
    }
}

/// Name and value of what the run ran on.
pub fn bed(study: &Study) -> Vec<(&'static str, String)> {
    let run = &study.run;
    let bed = &run.bed;
    let none = |x: u64, unit: &str, word: &str| match x {
        0 => word.to_string(),
        x => number::value(x as f64, unit),
    };
    let mut rows = vec![
        ("Guests", bed.name.clone()),
        ("Memory", none(bed.memory_mb, "MiB", "unknown")),
        ("CPUs", bed.cpus.to_string()),
        ("zram swap", none(bed.zram_mb, "MiB", "none")),
        (
            "Disk, reading",
            match bed.disk_read_bps {
                0 => "unlimited".into(),
                bps => number::value(bps as f64 / 1e6, "MB/s"),
            },
        ),
        ("Guests side by side", bed.jobs.to_string()),
        (
            "Host",
            format!(
                "{}, {} CPUs, kernel {}",
                bed.host_cpu, bed.host_cpus, bed.host_kernel
            ),
        ),
        ("Repetitions", run.repetitions.to_string()),
        ("Seed", run.seed.to_string()),
        ("hotset", run.hotset_version.clone()),
        ("Started", number::date(run.started)),
    ];
    if !bed.command_line.is_empty() {
        rows.insert(3, ("Kernel command line", bed.command_line.clone()));
    }
    rows
}

/// What numbers of this bed mean and do not mean.
pub fn caution(study: &Study) -> Vec<String> {
    let bed = &study.run.bed;
    let name = bed.name.to_lowercase();
    let mut out = Vec::new();
    if bed.cpus == 1 {
        out.push(
            "One-CPU bed: latency mixes in CPU contention (a read waits for its turn behind the \
             hogs), residency does not."
                .to_string(),
        );
    }
    if name.contains("user-mode") || name.contains("uml") {
        out.push(
            "User-Mode Linux: counters and residency are valid; latencies only as ratios within \
             one run, never against another run or machine."
                .to_string(),
        );
    } else if name.contains("tcg") {
        out.push(
            "QEMU without KVM emulates every instruction: counters and residency are valid; times \
             are some 10 to 20 times longer than real ones and compare only within one run."
                .to_string(),
        );
    }
    if bed.jobs > 1 {
        out.push(format!(
            "{} guests ran side by side on {} host CPUs: they may slow each other.",
            bed.jobs, bed.host_cpus
        ));
    }
    out
}

/// How the numbers were made.
pub fn method(study: &Study) -> Vec<String> {
    let comparisons = study
        .figures
        .iter()
        .flat_map(|f| &f.cells)
        .filter(|c| c.ratio.as_ref().is_some_and(|r| r.interval.is_some()))
        .count();
    let mut out: Vec<String> = [
        "Each trial is one boot. Its values become one number by the figure's statistic; tables \
         show the median of the trials' numbers, and in brackets the 95 % confidence interval of \
         their mean (Student's t).",
        "Ratios are to the arm's baseline: the geometric mean over repetitions of the ratio within \
         the same repetition, which shares its seed; the interval is Student's t on the \
         logarithms. Where a number is 0 it is the ratio of means with Fieller's interval. “Better” \
         and “worse” are said only where the interval excludes 1; “unclear” otherwise.",
        "Quantiles interpolate linearly between order statistics (definition 7 of Hyndman and Fan, \
         1996). “Pooled” takes all single values of all trials of an arm together.",
        "Only trials that ended well give numbers. Every other is listed, and breaks the promises \
         made of its arm.",
    ]
    .map(String::from)
    .to_vec();
    if comparisons > 1 {
        out.push(format!(
            "{comparisons} ratios carry a 95 % interval, each taken alone: were there no \
             differences at all, about {} of them would still exclude 1.",
            number::plain((comparisons as f64 * 0.05).ceil())
        ));
    }
    out
}
