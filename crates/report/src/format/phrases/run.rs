//! Sentences on the run: its trials, its test bed, and the meaning of its numbers there.
use crate::format::number;
use crate::study::{ArmStudy, FailedTrial, Setting, Study};
use protocol::record::{Image, Outcome};

/// The number of repetitions, such as `5 repetitions`.
pub fn repetitions(study: &Study) -> String {
    match study.run.repetitions {
        1 => "1 repetition".into(),
        n => format!("{n} repetitions"),
    }
}

/// The kind of an outcome, as a noun.
pub fn kind(outcome: &Outcome) -> &'static str {
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

/// The repetition of a failed trial, and the file that holds all of its console.
pub fn repetition(failure: &FailedTrial) -> String {
    format!(
        "repetition {} (console/{}-{}.log)",
        failure.repetition, failure.arm, failure.repetition
    )
}

/// The identity of a kernel's image: its checksum and that of its patches, shortened.
pub fn image(image: &Image) -> Vec<String> {
    let short = |sum: &str| sum.chars().take(12).collect::<String>();
    let mut lines = vec![format!("image {}", short(&image.sha256))];
    let patches = match image.patches.len() {
        0 => return lines,
        1 => "1 patch".to_string(),
        count => format!("{count} patches"),
    };
    let whose = match image.flavour.as_str() {
        "foreign" => "foreign: ",
        _ => "",
    };
    lines.push(format!("{whose}{patches} {}", short(&image.patches_digest)));
    lines
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

/// The least and the largest value of the machine's setting `name` among the arms; `None` where no arm has one.
fn swept(study: &Study, name: &str) -> Option<(f64, f64)> {
    let asked = |arm: &ArmStudy| arm.settings.get(name)?.asked.as_ref()?.parse().ok();
    let values: Vec<f64> = study.arms.iter().filter_map(asked).collect();
    let ends = |ends: (f64, f64), value: &f64| (ends.0.min(*value), ends.1.max(*value));
    let first = *values.first()?;
    Some(values.iter().fold((first, first), ends))
}

/// The guests' memory: `256 MiB`, or `256–8,192 MiB` where a sweep changes it.
pub fn memory(study: &Study) -> String {
    match swept(study, "machine.memory_mb") {
        Some((low, high)) => format!("{}\u{a0}MiB", number::range(low, high, "")),
        None => match study.run.bed.memory_mb {
            0 => "unknown".to_string(),
            mb => number::value(mb as f64, "MiB"),
        },
    }
}

/// The guests' CPUs: `1 CPU`, or `1–4 CPUs`.
pub fn cpus(study: &Study) -> String {
    match (swept(study, "machine.cpus"), study.run.bed.cpus) {
        (Some((low, high)), _) => format!("{} CPUs", number::range(low, high, "")),
        (None, 1) => "1 CPU".to_string(),
        (None, cpus) => format!("{cpus} CPUs"),
    }
}

/// The test bed and the run as names and values.
pub fn bed(study: &Study) -> Vec<(&'static str, String)> {
    let run = &study.run;
    let bed = &run.bed;
    if bed.is_this_machine() {
        return machine(study);
    }
    // A sweep of memory has everything else in proportion.
    let at = match swept(study, "machine.memory_mb") {
        Some(_) => format!(
            " at {} of memory",
            number::value(bed.memory_mb as f64, "MiB")
        ),
        None => String::new(),
    };
    let mut rows = vec![
        ("Test bed", bed.name.clone()),
        ("Memory", memory(study)),
        ("CPUs", cpus(study).replace(" CPUs", "").replace(" CPU", "")),
        (
            "zram swap",
            match bed.zram_mb {
                0 => "none".into(),
                mb => format!("{}{at}", number::value(mb as f64, "MiB")),
            },
        ),
        (
            "Disk reads",
            match bed.disk_read_bps {
                0 => "unlimited".into(),
                bps => format!("{}{at}", number::value(bps as f64 / 1e6, "MB/s")),
            },
        ),
        ("Parallel guests", bed.jobs.to_string()),
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

/// The machine and the run, where nothing is a guest.
fn machine(study: &Study) -> Vec<(&'static str, String)> {
    let run = &study.run;
    let bed = &run.bed;
    vec![
        ("Processor", bed.host_cpu.clone()),
        ("CPUs", bed.cpus.to_string()),
        ("Memory", number::value(bed.memory_mb as f64, "MiB")),
        ("Kernel", bed.host_kernel.clone()),
        ("Pairs of runs", run.repetitions.to_string()),
        ("Seed", run.seed.to_string()),
        ("hotset", run.hotset_version.clone()),
        ("Started", number::date(run.started)),
    ]
}

/// Sentences on the meaning of numbers from this test bed.
pub fn caution(study: &Study) -> Vec<String> {
    let bed = &study.run.bed;
    let name = bed.name.to_lowercase();
    if bed.is_this_machine() {
        return Vec::new();
    }
    let mut out = Vec::new();
    let one = f64::from(bed.cpus);
    let (least, most) = swept(study, "machine.cpus").unwrap_or((one, one));
    if least == 1.0 {
        let which = match most == 1.0 {
            true => "The guest has one CPU",
            false => "Some guests have one CPU",
        };
        out.push(format!(
            "{which}: the time of a read includes its wait for the CPU. Residency does not depend on \
             that wait."
        ));
    }
    if name.contains("user-mode") || name.contains("uml") {
        out.push(
            "In User-Mode Linux, counters and residency are valid. Times are valid only as ratios \
             within one run, never against another run or machine."
                .to_string(),
        );
    } else if name.contains("tcg") {
        out.push(
            "QEMU without KVM emulates every instruction. Counters and residency are valid. Times \
             are some 10 to 20 times longer than real ones, and compare only within one run."
                .to_string(),
        );
    }
    if bed.jobs > 1 {
        out.push(format!(
            "{} guests ran in parallel on {} host CPUs, and may slow each other down.",
            bed.jobs, bed.host_cpus
        ));
    }
    out
}
