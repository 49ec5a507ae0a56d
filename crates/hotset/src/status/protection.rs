//! The part of `hotset status` that shows protection.
use super::format::{fitted, time_of_day};
use status::{Cgroup, Enforcer, Kills, LockedFiles, Protection, Steering, Victim};
use std::fmt::{Result, Write};
use units::format_bytes;

/// Locked files shown.
const FILES: usize = 5;

/// Writes the status of protection.
pub fn write(to: &mut String, protect: &Protection) -> Result {
    let size = |bytes: u64| format_bytes(bytes as f64);
    let enforcer = match protect.enforcer {
        Enforcer::Kernel => "the kernel",
        Enforcer::Hotsetd => "hotsetd",
        Enforcer::Unknown => "?",
    };
    writeln!(to, "\nProtection by {enforcer}")?;
    writeln!(
        to,
        "  clean file pages {}, at least {} (soft floor {})",
        size(protect.clean_bytes),
        size(protect.clean_min_bytes),
        size(protect.clean_low_bytes),
    )?;
    writeln!(
        to,
        "  anonymous pages {}, at least {}",
        size(protect.anon_bytes),
        size(protect.anon_min_bytes),
    )?;
    let steering = match protect.steering {
        Steering::Anon => "reclaim is kept to anonymous pages",
        Steering::File => "reclaim is kept to file pages",
        Steering::Admin => "reclaim follows the administrator's swappiness",
    };
    let kills = match protect.kills {
        Kills::Never => "never",
        Kills::DryRun => "dry run, logged only",
        Kills::WhenExhausted => "when exhausted",
        Kills::Unknown => "?",
    };
    writeln!(to, "  {steering}")?;
    writeln!(
        to,
        "  {} from the floors; next sample in {:.3} s; kills: {kills}",
        size(protect.distance_bytes),
        protect.next_sample_s,
    )?;
    if let Some(locked) = &protect.locked {
        write_locked(to, locked)?;
    }
    for Cgroup { knob, bytes, .. } in protect.cgroups.iter().flatten() {
        let size = size(*bytes);
        writeln!(to, "  {} = {size}", fitted(knob, 5 + size.len()))?;
    }
    if let Some(victim) = &protect.last_victim {
        write_victim(to, victim)?;
    }
    for other in &protect.other_killers {
        match protect.kills {
            Kills::Never => writeln!(to, "  {other} runs as well: the kill is left to it")?,
            _ => writeln!(
                to,
                "  WARNING: {other} runs as well, and would kill beside hotsetd"
            )?,
        }
    }
    Ok(())
}

fn write_locked(to: &mut String, locked: &LockedFiles) -> Result {
    let size = |bytes: u64| format_bytes(bytes as f64);
    let (bytes, budget) = (size(locked.bytes), size(locked.budget_bytes));
    writeln!(to, "  {bytes} of file pages locked, of at most {budget}")?;
    for file in locked.files.iter().take(FILES) {
        let bytes = size(file.bytes);
        let users = processes(file.users);
        let path = fitted(&file.path, 4 + bytes.len() + 4 + users.len() + 3);
        writeln!(to, "    {bytes} of {path} ({users})")?;
    }
    Ok(())
}

fn write_victim(to: &mut String, victim: &Victim) -> Result {
    let verb = match victim.dry_run {
        true => "would have killed",
        false => "killed",
    };
    writeln!(
        to,
        "  {}  {verb} {} ({}): {} in {}",
        time_of_day(victim.at_unix_s),
        victim.name,
        victim.pid,
        format_bytes(victim.bytes as f64),
        processes(victim.processes),
    )
}

fn processes(count: u32) -> String {
    match count {
        1 => "1 process".into(),
        _ => format!("{count} processes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_the_victim_and_other_killers_are_shown() {
        let protect = r#"{
            "enforcer": "hotsetd", "clean_bytes": 1073741824, "clean_min_bytes": 1048576,
            "steering": "anon", "kills": "when exhausted", "other_killers": ["earlyoom"],
            "last_victim": {"at_unix_s": 0, "name": "hog", "pid": 7, "bytes": 4096, "processes": 1,
                            "dry_run": false}
        }"#;
        let mut text = String::new();
        write(&mut text, &serde_json::from_str(protect).unwrap()).unwrap();
        for part in [
            "clean file pages 1.0 GiB, at least 1.0 MiB",
            "reclaim is kept to anonymous pages",
            "killed hog (7): 4.0 KiB in 1 process",
            "WARNING: earlyoom runs as well",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let left = protect.replace("when exhausted", "never");
        let mut text = String::new();
        write(&mut text, &serde_json::from_str(&left).unwrap()).unwrap();
        assert!(
            text.contains("earlyoom runs as well: the kill is left to it"),
            "{text}"
        );
    }
}
