//! The settings of `[protect]`.
use crate::config::check::{Checked, Contradiction, Setting};
use crate::config::row::{key, Key, ANY};
use crate::protect::oom::rules::Rule;
use crate::protect::settings::{ProtectedCgroup, Settings, When};
use policy::floors::{Size, MOST_PERCENT};
use toml::Value;

const MIB: u64 = 1 << 20;

pub(super) const KEYS: &[Key] = &[
    key("protect", "workingset_protection", |c, s| {
        s.store(&mut c.protect.policy.enabled)
    }),
    key("protect", "anon_min_ratio", |c, s| {
        floor(s, &mut c.protect.policy.floors.anon_min)
    }),
    key("protect", "clean_min_ratio", |c, s| {
        floor(s, &mut c.protect.policy.floors.clean_min)
    }),
    key("protect", "clean_low_ratio", |c, s| {
        let value: Value = s.read()?;
        c.protect.policy.floors.clean_low = match value.as_str() {
            Some("learned") => None,
            _ => Some(size(s.name, &value)?),
        };
        Ok(())
    }),
    key("protect", "tick_ms", |c, s| {
        c.protect.policy.tick_s = f64::from(s.between::<u32>(1, 100)?) / 1e3;
        Ok(())
    }),
    key("protect", "fastest_mb_per_s", |c, s| {
        c.protect.policy.fastest = s.between(1, 1 << 20)? * MIB;
        Ok(())
    }),
    key("protect", "anon_reclaim", |c, s| {
        s.store(&mut c.protect.policy.anon_reclaim)
    }),
    key("protect", "lock_mb", |c, s| {
        c.protect.lock_bytes = s.between(0, 1 << 30)? * MIB;
        Ok(())
    }),
    key("protect", "realtime_priority", |c, s| {
        s.store_between(0, 99, &mut c.protect.realtime_priority)
    }),
    key("protect", "warn", |c, s| s.store(&mut c.protect.warn)),
    key("protect.kill", "when", |c, s| {
        s.store_parsed(&mut c.protect.kill.when, |text| match text {
            "auto" => Ok(When::Auto),
            "always" => Ok(When::Always),
            "never" => Ok(When::Never),
            _ => Err(format!("when = {text:?}: expected auto, always or never")),
        })
    }),
    key("protect.kill", "dry_run", |c, s| {
        s.store(&mut c.protect.kill.dry_run)
    }),
    key("protect.kill", "protect", |c, s| {
        c.protect.kill.rules.protect = rules(s)?;
        Ok(())
    }),
    key("protect.kill", "prefer", |c, s| {
        c.protect.kill.rules.prefer = rules(s)?;
        Ok(())
    }),
    key("protect.kill", "hook", |c, s| {
        s.store_parsed(&mut c.protect.kill.hook, |path| match path {
            "" => Ok(None),
            path if path.starts_with('/') => Ok(Some(path.into())),
            path => Err(format!(
                "hook = {path:?} does not begin at /: write an absolute path"
            )),
        })
    }),
    key("protect.kill", "notify", |c, s| {
        s.store(&mut c.protect.kill.notify)
    }),
    key("protect.cgroups", ANY, |c, s| {
        let new = slice(s.name, &s.read()?)?;
        c.protect.cgroups.retain(|old| old.name != new.name);
        c.protect.cgroups.push(new);
        Ok(())
    }),
];

/// Settings of protection that contradict each other.
pub(super) fn contradictions(settings: &Settings) -> Vec<Contradiction> {
    let mut found = Vec::new();
    let policy = &settings.policy;
    if let (Size::Percent(anon), Size::Percent(clean)) =
        (policy.floors.anon_min, policy.floors.clean_min)
    {
        if anon + clean > MOST_PERCENT {
            found.push(Contradiction {
                names: ["protect.anon_min_ratio", "protect.clean_min_ratio"],
                message: format!(
                    "protect: anon_min_ratio {anon} and clean_min_ratio {clean} leave less than \
                     {}% to reclaim; both together may be {MOST_PERCENT} at most",
                    100.0 - MOST_PERCENT
                ),
            });
        }
    }
    found
}

fn rules(setting: &Setting) -> Checked<Vec<Rule>> {
    let list: Vec<String> = setting.read()?;
    list.iter().map(|text| Rule::parse(text)).collect()
}

fn floor(setting: &Setting, into: &mut Size) -> Checked {
    *into = size(setting.name, &setting.read()?)?;
    Ok(())
}

/// `15`, `"15%"`, `"512M"` or `"2G"`.
fn size(name: &str, value: &Value) -> Result<Size, String> {
    let wrong =
        || format!("{name} = {value}: percent of memory (15 or \"15%\"), \"512M\" or \"2G\"");
    let percent = |percent: f64| match (0.0..=100.0).contains(&percent) {
        true => Ok(Size::Percent(percent)),
        false => Err(format!(
            "{name}: {value} is out of range (0 to 100 percent)"
        )),
    };
    let text = match value {
        Value::Integer(number) => return percent(*number as f64),
        Value::Float(number) => return percent(*number),
        Value::String(text) => text.trim(),
        _ => return Err(wrong()),
    };
    if let Some(number) = text.strip_suffix('%') {
        return percent(number.trim().parse().map_err(|_| wrong())?);
    }
    let begins_with_digit = text.starts_with(|first: char| first.is_ascii_digit());
    units::parse_size(text).map(Size::Bytes).map_err(|why| {
        match begins_with_digit && text.ends_with(char::is_alphabetic) {
            true => format!("{name}: {why}"),
            false => wrong(),
        }
    })
}

/// Whether the kubelet or a container runtime owns the cgroup and all below it.
fn is_containers(part: &str) -> bool {
    const BEGINNINGS: [&str; 6] = [
        "docker-",
        "nerdctl-",
        "cri-containerd-",
        "crio-",
        "libpod-",
        "lxc.",
    ];
    part.contains("kubepods")
        || ["docker", "lxc"].contains(&part)
        || BEGINNINGS
            .iter()
            .any(|beginning| part.starts_with(beginning))
}

/// `"user.slice" = "low"`.
fn slice(name: &str, value: &Value) -> Result<ProtectedCgroup, String> {
    let good = |letter: char| letter.is_ascii_alphanumeric() || "._-/@\\:".contains(letter);
    if name.is_empty() || name.starts_with('/') || name.contains("..") || !name.chars().all(good) {
        return Err(format!(
            "{name:?} is no cgroup below /sys/fs/cgroup, such as user.slice"
        ));
    }
    if name.split('/').any(is_containers) {
        return Err(format!(
            "{name:?} belongs to the kubelet or a container runtime, which sets its boundaries itself; name a \
             cgroup outside, such as system.slice"
        ));
    }
    match value.as_str() {
        Some("low") => Ok(false),
        Some("min") => Ok(true),
        _ => Err(format!("{name} = {value}: \"low\" or \"min\"")),
    }
    .map(|hard| ProtectedCgroup {
        name: name.to_owned(),
        hard,
    })
}
