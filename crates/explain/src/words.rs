//! The story in sentences: who it was, and what to do.
use crate::growth::{Taker, Who};
use crate::verdict::Kind;
use crate::Story;
use serde::Serialize;
use units::format_bytes;

/// One sentence: who took the memory, and what came of it.
#[must_use]
pub fn headline(story: &Story) -> String {
    let verdict = &story.verdict;
    let came = came(story);
    match (verdict.kind, &verdict.culprit) {
        (Kind::CgroupLimit, culprit) => {
            let waited = verdict.waited.as_ref();
            let (name, limit) = waited.map_or(("a cgroup", 0.0), |one| {
                (one.name.as_str(), one.limit as f64)
            });
            let by = culprit.as_ref().map_or(String::new(), |taker| {
                format!(", mostly by {}", name_of(&taker.who))
            });
            format!(
                "{name} used all of its limit of {}{by}; the machine itself had memory left: {came}",
                format_bytes(limit)
            )
        }
        (Kind::HugePages, _) => format!(
            "{} lay unused in the pool of huge pages: {came}",
            format_bytes(verdict.in_it.hugetlb_free)
        ),
        (Kind::Fragmentation, _) => format!(
            "{} were free, but in pieces: {came}",
            format_bytes(verdict.in_it.free)
        ),
        (Kind::CacheThrash, culprit) => format!(
            "file pages were read from the disk again and again, {} of them a second{}: {came}",
            verdict.in_it.refault_file.round(),
            squeezed_by(culprit.as_ref())
        ),
        (Kind::SwapThrash, culprit) => format!(
            "programs use more memory than there is, and wait for swap{}: {came}",
            squeezed_by(culprit.as_ref())
        ),
        (_, Some(taker)) => format!("{}: {came}", took(taker)),
        (_, None) => format!("who took the memory cannot be told: {came}"),
    }
}

/// "firefox (4321) took 5.1 GiB in 48 s".
fn took(taker: &Taker) -> String {
    let time_s = (taker.peak_s - taker.since_s).max(1.0);
    format!(
        "{} took {} in {}",
        name_of(&taker.who),
        format_bytes(taker.grew() as f64),
        seconds(time_s)
    )
}

/// "firefox (4321)".
#[must_use]
pub fn name_of(who: &Who) -> String {
    match who {
        Who::Program {
            name, pid, seen, ..
        } if *seen > 1 => {
            format!("{name} ({pid} and {} more)", seen - 1)
        }
        Who::Program { name, pid, .. } => format!("{name} ({pid})"),
        Who::Crowd { name, count, .. } => format!("{count} processes called {name}"),
        Who::SharedFiles => "files in tmpfs or shared memory".into(),
        Who::Slab => "objects of the kernel (slab)".into(),
        Who::PageTables => "page tables".into(),
        Who::KernelStacks => "stacks of the kernel, of many threads".into(),
        Who::HugePages => "the pool of huge pages".into(),
        Who::Elsewhere => "memory that no counter names (zram, a driver)".into(),
    }
}

fn squeezed_by(culprit: Option<&Taker>) -> String {
    culprit.map_or(String::new(), |taker| {
        format!(
            "; most memory has {}, {}",
            name_of(&taker.who),
            format_bytes(taker.has as f64)
        )
    })
}

/// What came of it: "the machine stood still for 12 s, and 2 processes were killed".
fn came(story: &Story) -> String {
    let episode = &story.episode;
    let stood = match (episode.lost_s, episode.some_s) {
        (lost_s, _) if lost_s >= 1.0 => format!("all programs stood still for {}", seconds(lost_s)),
        (_, some_s) if some_s >= 1.0 => format!("programs waited for {}", seconds(some_s)),
        _ => "hardly any program waited".into(),
    };
    match episode.kills {
        0 => stood,
        1 => format!("{stood}, and a process was killed"),
        more => format!("{stood}, and {more} processes were killed"),
    }
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    pub text: String,
    /// For a shell; empty for none.
    pub command: String,
}

/// What to do, most useful first.
#[must_use]
pub fn advice(story: &Story) -> Vec<Advice> {
    let verdict = &story.verdict;
    let unit = verdict.culprit.as_ref().and_then(|taker| match &taker.who {
        Who::Program { unit, .. } => unit_of(unit),
        _ => None,
    });
    advice_for(verdict.kind, unit, verdict.in_it.swap > 0.0)
}

/// The unit of systemd at the end of a cgroup's path.
pub(crate) fn unit_of(cgroup: &str) -> Option<&str> {
    let last = cgroup.rsplit('/').next();
    // Users name cgroups as they like, and the name goes into a command: systemd.unit(5) has the letters of a unit's.
    let is_plain = |unit: &&str| {
        let mut letters = unit.chars();
        unit.contains('.') && letters.all(|c| c.is_ascii_alphanumeric() || "-_.:@\\".contains(c))
    };
    last.filter(is_plain)
}

/// `systemctl set-property` for a unit, to be copied into a shell. A unit's name may have a backslash.
pub(crate) fn limit_of(unit: &str) -> String {
    let quote = if unit.contains('\\') { "'" } else { "" };
    format!("systemctl set-property {quote}{unit}{quote} MemoryMax=SIZE")
}

/// What to do about a shortage of a kind. `unit`: who took the memory.
pub(crate) fn advice_for(kind: Kind, unit: Option<&str>, swap: bool) -> Vec<Advice> {
    let (text, command) = by_kind(kind, unit);
    let mut advice = vec![Advice {
        text: text.into(),
        command,
    }];
    let of_more = [Kind::Program, Kind::Crowd, Kind::CacheThrash];
    if !swap && of_more.contains(&kind) {
        advice.push(Advice {
            text: "The machine has no swap: zram of half of memory would give time".into(),
            command: String::new(),
        });
    }
    advice
}

fn by_kind(kind: Kind, unit: Option<&str>) -> (&'static str, String) {
    let text = match kind {
        Kind::CgroupLimit => "Raise its limit (MemoryMax=), or have it use less: more memory for the machine does not help",
        Kind::HugePages => "Make the pool smaller: memory in it can be used for nothing else",
        Kind::Fragmentation => "Turn huge pages off for what asks for them, or leave hotsetd's fragmentation module on",
        Kind::Kernel => "Find what the kernel keeps: a module, a mount with many files, a leak of sockets",
        Kind::SharedFiles => "Look into /dev/shm, /tmp and /run, where these lie in memory",
        Kind::Crowd => "Run fewer at once: a build's -j, a pool's workers; or limit their number (TasksMax=)",
        Kind::Program => "If it should not need as much, limit it",
        Kind::CacheThrash => "Keep a floor for the page cache (clean_min_ratio), or give the machine more memory",
        Kind::SwapThrash => "Close programs, or give the machine more memory; zram is faster than a disk",
        Kind::Unknown => "Let hotsetd run: its record names programs and cgroups",
    };
    let command = match (kind, unit) {
        (Kind::Program, Some(unit)) => limit_of(unit),
        (Kind::Program, None) => "systemd-run --scope -p MemoryMax=SIZE COMMAND".into(),
        (Kind::HugePages, _) => "sysctl vm.nr_hugepages=0".into(),
        (Kind::SharedFiles, _) => "df -t tmpfs".into(),
        (Kind::Kernel, _) => "slabtop".into(),
        _ => String::new(),
    };
    (text, command)
}

/// "48 s", "3 min 20 s".
#[must_use]
pub fn seconds(seconds: f64) -> String {
    match seconds {
        short if short < 9.95 => format!("{short:.1} s"),
        short if short < 99.5 => format!("{short:.0} s"),
        long => {
            let whole = long.round() as u64;
            format!("{} min {} s", whole / 60, whole % 60)
        }
    }
}

/// What the record cannot tell, a sentence each. `names_programs`: the record does. `torn`: records that were lost.
#[must_use]
pub fn unknown(story: &Story, names_programs: bool, torn: u64) -> Vec<String> {
    let mut unknown = Vec::new();
    match names_programs {
        true => unknown.push(
            "Programs that were never among the eight largest, and what they had between two counts: once a minute, \
             every two seconds in a shortage."
                .into(),
        ),
        false => unknown.push(
            "This recording names no programs and no cgroups: hotsetd's own record does.".into(),
        ),
    }
    if story.waiting.is_empty() {
        unknown.push("Which programs waited: the record names no cgroup that did.".into());
    }
    if story.foresight.is_none() {
        unknown.push("Whether it could be foreseen by other signs than what was left.".into());
    }
    let gap_s = story
        .points
        .iter()
        .map(|point| point.dt_s)
        .fold(0.0, f64::max);
    if gap_s > 90.0 {
        unknown.push(format!(
            "What went on in the longest gap between two records, {}.",
            seconds(gap_s)
        ));
    }
    if torn > 0 {
        unknown.push(format!(
            "What the lost records said: {torn} of the file could not be read."
        ));
    }
    unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cgroup_that_is_no_unit_gets_into_no_command() {
        assert_eq!(unit_of("/user.slice/app.scope"), Some("app.scope"));
        for name in [
            "/user.slice/a;reboot.scope",
            "/a/$(x).service",
            "/a b.scope",
            "/all",
            "",
        ] {
            assert_eq!(unit_of(name), None, "{name}");
        }
        let escaped = unit_of("/app.slice/app-a\\x2db.scope").unwrap();
        assert_eq!(
            limit_of(escaped),
            "systemctl set-property 'app-a\\x2db.scope' MemoryMax=SIZE"
        );
    }
}
