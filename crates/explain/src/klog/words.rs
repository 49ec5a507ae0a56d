//! What a log says, in sentences.
use super::incident::Incident;
use super::judge::{judge, Finding};
use super::report::{Constraint, Missing, Report, Victim};
use crate::growth::Who;
use crate::verdict::Kind;
use crate::words::{advice_for, limit_of, name_of, unit_of, Advice};
use units::{counted, format_bytes};

/// One sentence: who had the memory, and what came of it.
#[must_use]
pub fn headline(incident: &Incident) -> String {
    let Some(report) = incident.fullest() else {
        return without_report(incident);
    };
    let finding = judge(report);
    let came = came(incident, report, &finding);
    match (finding.kind, &finding.culprit, &report.memory) {
        (Kind::CgroupLimit, culprit, _) => {
            let limit = report.limit.as_ref();
            let name = limit.map_or("", |limit| limit.name.as_str());
            let name = if name.is_empty() { "a cgroup" } else { name };
            let of = match finding.whole {
                0 => String::new(),
                bytes => format!(" of {}", format_bytes(bytes as f64)),
            };
            let by = culprit.as_ref().map_or(String::new(), |holder| {
                // Swap does not count against the limit.
                let bytes = holder.bytes.saturating_sub(holder.swapped);
                let bytes = format_bytes(bytes as f64);
                format!(", and {} had {bytes} of it", name_of(&holder.who))
            });
            format!("{name} used all of its limit{of}{by}: {came}")
        }
        (Kind::HugePages, _, Some(memory)) => format!(
            "{} lay unused in the pool of huge pages: {came}",
            format_bytes(memory.hugetlb_free as f64)
        ),
        (Kind::Fragmentation, _, Some(memory)) => format!(
            "{} were free, but in pieces: {came}",
            format_bytes(memory.free as f64)
        ),
        (_, Some(holder), _) => {
            let bytes = format_bytes(holder.bytes as f64);
            let whole = match finding.whole {
                0 => String::new(),
                whole => format!(" of {} of memory and swap", format_bytes(whole as f64)),
            };
            format!("{} had {bytes}{whole}: {came}", name_of(&holder.who))
        }
        (_, None, Some(_)) if report.tasks.count > 0 => format!(
            "{} had {} together, and none stands out: {came}",
            programs(report.tasks.count),
            format_bytes(report.tasks.bytes as f64)
        ),
        _ => format!("memory ran out, and the log does not say who had it: {came}"),
    }
}

fn programs(count: u64) -> String {
    match count {
        1 => "one process".into(),
        many => format!("{many} processes"),
    }
}

/// Kills by programs alone, or tasks that hang.
fn without_report(incident: &Incident) -> String {
    if let Some(kill) = incident.by_programs.first() {
        let whom = match kill.pid {
            0 => kill.whom.clone(),
            pid => format!("{} ({pid})", kill.whom),
        };
        let had = match kill.bytes {
            0 => String::new(),
            bytes => format!(", which had {}", format_bytes(bytes as f64)),
        };
        let more = match incident.kills {
            0 | 1 => String::new(),
            kills => format!(", and {} more", kills - 1),
        };
        return format!("{} ended {whom}{had}{more}", kill.by);
    }
    let longest = incident.hung.iter().max_by_key(|hung| hung.seconds);
    longest.map_or("nothing happened".into(), |hung| {
        let more = match names(incident) {
            0 | 1 => String::new(),
            tasks => format!(", and {} more tasks waited as well", tasks - 1),
        };
        format!(
            "{} ({}) stood still for more than {} s{more}: the log does not say whether for memory",
            hung.name, hung.pid, hung.seconds
        )
    })
}

/// Tasks that hang, each once.
fn names(incident: &Incident) -> usize {
    let mut pids: Vec<i32> = incident.hung.iter().map(|hung| hung.pid).collect();
    pids.sort_unstable();
    pids.dedup();
    pids.len()
}

/// Who was killed.
fn came(incident: &Incident, report: &Report, finding: &Finding) -> String {
    let Some(victim) = report.victims.first() else {
        return match report.panicked {
            true => "the kernel stopped, since nobody could be killed".into(),
            false => "the log does not say who was killed".into(),
        };
    };
    let more = incident.kills.saturating_sub(1);
    let is_it = finding.culprit.as_ref().is_some_and(
        |holder| matches!(&holder.who, Who::Program { pid, .. } if *pid == victim.pid),
    );
    match (is_it, more) {
        (true, 0) => "it was killed".into(),
        (true, 1) => "it and another process were killed".into(),
        (true, more) => format!("it and {more} more were killed"),
        (false, 0) => format!("{} was killed", told(victim)),
        (false, 1) => format!("{} and another process were killed", told(victim)),
        (false, more) => format!("{} and {more} more were killed", told(victim)),
    }
}

fn told(victim: &Victim) -> String {
    format!("{} ({})", victim.name, victim.pid)
}

/// What to do, most useful first.
#[must_use]
pub fn advice(incident: &Incident) -> Vec<Advice> {
    let one = |text: &str, command: &str| {
        vec![Advice {
            text: text.into(),
            command: command.into(),
        }]
    };
    let Some(report) = incident.fullest() else {
        return match incident.by_programs.first().map(|kill| kill.by.as_str()) {
            Some("systemd-oomd") => one(
                "It ends a cgroup that waits for memory; its limits",
                "oomctl",
            ),
            Some("hotsetd") => one("Its record says more", "sudo hotset explain"),
            Some(_) => one("It ends the largest program; look why memory was short", ""),
            None => one(
                "The log has a stack of each such task: it says what the task waited for",
                "",
            ),
        };
    };
    let finding = judge(report);
    let cgroup = match (&report.limit, &finding.culprit) {
        (Some(limit), _) => limit.name.as_str(),
        (None, Some(holder)) => match &holder.who {
            Who::Program { unit, .. } => unit.as_str(),
            _ => "",
        },
        (None, None) => "",
    };
    let swap = report.swap.is_none_or(|swap| swap.total > 0);
    let mut advice = advice_for(finding.kind, unit_of(cgroup), swap);
    let unit = unit_of(cgroup).filter(|_| finding.kind == Kind::CgroupLimit);
    if let (Some(unit), Some(first)) = (unit, advice.first_mut()) {
        first.command = limit_of(unit);
    }
    advice
}

/// What is known of a report, a sentence each.
#[must_use]
pub fn facts(report: &Report) -> Vec<String> {
    let mut facts = Vec::new();
    if !report.asked.is_empty() {
        let asked = match report.order {
            0 => "a page".into(),
            order => format!("{} pages in one piece", 1_u64 << order.min(32)),
        };
        let of = match (report.constraint, &report.limit) {
            (Constraint::Cgroup, Some(limit)) => format!(" below the limit of {}", limit.name),
            (Constraint::Nodes, _) => " on the nodes that it may use".into(),
            _ => String::new(),
        };
        facts.push(format!(
            "{} asked for {asked}, and there was none{of}.",
            report.asked
        ));
    }
    for victim in &report.victims {
        let of = match victim.cgroup.as_str() {
            "" | "/" => String::new(),
            cgroup => format!(", of {cgroup}"),
        };
        let with = match victim.bytes {
            0 => String::new(),
            bytes => format!(", with {} in memory", format_bytes(bytes as f64)),
        };
        facts.push(format!("{} was killed{with}{of}.", told(victim)));
    }
    match report.swap {
        Some(swap) if swap.total == 0 => facts.push("The machine had no swap.".into()),
        Some(_) if judge(report).swap_full => facts.push("Swap was full.".into()),
        Some(swap) => facts.push(format!(
            "{} of {} of swap were free.",
            format_bytes(swap.free as f64),
            format_bytes(swap.total as f64)
        )),
        None => {}
    }
    if let Some(slab) = report.slabs.first() {
        let bytes = format_bytes(slab.bytes as f64);
        facts.push(format!(
            "Most of the kernel's own objects: {}, {bytes}.",
            slab.name
        ));
    }
    if !report.kernel.is_empty() {
        facts.push(format!("Kernel {}.", report.kernel));
    }
    facts
}

/// Where the machine's memory was: each part with its bytes, most first.
#[must_use]
pub fn places(report: &Report) -> Vec<(&'static str, u64)> {
    let Some(memory) = &report.memory else {
        return Vec::new();
    };
    let mut places = vec![
        ("programs", memory.anon),
        ("locked, cannot be reclaimed", memory.unevictable),
        ("file pages", memory.file),
        ("tmpfs and shared memory", memory.shmem),
        (
            "kernel objects",
            memory.slab.saturating_add(memory.slab_reclaimable),
        ),
        ("page tables", memory.page_tables),
        ("stacks of the kernel", memory.kernel_stack),
        ("pool of huge pages", memory.hugetlb),
        ("what no counter names", memory.elsewhere),
        ("free", memory.free),
    ];
    places.retain(|(_, bytes)| *bytes > 0);
    places.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    places
}

/// What such a log cannot tell, a sentence each. `lost`: messages that it says it has lost.
#[must_use]
pub fn unknown(incident: &Incident, lost: u64) -> Vec<String> {
    let mut unknown: Vec<String> = [
        "Since when memory grew, and how fast.",
        "How long programs waited, and which of them.",
        "Whether it could be foreseen.",
    ]
    .map(String::from)
    .into();
    let Some(report) = incident.fullest() else {
        unknown.push("Who had memory: there is no report of the kernel's OOM killer.".into());
        return unknown;
    };
    if report.constraint == Constraint::Cgroup {
        unknown.push("Whether the machine itself had memory left.".into());
    }
    if report.tasks.count > 0 && !report.tasks.split {
        unknown
            .push("How much of a program's memory others share: this kernel does not say.".into());
    }
    unknown.extend(
        report
            .missing
            .iter()
            .map(|missing| lacking(*missing).into()),
    );
    let strange: u64 = incident.reports.iter().map(|one| one.strange).sum();
    if strange > 0 {
        let lines = counted(strange, "line");
        unknown.push(format!(
            "What {lines} of the report said: cut off, or mixed with others."
        ));
    }
    let bare = |report: &&Report| report.missing.contains(&Missing::Report);
    let bare = incident.reports.iter().filter(bare).count() as u64;
    if bare > 0 && !report.missing.contains(&Missing::Report) {
        let kills = match bare {
            1 => "A kill has its last line alone".to_string(),
            more => format!("{more} kills have their last line alone"),
        };
        unknown.push(format!(
            "{kills}: the kernel writes ten reports in five seconds at most."
        ));
    }
    if lost > 0 {
        let messages = counted(lost, "message");
        unknown.push(format!(
            "What {messages} said: the log says that they were lost."
        ));
    }
    unknown
}

fn lacking(missing: Missing) -> &'static str {
    match missing {
        Missing::Begin => "What stood before: the log begins in the middle of the report.",
        Missing::End => "Who was killed: the report has no end. The log was cut off, or messages were lost.",
        Missing::Memory => "Where the machine's memory was: the report lacks these lines.",
        Missing::Tasks => "Which programs there were: the report has no table of them (vm.oom_dump_tasks).",
        Missing::Report => {
            "Anything but who was killed: the kernel writes ten reports in five seconds at most, and the line of the kill."
        }
    }
}
