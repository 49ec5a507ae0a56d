//! Kills by programs, and tasks that hang, as the log tells of them.
use super::fields::{digits, number};
use super::stamp::At;
use serde::Serialize;

/// A kill by a program that watches over memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Kill {
    pub at: At,
    /// The program that killed.
    pub by: String,
    /// The process, or the cgroup.
    pub whom: String,
    /// 0 for a cgroup.
    pub pid: i32,
    /// Bytes that it had; 0 where the log does not say.
    pub bytes: u64,
    pub why: String,
}

/// A task that did nothing for a long time, in the kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Hung {
    pub at: At,
    pub name: String,
    pub pid: i32,
    pub seconds: u64,
}

/// Programs whose lines are read.
pub const KILLERS: [&str; 3] = ["systemd-oomd", "earlyoom", "hotsetd"];

/// A kill in a line of a program.
pub(super) fn kill(at: At, program: &str, text: &str) -> Option<Kill> {
    let found = match program {
        "systemd-oomd" => by_oomd(text),
        "earlyoom" => by_earlyoom(text),
        "hotsetd" => by_hotsetd(text),
        _ => None,
    };
    found.map(|kill| Kill {
        at,
        by: program.into(),
        ..kill
    })
}

/// `Killed /user.slice/app.scope due to memory pressure for ...`.
fn by_oomd(text: &str) -> Option<Kill> {
    let (whom, why) = text.strip_prefix("Killed ")?.split_once(" due to ")?;
    Some(Kill {
        whom: whom.into(),
        why: why.into(),
        ..Kill::default()
    })
}

/// `sending SIGTERM to process 1234 uid 1000 "firefox": oom_score 800, VmRSS 3000 MiB, ...`.
fn by_earlyoom(text: &str) -> Option<Kill> {
    let (signal, rest) = text.strip_prefix("sending ")?.split_once(" to process ")?;
    let (before, rest) = rest.split_once('"')?;
    let (whom, facts) = rest.split_once("\":").or(rest.split_once('"'))?;
    let mib = facts
        .split_once("VmRSS ")
        .and_then(|(_, rest)| digits(rest));
    Some(Kill {
        whom: whom.into(),
        pid: i32::try_from(digits(before)?).ok()?,
        bytes: mib.unwrap_or(0).saturating_mul(1 << 20),
        why: format!("memory was below its limit, it sent {signal}"),
        ..Kill::default()
    })
}

/// `protect: killed leaky (700), uid 0, 404 MiB in 1 processes, score 1 MiB, in 90 us: swap is full, and ...`.
fn by_hotsetd(text: &str) -> Option<Kill> {
    let begins = ["killed ", "asked to end "];
    let text = text.strip_prefix("protect: ").unwrap_or(text);
    let rest = begins.iter().find_map(|begin| text.strip_prefix(begin))?;
    let (process, facts) = rest.split_once("), ")?;
    let (whom, pid) = process.rsplit_once(" (")?;
    let mib = facts.split(", ").find_map(|fact| {
        let (mib, _) = fact.split_once(" MiB in ")?;
        digits(mib)
    });
    Some(Kill {
        whom: whom.into(),
        pid: i32::try_from(digits(pid)?).ok()?,
        bytes: mib.unwrap_or(0).saturating_mul(1 << 20),
        why: facts.split_once(": ").map_or("", |(_, why)| why).into(),
        ..Kill::default()
    })
}

/// `INFO: task sync:123 blocked for more than 122 seconds.`.
pub(super) fn hung(at: At, text: &str) -> Option<Hung> {
    let (_, rest) = text.split_once("task ")?;
    let (task, facts) = rest.split_once(" blocked ")?;
    let (_, facts) = facts.split_once("for more than ")?;
    let (name, pid) = task.rsplit_once(':')?;
    Some(Hung {
        at,
        name: name.into(),
        pid: i32::try_from(digits(pid)?).ok()?,
        seconds: digits(facts)?,
    })
}

/// Messages that the log says it has lost.
pub(super) fn lost(text: &str) -> u64 {
    let before = |end: &str| {
        let (count, _) = text.split_once(end)?;
        digits(count.rsplit(' ').next()?)
    };
    let found = before(" printk messages dropped")
        .or(before(" callbacks suppressed"))
        .or(before(" kernel messages").filter(|_| text.starts_with("Missed ")))
        .or(number(text, "printk: dropped"));
    found.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_killer_has_its_words() {
        let at = At::default();
        let found = |program, text| kill(at, program, text).unwrap();
        let one = found(
            "systemd-oomd",
            "Killed /user.slice/a.scope due to memory pressure for /user.slice being 65% > 50%",
        );
        assert_eq!((one.whom.as_str(), one.pid), ("/user.slice/a.scope", 0));
        let one = found(
            "earlyoom",
            "sending SIGTERM to process 1234 uid 1000 \"Web Content\": oom_score 800, VmRSS 3000 MiB, cmdline \"x\"",
        );
        assert_eq!((one.whom.as_str(), one.pid), ("Web Content", 1234));
        assert_eq!(one.bytes, 3000 << 20);
        let one = found(
            "hotsetd",
            "protect: killed leaky (700), uid 0, 404 MiB in 1 processes, score 1 MiB, in 90 us: swap is full",
        );
        assert_eq!(
            (one.whom.as_str(), one.pid, one.bytes),
            ("leaky", 700, 404 << 20)
        );
        assert_eq!(one.why, "swap is full");
        assert_eq!(kill(at, "sshd", "Killed /a due to x"), None);
    }

    #[test]
    fn hung_tasks_and_lost_messages() {
        let text = "INFO: task kworker/u8:2:123 blocked for more than 122 seconds.";
        let hung = hung(At::default(), text).unwrap();
        assert_eq!(
            (hung.name.as_str(), hung.pid, hung.seconds),
            ("kworker/u8:2", 123, 122)
        );
        assert_eq!(lost("** 17 printk messages dropped **"), 17);
        assert_eq!(lost("Missed 12 kernel messages"), 12);
        assert_eq!(lost("oom_kill_process: 3 callbacks suppressed"), 3);
        assert_eq!(lost("a line"), 0);
    }
}
