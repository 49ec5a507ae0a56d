//! Checks the arms.
use super::daemon::daemon;
use super::rule::{invalid, is_plain, Checked};
use crate::experiment::arm::Arm;
use crate::experiment::definition::Experiment;
use crate::experiment::kernel::{Kernel, Own};
use crate::experiment::text::source::{at, there_are, Step};
use kbuild::patches::series;
use kbuild::{Flavour, Version};
use names::shown;

pub fn arms(experiment: &Experiment) -> Checked {
    let arms = &experiment.arms;
    let names: Vec<&String> = arms.iter().map(|arm| &arm.name).collect();
    if arms.is_empty() {
        return invalid(at!["arms"], "expected at least one arm");
    }
    for (i, arm) in arms.iter().enumerate() {
        let here = |field: &str| match arm.sweep {
            Some(sweep) => at!["sweeps", sweep, field],
            None => at!["arms", i, field],
        };
        if !is_plain(&arm.name) {
            let message = "an arm's name is made of letters, digits, '-', '_' and '.'";
            return invalid(here("name"), message);
        }
        if names[..i].contains(&&arm.name) {
            return invalid(
                here("name"),
                format!("another arm is called {:?}", arm.name),
            );
        }
        if let Some(baseline) = arm.baseline.as_ref().filter(|name| !names.contains(name)) {
            let message = format!(
                "no arm is called {baseline:?}; {}",
                there_are(baseline, &names)
            );
            return invalid(here("baseline"), message);
        }
        if arm.baseline.as_ref() == Some(&arm.name) {
            let message = "an arm is no baseline of itself: name another, or remove the field";
            return invalid(here("baseline"), message);
        }
        let of = |fields: &[&str]| {
            let mut path = match arm.sweep {
                Some(sweep) => at!["sweeps", sweep],
                None => at!["arms", i],
            };
            // A sweep of the machine has these in its values.
            let fields = match fields {
                ["memory_mb" | "cpus"] if arm.sweep.is_some() => &["values"],
                fields => fields,
            };
            // A sweep's own knob is not in its table of knobs.
            let depth = if arm.sweep.is_some() { 1 } else { fields.len() };
            path.extend(fields[..depth].iter().map(|field| (*field).into()));
            path
        };
        one(arm, &of)?;
        let in_root = arm.daemon.as_ref().is_some_and(|daemon| daemon.in_root);
        if in_root && experiment.root.is_none() {
            let message = "the experiment has no [root] with the daemon's packages";
            return invalid(of(&["daemon", "in_root"]), message);
        }
    }
    Ok(())
}

/// Checks an arm by itself. `of` gives the place of its fields.
pub fn one(arm: &Arm, of: &dyn Fn(&[&str]) -> Vec<Step>) -> Checked {
    if let Kernel::Own(own) = &arm.kernel {
        kernel(of(&["kernel"]), own)?;
    }
    if arm.memory_mb.is_some_and(|mb| !(32..=65536).contains(&mb)) {
        return invalid(of(&["memory_mb"]), "expected 32 to 65536");
    }
    if arm.zram_mb.is_some_and(|mb| mb > 65536) {
        return invalid(of(&["zram_mb"]), "expected 0 to 65536");
    }
    if arm.in_proportion && arm.memory_mb.is_none() {
        let message = "goes with `memory_mb`, the memory that everything else is in proportion to";
        return invalid(of(&["in_proportion"]), message);
    }
    if arm.cpus.is_some_and(|cpus| !(1..=64).contains(&cpus)) {
        return invalid(of(&["cpus"]), "expected 1 to 64");
    }
    for (name, value) in &arm.knobs {
        knob(of(&["knobs", name]), name, value)?;
        of_series(of(&["knobs", name]), arm, name)?;
    }
    if let Some(one) = &arm.daemon {
        daemon(of(&["daemon"]), one)?;
    }
    Ok(())
}

/// Checks that a kernel of the user is there, so that no other kernel is built for nothing.
fn kernel(here: Vec<Step>, own: &Own) -> Checked {
    let field = |name: &str| {
        let mut here = here.clone();
        here.push(name.into());
        here
    };
    let patched = own.series_dir.is_some() || own.patches.is_some();
    if own.image.is_some() && (own.tree.is_some() || patched) {
        let message = "a built image takes no source and no patches: give `image` alone";
        return invalid(field("image"), message);
    }
    if own.patches.is_some() && (own.series_dir.is_some() || own.tree.is_none()) {
        let message = "goes with `tree` alone; without a tree write kernel = \"series\"";
        return invalid(field("patches"), message);
    }
    if matches!(own.patches, Some(Flavour::Debian | Flavour::Foreign)) {
        return invalid(
            field("patches"),
            "expected vanilla, series, swappiness, both or generations",
        );
    }
    if let Some(folder) = &own.series_dir {
        if let Err(error) = series::load(folder) {
            return invalid(field("series-dir"), format!("{error:#}"));
        }
    }
    if let Some(tree) = &own.tree {
        if let Err(error) = Version::of_tree(tree) {
            return invalid(field("tree"), format!("{error:#}"));
        }
    }
    match &own.image {
        Some(image) if !image.is_file() => {
            let message = format!("{}: there is no such file", shown(image));
            invalid(field("image"), message)
        }
        None if own.tree.is_none() && !patched => {
            invalid(here, "expected series-dir, tree or image")
        }
        _ => Ok(()),
    }
}

/// Checks a kernel setting: a sysctl or an absolute path, and its value.
fn knob(at: Vec<Step>, name: &str, value: &str) -> Checked {
    let below = ["/proc/", "/sys/"];
    if name.starts_with('/') && !below.iter().any(|dir| name.starts_with(dir)) {
        return invalid(at, "expected a sysctl or a path below /proc or /sys");
    }
    if name.is_empty() || name.contains("..") || name.contains(char::is_whitespace) {
        return invalid(
            at,
            "expected a sysctl, \"vm.swappiness\", or an absolute path",
        );
    }
    let number = value.parse::<i64>();
    if name.ends_with("_ratio") && number.is_ok_and(|percent| !(0..=100).contains(&percent)) {
        return invalid(at, format!("expected a percentage, 0 to 100, not {value}"));
    }
    Ok(())
}

/// The sysctls of the protection series.
const SERIES: [&str; 4] = [
    "vm.workingset_protection",
    "vm.anon_min_ratio",
    "vm.clean_min_ratio",
    "vm.clean_low_ratio",
];

/// Checks a setting of the protection series: its spelling, and that the arm's kernel has the series.
fn of_series(at: Vec<Step>, arm: &Arm, name: &str) -> Checked {
    let name = match name.strip_prefix("/proc/sys/") {
        Some(path) => path.replace('/', "."),
        None => name.to_string(),
    };
    if !SERIES.contains(&name.as_str()) {
        return match SERIES.iter().find(|known| names::is_slip(&name, known)) {
            Some(known) => invalid(at, format!("no kernel has {name}; did you mean {known}?")),
            None => Ok(()),
        };
    }
    match &arm.kernel {
        Kernel::Known(Flavour::Series | Flavour::Both) => Ok(()),
        // Patches and images of the user may have them.
        Kernel::Own(_) => Ok(()),
        Kernel::Known(kernel) => invalid(
            at,
            format!("kernel = \"{kernel}\" has no {name}: it needs \"series\" or \"both\""),
        ),
    }
}
