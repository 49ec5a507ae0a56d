//! The part of `hotset status` that tells of protection.
use crate::status::{bytes, clock, list};
use serde_json::Value;
use std::fmt::Write as _;

/// `protect` of the status document; nothing where it is off or the daemon knows nothing of it.
pub fn write_words(to: &mut String, protect: &Value) -> std::fmt::Result {
    if !protect.is_object() {
        return Ok(());
    }
    let number = |name: &str| protect[name].as_f64().unwrap_or(0.0);
    let size = |name: &str| bytes(number(name));
    let word = |name: &str| protect[name].as_str().unwrap_or("?").to_owned();
    writeln!(
        to,
        "\nProtection by {}: clean file pages {} of at least {} (soft {}), anonymous {} of {}",
        word("enforcer"),
        size("clean_bytes"),
        size("clean_min_bytes"),
        size("clean_low_bytes"),
        size("anon_bytes"),
        size("anon_min_bytes"),
    )?;
    let steering = match protect["steering"].as_str() {
        Some("anon") => "reclaim is kept to anonymous pages",
        Some("file") => "reclaim is kept to file pages",
        _ => "reclaim goes where the administrator's swappiness says",
    };
    writeln!(
        to,
        "  {steering}; {} from the floors; next look in {:.3} s; kills: {}",
        size("distance_bytes"),
        number("next_look_s"),
        word("kills"),
    )?;
    if protect["locked"].is_object() {
        let locked = |name: &str| bytes(protect["locked"][name].as_f64().unwrap_or(0.0));
        writeln!(
            to,
            "  {} of file pages locked, of at most {}",
            locked("bytes"),
            locked("budget_bytes")
        )?;
        for file in list(&protect["locked"]["files"]).iter().take(5) {
            writeln!(
                to,
                "    {} of {} ({} processes)",
                bytes(file["bytes"].as_f64().unwrap_or(0.0)),
                file["path"].as_str().unwrap_or("?"),
                file["users"],
            )?;
        }
    }
    for cgroup in list(&protect["cgroups"]) {
        writeln!(
            to,
            "  {} = {}",
            cgroup["knob"].as_str().unwrap_or("?"),
            bytes(cgroup["bytes"].as_f64().unwrap_or(0.0)),
        )?;
    }
    let victim = &protect["last_victim"];
    if victim.is_object() {
        let verb = match victim["only_said"] == true {
            true => "would have killed",
            false => "killed",
        };
        writeln!(
            to,
            "  {}  {verb} {} ({}): {} in {} processes",
            clock(victim["at_unix_s"].as_f64().unwrap_or(0.0)),
            victim["name"].as_str().unwrap_or("?"),
            victim["pid"],
            bytes(victim["bytes"].as_f64().unwrap_or(0.0)),
            victim["processes"],
        )?;
    }
    for other in list(&protect["other_killers"]) {
        let other = other.as_str().unwrap_or("?");
        writeln!(
            to,
            "  WARNING: {other} runs as well, and would kill beside hotsetd"
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_protected_and_who_died_is_told() {
        let mut text = String::new();
        write_words(&mut text, &Value::Null).unwrap();
        assert_eq!(text, "");
        let protect = json!({
            "enforcer": "hotsetd", "clean_bytes": 1 << 30, "clean_min_bytes": 1 << 20,
            "steering": "anon", "kills": "when exhausted", "other_killers": ["earlyoom"],
            "last_victim": {"at_unix_s": 0, "name": "hog", "pid": 7, "bytes": 4096, "processes": 1,
                            "only_said": false},
        });
        write_words(&mut text, &protect).unwrap();
        for words in [
            "clean file pages 1.0 GiB of at least 1.0 MiB",
            "reclaim is kept to anonymous pages",
            "killed hog (7): 4.0 KiB in 1 processes",
            "WARNING: earlyoom runs as well",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
