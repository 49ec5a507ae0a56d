//! A report while its lines come in.
mod machine;
mod table;

use super::fields::{after, digits, number, process, word};
use super::report::{Constraint, Missing, Report, Slab, Victim};
use super::stamp::At;
use machine::Machine;
use table::Table;

/// Kinds of kernel objects that are kept.
const SLABS: usize = 8;
/// KiB of a page, where nothing tells.
const PAGE_KIB: u64 = 4;

/// What follows a line, until another begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Part {
    #[default]
    Other,
    Slabs,
    Cgroup,
}

#[derive(Debug, Default)]
pub(super) struct Draft {
    report: Report,
    /// Whether the first line was seen.
    begun: bool,
    machine: Machine,
    table: Table,
    part: Part,
    /// pid, and KiB of its address space.
    spaces: Vec<(i32, u64)>,
    /// The process that the kernel has chosen.
    chosen: Victim,
    group: bool,
}

impl Draft {
    /// A report whose first line is this, or that begins in the middle.
    pub fn new(at: At, kernel: &str, first: Option<&str>) -> Draft {
        let mut draft = Draft::default();
        draft.report.at = at;
        draft.report.kernel = kernel.into();
        if let Some(first) = first {
            draft.begun = true;
            let asked = first.split(" invoked oom-killer").next();
            draft.report.asked = asked.unwrap_or_default().into();
            let order = number(first, "order").and_then(|order| u32::try_from(order).ok());
            draft.report.order = order.unwrap_or(0).min(32);
        }
        draft
    }

    /// Whether another kill is another report.
    pub fn is_done(&self) -> bool {
        !self.report.victims.is_empty() && !self.group
    }

    pub fn has_victim(&self) -> bool {
        !self.report.victims.is_empty()
    }

    /// Takes a line; whether it belongs to such a report.
    pub fn take(&mut self, at: At, text: &str) -> bool {
        let known = self.read(text);
        if known && !self.begun {
            self.report.at = at;
        }
        known
    }

    fn read(&mut self, text: &str) -> bool {
        if self.table.take(text) {
            self.part = Part::Other;
            return true;
        }
        let known = self.machine.take(text)
            || self.swap_and_kernel(text)
            || self.limit(text)
            || self.end(text);
        if known {
            self.part = Part::Other;
            return true;
        }
        self.section(text)
    }

    fn swap_and_kernel(&mut self, text: &str) -> bool {
        if let Some(kib) = after(text, "Free swap ") {
            self.report.swap.get_or_insert_default().free = kib.saturating_mul(1024);
        } else if let Some(kib) = after(text, "Total swap ") {
            self.report.swap.get_or_insert_default().total = kib.saturating_mul(1024);
        } else if let Some((_, rest)) = text.split_once("Comm: ") {
            // `Comm: hog Not tainted 7.3.4 #1`, `Tainted: G W 6.1.0 #1`.
            let words = rest.split(" #").next().unwrap_or_default();
            let release = words.rsplit(' ').find(|word| word.contains('.'));
            if let Some(release) = release.filter(|_| rest.contains(" #")) {
                self.report.kernel = release.into();
            }
        } else {
            return false;
        }
        true
    }

    /// Lines of a cgroup at its limit.
    fn limit(&mut self, text: &str) -> bool {
        if let Some(rest) = text.strip_prefix("memory: usage ") {
            self.report.constraint = Constraint::Cgroup;
            let limit = self.report.limit.get_or_insert_default();
            limit.usage = digits(rest).unwrap_or(0).saturating_mul(1024);
            limit.limit = after(rest, "limit ").unwrap_or(0).saturating_mul(1024);
            return true;
        }
        if let Some((_, name)) = text.split_once(" killed as a result of limit of ") {
            self.report.constraint = Constraint::Cgroup;
            self.report.limit.get_or_insert_default().name = name.trim().into();
            return true;
        }
        if text.starts_with("Tasks in ") && text.contains("memory.oom.group") {
            self.group = true;
            return true;
        }
        false
    }

    /// Lines of the decision.
    fn end(&mut self, text: &str) -> bool {
        if text.starts_with("oom-kill:constraint=") {
            self.decision(text);
        } else if let Some((before, rest)) = text.split_once("Killed process ") {
            let Some((pid, name, facts)) = process(rest) else {
                self.report.strange += 1;
                return true;
            };
            if before.starts_with("Memory cgroup") {
                self.report.constraint = Constraint::Cgroup;
            }
            let kib = |name: &str| number(facts, name).unwrap_or(0);
            let kinds = ["anon-rss", "file-rss", "shmem-rss"];
            let sum = kinds
                .iter()
                .fold(0, |sum: u64, kind| sum.saturating_add(kib(kind)));
            self.spaces.push((pid, kib("total-vm")));
            self.report.victims.push(Victim {
                pid,
                name,
                bytes: sum.saturating_mul(1024),
                cgroup: String::new(),
            });
        } else if text.starts_with("Kernel panic") && text.contains("emory") {
            self.report.panicked = true;
        } else {
            return false;
        }
        true
    }

    fn decision(&mut self, text: &str) {
        self.report.constraint = match word(text, "oom-kill:constraint").unwrap_or_default() {
            "CONSTRAINT_MEMCG" => Constraint::Cgroup,
            "CONSTRAINT_CPUSET" | "CONSTRAINT_MEMORY_POLICY" => Constraint::Nodes,
            _ => Constraint::Machine,
        };
        if let Some(name) = word(text, "oom_memcg") {
            self.report.limit.get_or_insert_default().name = name.into();
        }
        let pid = number(text, "pid").and_then(|pid| i32::try_from(pid).ok());
        self.chosen = Victim {
            pid: pid.unwrap_or(0),
            name: word(text, "task").unwrap_or_default().into(),
            bytes: 0,
            cgroup: word(text, "task_memcg").unwrap_or_default().into(),
        };
    }

    /// Lines that mean something after a heading alone.
    fn section(&mut self, text: &str) -> bool {
        if text.starts_with("Unreclaimable slab info") {
            self.part = Part::Slabs;
            return true;
        }
        if let Some((_, rest)) = text.split_once("Memory cgroup stats for ") {
            self.part = Part::Cgroup;
            // 4.18 has all on this line.
            let kib = |name: &str| number(rest, name).map(|kib| kib.saturating_mul(1024));
            let limit = self.report.limit.get_or_insert_default();
            limit.anon = kib("rss").unwrap_or(limit.anon);
            limit.shmem = kib("shmem").unwrap_or(limit.shmem);
            return true;
        }
        let mut words = text.split_whitespace();
        let (Some(name), Some(value)) = (words.next(), words.next()) else {
            return false;
        };
        match (self.part, words.next(), digits(value)) {
            (Part::Slabs, Some(total), Some(_)) if total.ends_with("KB") => {
                let bytes = digits(total).unwrap_or(0).saturating_mul(1024);
                let name = name.to_string();
                self.report.slabs.push(Slab { name, bytes });
            }
            (Part::Cgroup, None, Some(bytes)) => {
                let limit = self.report.limit.get_or_insert_default();
                match name {
                    "anon" => limit.anon = bytes,
                    "shmem" => limit.shmem = bytes,
                    "slab_unreclaimable" => limit.slab = bytes,
                    _ => {}
                }
            }
            _ => return false,
        }
        true
    }

    /// The report. `None`: there is nothing in it.
    pub fn close(mut self) -> Option<Report> {
        let lone = !self.begun && self.table.is_empty() && self.machine.is_empty();
        let dead = !self.report.victims.is_empty() || self.chosen.pid != 0;
        // A failed allocation has counters of the machine, too, and kills nobody.
        if !self.begun && self.table.is_empty() && !dead {
            return None;
        }
        let page = self.page_kib() << 10;
        self.report.memory = self.machine.memory(page);
        if self.report.victims.is_empty() && self.chosen.pid != 0 {
            self.report.victims.push(self.chosen.clone());
        }
        self.missing(lone);
        self.report.strange += self.table.strange;
        self.report.tasks = self.table.close(page);
        let slabs = &mut self.report.slabs;
        slabs.sort_by_key(|slab| std::cmp::Reverse(slab.bytes));
        slabs.truncate(SLABS);
        let chosen = self.chosen;
        for victim in &mut self.report.victims {
            if victim.pid == chosen.pid {
                victim.cgroup.clone_from(&chosen.cgroup);
            }
        }
        if self.report.constraint != Constraint::Cgroup {
            self.report.limit = None;
        }
        Some(self.report)
    }

    fn missing(&mut self, lone: bool) {
        let missing = &mut self.report.missing;
        if lone && !self.report.victims.is_empty() {
            missing.push(Missing::Report);
            return;
        }
        let of_cgroup = self.report.constraint == Constraint::Cgroup;
        let parts = [
            (!self.begun, Missing::Begin),
            // A cgroup's report has no counters of the machine.
            (self.report.memory.is_none() && !of_cgroup, Missing::Memory),
            (self.table.is_empty(), Missing::Tasks),
            (
                self.report.victims.is_empty() && !self.report.panicked,
                Missing::End,
            ),
        ];
        let missed = parts.into_iter().filter(|(is, _)| *is);
        missing.extend(missed.map(|(_, part)| part));
    }

    /// KiB of a page: what is told in KiB, by what is told in pages.
    fn page_kib(&self) -> u64 {
        let by_space = self.spaces.iter().find_map(|(pid, kib)| {
            let pages = self.table.total_vm(*pid).filter(|pages| *pages > 0)?;
            Some(kib / pages)
        });
        let about = by_space.or(self.machine.page_kib()).unwrap_or(PAGE_KIB);
        let sizes = [4, 8, 16, 32, 64];
        // Counters are read one after the other, and differ a little.
        let near = sizes
            .into_iter()
            .min_by_key(|size: &u64| size.abs_diff(about));
        near.unwrap_or(PAGE_KIB)
    }
}
