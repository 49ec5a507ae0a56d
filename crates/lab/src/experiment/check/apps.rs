//! What only an app-cycle worker can have wrong.
use super::super::source::{at, there_are, Step};
use super::{fault, Checked};
use crate::experiment::Experiment;
use raw::apps::AppCycle;

pub fn check(
    experiment: &Experiment,
    cycle: &AppCycle,
    here: &dyn Fn(&[&str]) -> Vec<Step>,
) -> Checked {
    let field = |name: &str| here(&["does", "app-cycle", name]);
    if !(2..=200).contains(&cycle.apps) {
        return fault(field("apps"), "expected 2 to 200");
    }
    if cycle.iterations == 0 || cycle.settle.saturating_add(cycle.iterations) > 100_000 {
        return fault(field("iterations"), "expected 1 to 100000 in all");
    }
    if !(0.0..=1.0).contains(&cycle.warm_share) {
        return fault(field("warm_share"), "expected a share, 0 to 1");
    }
    let whole = experiment.machine.memory_mb << 20;
    let mut resolved = cycle.clone();
    for (name, size) in resolved.sizes() {
        *size = size.resolve(whole);
        if size.bytes() == 0 {
            return fault(field(name), "expected a size above 0");
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
            let message = format!("[files] has no {file:?}; {}", there_are(&names));
            return fault(field(name), message);
        };
        if *size < least {
            let message = format!("expected at least {least} bytes, and it has {size}");
            return fault(at!["files", file.as_str()], message);
        }
    }
    if let Some(killer) = &cycle.killer {
        for (name, ms) in [
            ("psi_partial_stall_ms", killer.psi_partial_stall_ms),
            ("psi_complete_stall_ms", killer.psi_complete_stall_ms),
        ] {
            if !(1..=1000).contains(&ms) {
                let place = here(&["does", "app-cycle", "killer", name]);
                return fault(place, "expected 1 to 1000: the window is a second");
            }
        }
    }
    Ok(())
}
