//! Checks workers that cycle through apps, and workers that access pages.
use super::super::rule::{invalid, is_plain, Checked};
use crate::experiment::definition::Experiment;
use crate::experiment::text::source::{at, there_are, Error, Step};
use protocol::work::access::{Access, By, Rule};
use protocol::work::apps::AppCycle;

/// Checks a worker that cycles through apps.
pub fn check(
    experiment: &Experiment,
    cycle: &AppCycle,
    here: &dyn Fn(&[&str]) -> Vec<Step>,
) -> Checked {
    let field = |name: &str| here(&["does", "app-cycle", name]);
    if !(2..=200).contains(&cycle.apps) {
        return invalid(field("apps"), "expected 2 to 200");
    }
    if cycle.iterations == 0 || cycle.settle.saturating_add(cycle.iterations) > 100_000 {
        return invalid(field("iterations"), "expected 1 to 100000 in all");
    }
    if !(0.0..=1.0).contains(&cycle.warm_share) {
        return invalid(field("warm_share"), "expected a share, 0 to 1");
    }
    let whole = experiment.machine.memory_mb << 20;
    let mut resolved = cycle.clone();
    for (name, size) in resolved.sizes() {
        *size = size.resolve(whole);
        if size.bytes() == 0 {
            return invalid(field(name), "expected a size above 0");
        }
    }
    let sizes = experiment.file_sizes();
    for (name, file, least) in [
        ("files", &cycle.files, resolved.file_bytes()),
        ("framework", &cycle.framework, 4096),
        ("media", &cycle.media, resolved.stream.bytes()),
    ] {
        let Some(size) = sizes.get(file) else {
            let names: Vec<&String> = experiment.files.keys().collect();
            let message = format!("[files] has no {file:?}; {}", there_are(file, &names));
            return invalid(field(name), message);
        };
        if *size < least {
            let message = format!("expected at least {least} bytes, and it has {size}");
            return invalid(at!["files", file.as_str()], message);
        }
    }
    if let Some(killer) = &cycle.killer {
        for (name, ms) in [
            ("psi_partial_stall_ms", killer.psi_partial_stall_ms),
            ("psi_complete_stall_ms", killer.psi_complete_stall_ms),
        ] {
            if !(1..=1000).contains(&ms) {
                let place = here(&["does", "app-cycle", "killer", name]);
                return invalid(place, "expected 1 to 1000: the window is a second");
            }
        }
    }
    Ok(())
}

/// Checks a worker that accesses pages. Returns the file that it accesses, if there is one.
pub fn access<'a>(
    experiment: &Experiment,
    access: &'a Access,
    here: &dyn Fn(&[&str]) -> Vec<Step>,
) -> Result<Option<&'a str>, Error> {
    let field = |name: &str| here(&["does", "access", name]);
    if access.requests == 0 || access.requests > 1 << 26 {
        return invalid(field("requests"), "expected 1 to 67108864");
    }
    let whole = experiment.machine.memory_mb << 20;
    let mut rule = access.rule.clone();
    for (_, size) in rule.sizes() {
        *size = size.resolve(whole);
        if size.bytes() < 4096 {
            return invalid(field("rule"), "expected sizes of a page at least");
        }
    }
    match &rule {
        Rule::Zipf { alpha, .. } if !(0.0..=100.0).contains(alpha) => {
            return invalid(field("rule"), "expected an alpha of 0 to 100");
        }
        Rule::HotAndScan { share, .. } if !(*share > 0.0 && *share < 1.0) => {
            return invalid(field("rule"), "expected a share above 0 and below 1");
        }
        Rule::Recorded { trace, .. } if !is_plain(trace) => {
            let message = "expected the name of a file that lies beside the experiment's";
            return invalid(field("rule"), message);
        }
        Rule::Recorded { pages, .. } if !(1..=1 << 26).contains(pages) => {
            return invalid(field("rule"), "expected 1 to 67108864 pages");
        }
        _ => {}
    }
    let (first, pages) = rule.pages();
    if access.lock_first && first.is_none() {
        return invalid(
            field("lock_first"),
            "the rule has one pool: `lock_first` needs a rule with two",
        );
    }
    let (By::Mapped { file } | By::Pread { file }) = &access.by else {
        return Ok(None);
    };
    // A file that does not exist is the caller's error.
    if let Some(has) = experiment.file_sizes().get(file) {
        if *has < pages * 4096 {
            let least = pages * 4096;
            let message = format!("expected at least {least} bytes, and it has {has}");
            return invalid(at!["files", file.as_str()], message);
        }
    }
    Ok(Some(file))
}
