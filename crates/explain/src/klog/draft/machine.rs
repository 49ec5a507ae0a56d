//! The machine's memory in a report: the lines below `Mem-Info:`.
use super::super::fields::{digits, number};
use super::super::report::Memory;
use std::collections::BTreeMap;

/// Counters of the machine, in pages.
const COUNTERS: [&str; 17] = [
    "active_anon",
    "inactive_anon",
    "isolated_anon",
    "active_file",
    "inactive_file",
    "isolated_file",
    "unevictable",
    "slab_reclaimable",
    "slab_unreclaimable",
    "kernel_misc_reclaimable",
    "mapped",
    "shmem",
    "pagetables",
    "sec_pagetables",
    "free",
    "free_pcp",
    "bounce",
];

/// The counters so far.
#[derive(Debug, Default)]
pub(super) struct Machine {
    counters: BTreeMap<&'static str, u64>,
    ram_pages: u64,
    reserved_pages: u64,
    /// KiB, of all nodes or zones.
    node_anon: u64,
    kernel_stack: u64,
    high: u64,
    largest_piece: u64,
    hugetlb: u64,
    hugetlb_free: u64,
}

impl Machine {
    /// Takes a line; whether it was one of these.
    pub fn take(&mut self, text: &str) -> bool {
        self.counters(text) || self.places(text) || self.pages(text)
    }

    pub fn is_empty(&self) -> bool {
        self.counters.is_empty()
    }

    fn counters(&mut self, text: &str) -> bool {
        let first = text.split(':').next().unwrap_or_default();
        // A node's line begins with its number.
        if !COUNTERS.contains(&first) || text.contains("kB") {
            return false;
        }
        for name in COUNTERS {
            if let Some(pages) = number(text, name) {
                self.counters.insert(name, pages);
            }
        }
        true
    }

    /// Lines of nodes and zones.
    fn places(&mut self, text: &str) -> bool {
        if text.contains(" hugepages_total=") || text.starts_with("hugepages_total=") {
            let of = |name: &str| number(text, name).unwrap_or(0);
            let size = of("hugepages_size");
            let kib = |count: u64| count.saturating_mul(size);
            self.hugetlb = self.hugetlb.saturating_add(kib(of("hugepages_total")));
            self.hugetlb_free = self.hugetlb_free.saturating_add(kib(of("hugepages_free")));
            return true;
        }
        if let Some(high) = number(text, "high").filter(|_| text.contains(" min:")) {
            self.high = self.high.saturating_add(high);
            return true;
        }
        if text.starts_with("Node ") && text.contains(" active_anon:") {
            let kib = |name: &str| number(text, name).unwrap_or(0);
            let anon = kib("active_anon").saturating_add(kib("inactive_anon"));
            self.node_anon = self.node_anon.saturating_add(anon);
            self.kernel_stack = self.kernel_stack.saturating_add(kib("kernel_stack"));
            return true;
        }
        if text.contains("*4kB") && text.contains(" = ") {
            let pieces = text.split(' ').filter_map(|word| word.split_once('*'));
            let there = pieces.filter(|(count, _)| digits(count).is_some_and(|count| count > 0));
            let largest = there.filter_map(|(_, size)| digits(size)).max();
            self.largest_piece = self.largest_piece.max(largest.unwrap_or(0));
            return true;
        }
        false
    }

    /// Pages of the whole machine.
    fn pages(&mut self, text: &str) -> bool {
        if text.ends_with(" pages RAM") {
            self.ram_pages = digits(text).unwrap_or(0);
        } else if text.ends_with(" pages reserved") {
            self.reserved_pages = digits(text).unwrap_or(0);
        } else {
            return false;
        }
        true
    }

    /// KiB of a page: what a node has in KiB, by what the counters have in pages. `None`: nothing tells.
    pub fn page_kib(&self) -> Option<u64> {
        let pages = |name| self.counters.get(name).copied().unwrap_or(0);
        let anon: u64 = pages("active_anon").saturating_add(pages("inactive_anon"));
        self.node_anon.checked_div(anon).filter(|kib| *kib > 0)
    }

    /// Where the memory was. `page`: bytes. `None`: no counter was seen.
    pub fn memory(&self, page: u64) -> Option<Memory> {
        if self.counters.is_empty() {
            return None;
        }
        let of = |name: &str| {
            let pages: u64 = self.counters.get(name).copied().unwrap_or(0);
            pages.saturating_mul(page)
        };
        let sum = |names: &[&str]| {
            let bytes = names.iter().map(|name| of(name));
            bytes.fold(0, u64::saturating_add)
        };
        let kib = |kib: u64| kib.saturating_mul(1024);
        let pages = self.ram_pages.saturating_sub(self.reserved_pages);
        let lists = sum(&["active_anon", "inactive_anon", "isolated_anon"]);
        let mut memory = Memory {
            total: pages.saturating_mul(page),
            free: of("free"),
            high: kib(self.high),
            largest_piece: kib(self.largest_piece),
            // Shared memory lies on the lists of anonymous pages.
            anon: lists.saturating_sub(of("shmem")),
            file: sum(&["active_file", "inactive_file", "isolated_file"]),
            unevictable: of("unevictable"),
            shmem: of("shmem"),
            slab: of("slab_unreclaimable"),
            slab_reclaimable: of("slab_reclaimable"),
            page_tables: sum(&["pagetables", "sec_pagetables"]),
            kernel_stack: kib(self.kernel_stack),
            hugetlb: kib(self.hugetlb),
            hugetlb_free: kib(self.hugetlb_free),
            elsewhere: 0,
        };
        let others = sum(&["free_pcp", "kernel_misc_reclaimable", "bounce"]);
        let named = [
            memory.free,
            lists,
            memory.file,
            memory.unevictable,
            memory.slab,
            memory.slab_reclaimable,
            memory.page_tables,
            memory.kernel_stack,
            memory.hugetlb,
            others,
        ];
        let named = named.into_iter().fold(0, u64::saturating_add);
        memory.elsewhere = memory.total.saturating_sub(named);
        Some(memory)
    }
}
