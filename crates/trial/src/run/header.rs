//! The header of a trial: `run.json`.
use super::options::Options;
use super::plan::plan;
use crate::setting::Setting;
use kernfs::meminfo::Meminfo;
use lab::host;
use protocol::record::{Arm, Bed, Run, SCHEMA};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The names of the arms.
pub const ARMS: [&str; 2] = ["a", "b"];

pub fn header(options: &Options, memory: &Meminfo) -> Run {
    let started = SystemTime::now().duration_since(UNIX_EPOCH);
    let name = Path::new(&options.command[0])
        .file_name()
        .unwrap_or_default();
    let labels = options.labels();
    let arms = { options.settings.iter() }.zip(labels.clone()).enumerate();
    let arms = arms.map(|(place, (setting, label))| Arm {
        name: ARMS[place].into(),
        label,
        kernel: host::kernel(),
        image: None,
        baseline: (place == 1).then(|| ARMS[0].into()),
        settings: settings(options, setting),
        point: None,
    });
    let [a, b] = labels;
    Run {
        schema: SCHEMA,
        experiment: "trial".into(),
        title: format!("{} under {b} against {a}", name.to_string_lossy()),
        about: about(options),
        command: options.line.clone(),
        hotset_version: env!("CARGO_PKG_VERSION").into(),
        started: started.map_or(0, |since| since.as_secs()),
        bed: Bed {
            name: "This machine".into(),
            memory_mb: memory.mem_total().unwrap_or(0) / 1024,
            cpus: host::cpus(),
            host_cpu: host::cpu(),
            host_cpus: host::cpus(),
            host_kernel: host::kernel(),
            ..Bed::default()
        },
        arms: arms.collect(),
        repetitions: options.pairs,
        seed: options.seed,
        plan: plan(),
        source: String::new(),
        packages: Vec::new(),
    }
}

fn settings(options: &Options, setting: &Setting) -> BTreeMap<String, String> {
    let knobs = setting.sysctls.iter().map(|(knob, value)| {
        let path = options.root.sysctl(knob);
        (path.to_string_lossy().into_owned(), value.clone())
    });
    let daemon = setting.daemon.iter().map(|lines| {
        let lines = match lines.is_empty() {
            true => "with its own configuration".to_string(),
            false => lines.join("; "),
        };
        ("hotsetd".to_string(), lines)
    });
    knobs.chain(daemon).collect()
}

/// How it was run, as Markdown.
fn about(options: &Options) -> String {
    let words = options.command.iter().map(|word| word.to_string_lossy());
    let words: Vec<_> = words.collect();
    let mut out = format!("Command: `{}`\n\n", words.join(" ").replace('`', "'"));
    for line in &options.beside {
        out += &format!("Beside it: `{}`\n\n", line.replace('`', "'"));
    }
    out += &format!(
        "The command began {} s after the setting and what runs beside it. {} Each pair has both settings, in an order \
         drawn at random.\n\n",
        options.lead.as_secs_f64(),
        match options.cold {
            true => "The page cache was dropped before each run.",
            false => "A first run, which does not count, warmed the page cache.",
        }
    );
    for warning in &options.warnings {
        out += &format!("- At the start: {warning}.\n");
    }
    out
}
