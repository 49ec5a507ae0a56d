//! What else runs on the machine, and may disturb the trial.
use kernfs::Root;
use std::collections::HashMap;
use std::time::Duration;

/// Programs that act on memory by themselves, as the kernel cuts their names to 15 bytes.
const ACTORS: [&str; 8] = [
    "hotsetd",
    "systemd-oomd",
    "earlyoom",
    "nohang",
    "oomd",
    "low-memory-moni",
    "uresourced",
    "prelockd",
];
/// The share of a CPU from which a program is named.
const BUSY: f64 = 0.1;
/// The time over which CPU is measured.
const LOOK: Duration = Duration::from_secs(1);

/// CPU of a process so far, in ticks.
struct Seen {
    name: String,
    ticks: u64,
}

/// Sentences on what else runs, after a look of a second.
pub fn warnings(root: &Root, cpus: u32) -> Vec<String> {
    warnings_after(LOOK, root, cpus)
}

fn warnings_after(look: Duration, root: &Root, cpus: u32) -> Vec<String> {
    let before = processes(root);
    std::thread::sleep(look);
    let after = processes(root);
    // Linux counts in hundredths of a second for programs, whatever the kernel's own tick is.
    let share = |(pid, now): (&i32, &Seen)| {
        let then = before.get(pid)?;
        let spent = now.ticks.saturating_sub(then.ticks) as f64 / 100.0;
        let share = spent / look.as_secs_f64();
        (share >= BUSY).then(|| (now.name.clone(), share))
    };
    let mut busy: Vec<(String, f64)> = after.iter().filter_map(share).collect();
    busy.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut said = Vec::new();
    if !busy.is_empty() {
        let named = busy.iter().take(4);
        let named = named.map(|(name, share)| format!("{name} {:.0}%", share * 100.0));
        let named: Vec<String> = named.collect();
        said.push(format!("other programs use a CPU: {}", named.join(", ")));
    }
    let load = load(root);
    if load > 0.5 * f64::from(cpus.max(1)) {
        said.push(format!("the load average is {load:.1} on {cpus} CPUs"));
    }
    let mut actors: Vec<&str> = { after.values() }
        .filter_map(|seen| ACTORS.into_iter().find(|actor| *actor == seen.name))
        .collect();
    actors.sort_unstable();
    actors.dedup();
    if !actors.is_empty() {
        let (names, verb) = (
            actors.join(", "),
            if actors.len() == 1 { "acts" } else { "act" },
        );
        said.push(format!("{names} {verb} on memory under both settings"));
    }
    said
}

fn load(root: &Root) -> f64 {
    let text = std::fs::read_to_string(root.path("/proc/loadavg")).unwrap_or_default();
    let first = text.split_whitespace().next();
    first.and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

/// All processes but this one.
fn processes(root: &Root) -> HashMap<i32, Seen> {
    let own = std::process::id() as i32;
    let entries = std::fs::read_dir(root.path("/proc")).into_iter().flatten();
    let found = entries.flatten().filter_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        (pid != own).then_some((pid, seen(&stat)?))
    });
    found.collect()
}

/// `PID (NAME) STATE ...`: the name may have any characters, so its end is the last parenthesis. User and system time
/// are the fields 14 and 15.
fn seen(stat: &str) -> Option<Seen> {
    let (start, rest) = stat.rsplit_once(')')?;
    let (_, name) = start.split_once('(')?;
    let mut fields = rest.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Seen {
        name: name.into(),
        ticks: user + system,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_parentheses_and_spaces_are_read() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 2 3 4 120 30 0 0 20 0 1 0 5";
        let found = seen(stat).unwrap();
        assert_eq!((found.name.as_str(), found.ticks), ("a) b (c)", 150));
    }

    #[test]
    fn a_killer_and_a_load_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("proc/loadavg", "3.20 1.0 1.0 1/2 3\n");
        put(
            "proc/412/stat",
            "412 (earlyoom) S 1 0 0 0 0 0 0 0 0 0 1 1 0\n",
        );
        let said = warnings_after(Duration::from_millis(1), &Root::new(dir.path()), 2).join("; ");
        assert!(said.contains("earlyoom acts on memory"), "{said}");
        assert!(said.contains("3.2 on 2 CPUs"), "{said}");
        let none = tempfile::tempdir().unwrap();
        assert!(warnings_after(Duration::from_millis(1), &Root::new(none.path()), 2).is_empty());
    }
}
