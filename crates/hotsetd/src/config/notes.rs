//! Notes on a valid configuration: settings that have no effect, here or anywhere.
use crate::actuate::knob_file;
use crate::config::check::{shortened, Problem};
use crate::config::file::Layer;
use crate::config::settings::Config;
use crate::protect::oom::rules::{Owner, Rule, Rules};
use crate::protect::settings::{Kill, When};
use policy::floors::MOST_PERCENT;
use policy::victim::Eligibility;
use policy::Tunable;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A note for each setting of the files that has no effect on the machine below `root`, in the order of the files.
pub fn notes(config: &Config, layers: &[Layer], root: &Path) -> Vec<Problem> {
    let mut found = Found {
        layers,
        notes: Vec::new(),
    };
    switched_off(config, &mut found);
    if config.policy.modules.tunables {
        for tunable in &config.policy.tunables {
            found.at(&setting(tunable), unsettable(tunable, root));
        }
    }
    if config.protect.policy.enabled {
        floors(config, root, &mut found);
        if config.protect.kill.when != When::Never {
            kill(&config.protect.kill, &mut found);
        }
    }
    found.notes
}

struct Found<'a> {
    layers: &'a [Layer],
    notes: Vec<Problem>,
}

impl Found<'_> {
    /// Adds a note at the last line that sets `name`.
    fn at(&mut self, name: &str, message: Option<String>) {
        let mut lines = self
            .layers
            .iter()
            .flat_map(|layer| layer.settings.iter().map(move |line| (layer, line)));
        let last = lines.rfind(|(_, line)| line.name == name);
        if let (Some((layer, line)), Some(message)) = (last, message) {
            self.notes.push(Problem {
                line: line.line,
                ..Problem::of(&layer.file, message)
            });
        }
    }
}

/// Settings of a section that another setting switches off.
fn switched_off(config: &Config, found: &mut Found) {
    let modules = config.policy.modules;
    let protect = &config.protect;
    let switches = [
        (modules.free_pages, "free_pages", "enabled"),
        (modules.fragmentation, "fragmentation", "enabled"),
        (modules.negative_dentries, "negative_dentries", "enabled"),
        (modules.object_caching, "object_caching", "enabled"),
        (modules.tunables, "tunables", "enabled"),
        (config.pressure.enabled, "pressure", "enabled"),
        (protect.policy.enabled, "protect", "workingset_protection"),
        (
            protect.kill.when != When::Never || !protect.policy.enabled,
            "protect.kill",
            "when",
        ),
    ];
    for (on, section, switch) in switches {
        if on {
            continue;
        }
        let (below, switch) = (format!("{section}."), format!("{section}.{switch}"));
        let value = match switch.as_str() {
            "protect.kill.when" => "\"never\"",
            _ => "false",
        };
        let layers = found.layers;
        let mut names = Vec::new();
        for line in layers.iter().flat_map(|layer| &layer.settings) {
            let name = line.name.as_str();
            if name.starts_with(&below) && name != switch && !names.contains(&name) {
                names.push(name);
            }
        }
        for name in names {
            let message = format!("{name} has no effect: {switch} is {value}");
            found.at(name, Some(message));
        }
    }
}

/// The name of the line that sets a tunable.
fn setting(tunable: &Tunable) -> String {
    let section = match tunable.when {
        policy::When::Start => "at_start",
        policy::When::HugePagesChanged => "on_huge_pages_change",
    };
    format!("tunables.{section}.{}", tunable.name)
}

/// Why this machine's kernel will refuse the value.
fn unsettable(tunable: &Tunable, root: &Path) -> Option<String> {
    let Tunable { name, value, .. } = tunable;
    let now = match std::fs::read_to_string(knob_file::place(root, name).as_str()) {
        Ok(now) => now,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Some(format!("{name} has no effect: this machine lacks it"));
        }
        // It may be written and not read, or only by root.
        Err(_) => return None,
    };
    let now = now.lines().next().unwrap_or_default();
    let numbers = |text: &str| {
        let mut words = text.split_whitespace().peekable();
        words.peek().is_some() && words.all(|word| word.parse::<i64>().is_ok())
    };
    let shown = shortened(value);
    if numbers(now) && !numbers(value) {
        return Some(format!("{name} = {shown:?} is no number; it is {now} now"));
    }
    let choices: Vec<_> = now.split_whitespace().collect();
    let plain = |word: &&str| word.trim_matches(['[', ']']) == value.trim();
    match now.contains('[') && !choices.iter().any(plain) {
        true => Some(format!("{name} = {shown:?} is none of {now}")),
        false => None,
    }
}

/// Floors that this machine cannot keep.
fn floors(config: &Config, root: &Path, found: &mut Found) {
    let text = std::fs::read_to_string(root.join("proc/meminfo")).unwrap_or_default();
    let bytes = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kib << 10)
    };
    let floors = &config.protect.policy.floors;
    let names = ["protect.clean_min_ratio", "protect.anon_min_ratio"];
    let set = |name: &&&str| {
        let mut lines = found.layers.iter().flat_map(|layer| &layer.settings);
        lines.any(|line| line.name == **name)
    };
    let name = names.iter().find(set).copied().unwrap_or(names[0]);
    if let Some(total) = bytes("MemTotal:") {
        let message = floors.excess(total, 1).map(|percent| {
            format!(
                "the hard floors are {percent:.0}% of this machine's {}: both are scaled down to {MOST_PERCENT}% \
                 together",
                units::format_bytes(total as f64)
            )
        });
        found.at(name, message);
    }
    let kernel = root.join("proc/sys/vm/workingset_protection").exists();
    if bytes("SwapTotal:") == Some(0) && !kernel && floors.any_hard() {
        let message = match config.protect.kill.when {
            When::Never => {
                "this machine has no swap and no kill is wanted: nothing keeps the floors"
            }
            _ => "this machine has no swap: the floors hold by the kill alone",
        };
        found.at(name, Some(message.into()));
    }
}

const ROOT: Owner = Owner {
    uid: 0,
    contained: false,
};

fn kill(kill: &Kill, found: &mut Found) {
    if let Some(hook) = &kill.hook {
        let why = match std::fs::metadata(hook) {
            Err(error) => Some(names::io_error(&error).to_string()),
            Ok(about) if !about.is_file() || about.permissions().mode() & 0o111 == 0 => {
                Some("not a program".into())
            }
            Ok(_) => None,
        };
        let shown = names::shown(hook);
        let message = why.map(|why| format!("hook has no effect: {shown}: {why}"));
        found.at("protect.kill.hook", message);
    }
    for rule in &kill.rules.prefer {
        let why = match rule {
            _ if kill.rules.protect.contains(rule) => "it is in protect as well",
            Rule::Name(name) if Rules::default().of(name, "/", ROOT) == Eligibility::Never => {
                "hotsetd never kills it"
            }
            _ => continue,
        };
        let message = format!("prefer: \"{rule}\" has no effect: {why}");
        found.at("protect.kill.prefer", Some(message));
    }
}
