//! `[protect]` of a configuration file.
use crate::load::{Check, Setting};
use crate::protect::marks::Rule;
use crate::protect::settings::{Settings, Slice, When};
use policy::floors::{Size, MOST};
use serde::Deserialize;
use toml::Value;

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Protect {
    workingset_protection: Setting<bool>,
    anon_min_ratio: Setting<Value>,
    clean_min_ratio: Setting<Value>,
    clean_low_ratio: Setting<Value>,
    auto_least: Setting<f64>,
    auto_most: Setting<f64>,
    tick_ms: Setting<u32>,
    fastest_mb_per_s: Setting<u64>,
    anon_reclaim: Setting<bool>,
    lock_mb: Setting<u64>,
    realtime_priority: Setting<u8>,
    kill: Kill,
    cgroups: Option<toml::map::Map<String, Value>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Kill {
    when: Setting<String>,
    dry_run: Setting<bool>,
    protect: Setting<Vec<String>>,
    prefer: Setting<Vec<String>>,
    hook: Setting<String>,
    notify: Setting<bool>,
}

/// Lays the file's settings over `into`. `text` is the file, for the places of names.
pub(crate) fn apply(file: Protect, text: &str, check: &mut Check, into: &mut Settings) {
    let policy = &mut into.policy;
    check.plain(file.workingset_protection, &mut policy.enabled);
    let floors = &mut policy.floors;
    for (name, setting, floor) in [
        ("anon_min_ratio", file.anon_min_ratio, &mut floors.anon_min),
        (
            "clean_min_ratio",
            file.clean_min_ratio,
            &mut floors.clean_min,
        ),
        (
            "clean_low_ratio",
            file.clean_low_ratio,
            &mut floors.clean_low,
        ),
    ] {
        check.map(setting, floor, |value| size(name, &value));
    }
    check.range(
        file.auto_least,
        "auto_least",
        0.0,
        45.0,
        &mut policy.auto.least,
    );
    check.range(
        file.auto_most,
        "auto_most",
        0.0,
        45.0,
        &mut policy.auto.most,
    );
    let mut tick_ms = (policy.tick_s * 1e3) as u32;
    check.range(file.tick_ms, "tick_ms", 1, 100, &mut tick_ms);
    policy.tick_s = f64::from(tick_ms) / 1e3;
    let mut mb = policy.fastest >> 20;
    check.range(
        file.fastest_mb_per_s,
        "fastest_mb_per_s",
        1,
        1 << 20,
        &mut mb,
    );
    policy.fastest = mb << 20;
    check.plain(file.anon_reclaim, &mut policy.anon_reclaim);
    let mut mb = into.lock_bytes >> 20;
    check.range(file.lock_mb, "lock_mb", 0, 1 << 30, &mut mb);
    into.lock_bytes = mb << 20;
    let priority = &mut into.realtime_priority;
    check.range(file.realtime_priority, "realtime_priority", 0, 99, priority);
    apply_kill(file.kill, check, &mut into.kill);
    for (name, value) in file.cgroups.unwrap_or_default() {
        match slice(&name, &value) {
            Ok(new) => {
                into.cgroups.retain(|old| old.name != new.name);
                into.cgroups.push(new);
            }
            Err(words) => check.say(text.find(&name).unwrap_or(0), words),
        }
    }
    let policy = &into.policy;
    if let (Size::Percent(anon), Size::Percent(clean)) =
        (policy.floors.anon_min, policy.floors.clean_min)
    {
        if anon + clean > MOST {
            let words = format!(
                "protect: anon_min_ratio {anon} and clean_min_ratio {clean} leave less than {}% to \
                 reclaim",
                100.0 - MOST
            );
            check.whole(&words);
        }
    }
    if policy.auto.least > policy.auto.most {
        check.whole("protect: auto_least is more than auto_most");
    }
}

fn apply_kill(file: Kill, check: &mut Check, into: &mut crate::protect::settings::Kill) {
    check.map(file.when, &mut into.when, |word| match word.as_str() {
        "auto" => Ok(When::Auto),
        "always" => Ok(When::Always),
        "never" => Ok(When::Never),
        _ => Err(format!("when = {word:?}: auto, always or never")),
    });
    check.plain(file.dry_run, &mut into.dry_run);
    let rules = |list: Vec<String>| list.iter().map(|words| Rule::parse(words)).collect();
    check.map(file.protect, &mut into.marks.protect, rules);
    check.map(file.prefer, &mut into.marks.prefer, rules);
    check.map(file.hook, &mut into.hook, |path| match path.as_str() {
        "" => Ok(None),
        path if path.starts_with('/') => Ok(Some(path.into())),
        path => Err(format!("hook = {path:?} does not begin at /")),
    });
    check.plain(file.notify, &mut into.notify);
}

/// `15`, `"15%"`, `"512M"`, `"2G"` or `"auto"`.
fn size(name: &str, value: &Value) -> Result<Size, String> {
    let wrong = || {
        format!("{name} = {value}: percent of memory (15 or \"15%\"), \"512M\", \"2G\" or \"auto\"")
    };
    let percent = |percent: f64| match (0.0..=100.0).contains(&percent) {
        true => Ok(Size::Percent(percent)),
        false => Err(format!("{name} = {value}: 0 to 100 percent")),
    };
    let words = match value {
        Value::Integer(number) => return percent(*number as f64),
        Value::Float(number) => return percent(*number),
        Value::String(words) => words.trim(),
        _ => return Err(wrong()),
    };
    if words == "auto" {
        return Ok(Size::Auto);
    }
    if let Some(number) = words.strip_suffix('%') {
        return percent(number.trim().parse().map_err(|_| wrong())?);
    }
    let digits = words.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match &words[digits.len()..] {
        "K" | "KB" | "KiB" => 10,
        "M" | "MB" | "MiB" => 20,
        "G" | "GB" | "GiB" => 30,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.trim().parse().map_err(|_| wrong())?;
    number
        .checked_mul(1 << shift)
        .map(Size::Bytes)
        .ok_or_else(wrong)
}

/// `"user.slice" = "low"`.
fn slice(name: &str, value: &Value) -> Result<Slice, String> {
    let good = |letter: char| letter.is_ascii_alphanumeric() || "._-/@\\:".contains(letter);
    if name.is_empty() || name.starts_with('/') || name.contains("..") || !name.chars().all(good) {
        return Err(format!(
            "{name:?} is no cgroup below /sys/fs/cgroup, such as user.slice"
        ));
    }
    match value.as_str() {
        Some("low") => Ok(false),
        Some("min") => Ok(true),
        _ => Err(format!("{name} = {value}: \"low\" or \"min\"")),
    }
    .map(|hard| Slice {
        name: name.to_owned(),
        hard,
    })
}
