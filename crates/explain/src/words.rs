//! The story in sentences: who it was, and what to do.
use crate::growth::{Taker, Who};
use crate::verdict::Kind;
use crate::Story;
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

/// What to do, most useful first.
#[must_use]
pub fn advice(story: &Story) -> Vec<String> {
    let verdict = &story.verdict;
    let mut advice = Vec::new();
    let unit = verdict.culprit.as_ref().and_then(|taker| match &taker.who {
        Who::Program { unit, .. } => unit.rsplit('/').next().filter(|unit| unit.contains('.')),
        _ => None,
    });
    match verdict.kind {
        Kind::CgroupLimit => advice.push("raise its limit (MemoryMax=), or have it use less: more memory for the machine does not help".into()),
        Kind::HugePages => advice.push("make the pool smaller: sysctl vm.nr_hugepages; memory in it can be used for nothing else".into()),
        Kind::Fragmentation => advice.push("turn huge pages off for what asks for them (transparent_hugepage), or keep hotsetd's fragmentation module on".into()),
        Kind::Kernel => advice.push("find what the kernel keeps with slabtop; a module, a mount with many files or a leak of sockets".into()),
        Kind::SharedFiles => advice.push("look into /dev/shm, /tmp and /run, where these are tmpfs: df -t tmpfs".into()),
        Kind::Crowd => advice.push("run fewer at once: a build's -j, a pool's workers; or limit their number (TasksMax=)".into()),
        Kind::Program => match unit {
            Some(unit) => advice.push(format!(
                "if it should not need as much, limit it: systemctl set-property {unit} MemoryMax=SIZE"
            )),
            None => advice.push("if it should not need as much, limit it: systemd-run --scope -p MemoryMax=SIZE COMMAND".into()),
        },
        Kind::CacheThrash => advice.push("keep the page cache a floor: clean_min_ratio of hotsetd, or the kernel's series; or give the machine more memory".into()),
        Kind::SwapThrash => advice.push("close programs, or give the machine more memory; zram is faster than a disk".into()),
        Kind::Unknown => advice.push("let hotsetd's recorder run: it names programs and cgroups".into()),
    }
    if verdict.in_it.swap == 0.0
        && matches!(
            verdict.kind,
            Kind::Program | Kind::Crowd | Kind::CacheThrash
        )
    {
        advice.push("the machine has no swap: zram of half of memory would give time".into());
    }
    advice
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
