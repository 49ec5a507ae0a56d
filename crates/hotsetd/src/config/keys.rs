//! Every setting of a configuration file: its section, its name, its range and its place.
use crate::config::check::{shortened, Checked, Contradiction, Setting};
use crate::config::protect_keys;
use crate::config::row::{key, Key, ANY};
use crate::config::settings::{absolute, absolute_or_none, knob_name, parse_listen, Config};
use crate::telemetry::server::Listen;
use policy::{Tunable, When};

const KEYS: &[Key] = &[
    key("", "verbosity", |c, s| {
        s.store_between(0, 5, &mut c.verbosity)
    }),
    key("", "log", |c, s| s.store_parsed(&mut c.log, str::parse)),
    key("", "dry_run", |c, s| s.store(&mut c.dry_run)),
    key("", "journal", |c, s| {
        s.store_parsed(&mut c.journal, absolute)
    }),
    key("", "learned", |c, s| {
        s.store_parsed(&mut c.learned, absolute_or_none)
    }),
    key("", "aggressiveness", |c, s| {
        s.store_between(1, 3, &mut c.policy.aggressiveness)
    }),
    key("sampling", "near_s", |c, s| {
        s.store_between(0.1, 10.0, &mut c.policy.sample_near_s)
    }),
    key("sampling", "far_s", |c, s| {
        s.store_between(1.0, 60.0, &mut c.policy.sample_far_s)
    }),
    key("free_pages", "enabled", |c, s| {
        s.store(&mut c.policy.modules.free_pages)
    }),
    key("free_pages", "max_gap_gb", max_gap),
    key("free_pages", "max_watermark_scale_factor", |c, s| {
        c.policy.watermark_scale_factor_max = Some(s.between(10, 3000)?);
        Ok(())
    }),
    key("free_pages", "node_reclaim", |c, s| {
        s.store(&mut c.policy.node_reclaim)
    }),
    key("free_pages", "kswapd_nice", |c, s| {
        s.store_between(-20, 0, &mut c.policy.kswapd_nice)
    }),
    key("fragmentation", "enabled", |c, s| {
        s.store(&mut c.policy.modules.fragmentation)
    }),
    key("fragmentation", "compact_every_s", |c, s| {
        s.store_between(1.0, 86400.0, &mut c.policy.compact_every_s)
    }),
    key("negative_dentries", "enabled", |c, s| {
        s.store(&mut c.policy.modules.negative_dentries)
    }),
    key("negative_dentries", "cap_per_mille", |c, s| {
        s.store_between(1, 100, &mut c.policy.negative_dentry_permille)
    }),
    key("object_caching", "enabled", |c, s| {
        s.store(&mut c.policy.modules.object_caching)
    }),
    key("object_caching", "prefer", |c, s| {
        s.store(&mut c.policy.prefer_object_caching)
    }),
    key("leak_check", "enabled", |c, s| {
        s.store(&mut c.policy.modules.leak_check)
    }),
    key("tunables", "enabled", |c, s| {
        s.store(&mut c.policy.modules.tunables)
    }),
    key("tunables.at_start", ANY, |c, s| tunable(c, s, When::Start)),
    key("tunables.on_huge_pages_change", ANY, |c, s| {
        tunable(c, s, When::HugePagesChanged)
    }),
    key("pressure", "enabled", |c, s| {
        s.store(&mut c.pressure.enabled)
    }),
    key("pressure", "stall_ms", |c, s| {
        s.store_between(1, 10_000, &mut c.pressure.stall_ms)
    }),
    key("pressure", "window_ms", |c, s| {
        s.store_between(500, 10_000, &mut c.pressure.window_ms)
    }),
    key("flight", "file", |c, s| {
        s.store_parsed(&mut c.flight.file, absolute_or_none)
    }),
    key("flight", "size_mb", |c, s| {
        let mb: u64 = s.between(1, 65_536)?;
        c.flight.bytes = mb << 20;
        Ok(())
    }),
    key("status", "socket", |c, s| {
        s.store_parsed(&mut c.status, absolute_or_none)
    }),
    key("metrics", "listen", |c, s| {
        s.store_parsed(&mut c.metrics, parse_listen)
    }),
    key("metrics", "other_machines", |c, s| {
        s.store(&mut c.metrics_for_others)
    }),
];

/// Every setting.
pub fn all() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().chain(protect_keys::KEYS)
}

/// The setting of this name in a section.
pub fn find(section: &str, name: &str) -> Option<&'static Key> {
    all().find(|key| key.section == section && (key.name == name || key.name == ANY))
}

/// Whether there is a section of this name.
pub fn is_section(name: &str) -> bool {
    all().any(|key| {
        let rest = key.section.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// The names in a section.
pub fn names_in(section: &str) -> Vec<&'static str> {
    let mut names = Vec::new();
    for key in all() {
        let name = match section {
            "" => key
                .section
                .split('.')
                .next()
                .filter(|first| !first.is_empty()),
            section => {
                let inner = key.section.strip_prefix(section);
                inner.and_then(|inner| inner.strip_prefix('.'))
            }
        };
        let own = (key.section == section).then_some(key.name);
        names.extend(own.or(name).filter(|name| !names.contains(name)));
    }
    names
}

/// The message about a name that its section does not have.
pub fn unknown(section: &str, name: &str) -> String {
    let shown = shortened(name);
    if let Some(other) = all().find(|key| key.name == name && key.section != section) {
        return match other.section {
            "" => format!("unknown field `{shown}`: write it before the first section"),
            other => format!("unknown field `{shown}`: write it below [{other}]"),
        };
    }
    let known = names_in(section);
    match names::nearest(&shown, known.iter().copied()) {
        Some(nearest) => format!("unknown field `{shown}`; did you mean {nearest}?"),
        None => format!(
            "unknown field `{shown}`: expected one of {}",
            known.join(", ")
        ),
    }
}

/// Settings that contradict each other.
pub fn contradictions(config: &Config) -> Vec<Contradiction> {
    let mut found = Vec::new();
    let (stall, window) = (config.pressure.stall_ms, config.pressure.window_ms);
    if stall > window {
        found.push(Contradiction {
            names: ["pressure.stall_ms", "pressure.window_ms"],
            message: format!("pressure: stall_ms {stall} is more than window_ms {window}"),
        });
    }
    if config.policy.sample_near_s > config.policy.sample_far_s {
        found.push(Contradiction {
            names: ["sampling.near_s", "sampling.far_s"],
            message: "sampling: near_s is more than far_s".into(),
        });
    }
    if let (Listen::Tcp(address), false) = (&config.metrics, config.metrics_for_others) {
        if !address.ip().is_loopback() {
            found.push(Contradiction {
                names: ["metrics.listen", "metrics.other_machines"],
                message: format!(
                    "{address} can be reached from other machines: take 127.0.0.1, [::1] or unix:/path, or set \
                     `other_machines = true`"
                ),
            });
        }
    }
    found.extend(protect_keys::contradictions(&config.protect));
    found
}

fn max_gap(config: &mut Config, setting: &Setting) -> Checked {
    // Beyond this, the bytes do not fit in 64 bits.
    let gb: f64 = setting.between(0.0, 1e6)?;
    let bytes = (gb * f64::from(1 << 30)) as u64;
    config.policy.max_gap_bytes = (bytes > 0).then_some(bytes);
    Ok(())
}

fn tunable(config: &mut Config, setting: &Setting, when: When) -> Checked {
    let name = setting.name;
    let value = match setting.read()? {
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Boolean(yes) => u8::from(yes).to_string(),
        toml::Value::String(text) if !text.trim().is_empty() && text.len() <= 120 => text,
        other => return Err(format!("{name} = {other}: expected a number or a string")),
    };
    let name = knob_name(name)?;
    let tunables = &mut config.policy.tunables;
    tunables.retain(|old| (&old.name, old.when) != (&name, when));
    tunables.push(Tunable { name, value, when });
    Ok(())
}
