//! Linux's multi-gen LRU: see [`crate::policies::linux`].
use super::accesses::{is_mapped, Accesses, ACCESS_HELP};
use super::classic::{check_references, References};
use super::generations::{should_run_aging, Generations, Page, Shadow, MIN_GENS};
use super::page::{self, new_page};
use super::pid::{tier_of, type_to_scan, Rules, MIN_LRU_BATCH};
use super::reclaim::{ANON, DEF_PRIORITY, FILE, MAX_RECLAIM_RETRIES, MAX_SWAPPINESS};
use crate::{Description, Error, Parameter, Policy, Setup};

pub const POLICY: Description = Description {
    name: "mglru",
    paper: "Linux 6.12 and 7.3, CONFIG_LRU_GEN, mm/vmscan.c and mm/workingset.c: generations, tiers, PID controller",
    parameters: &[
        Parameter { name: "kernel", default: "6.12", help: "version of Linux: 6.12 or 7.3" },
        Parameter { name: "generations", default: "4", help: "MAX_NR_GENS, 3 to 16 (the kernel has 4)" },
        Parameter { name: "access", default: "trace", help: ACCESS_HELP },
        Parameter { name: "swap", default: "true", help: "true or false: anonymous memory can be reclaimed" },
        Parameter { name: "swappiness", default: "60", help: "vm.swappiness, 0 to 200" },
        Parameter { name: "batch", default: "32", help: "pages that a fault without room reclaims at least (at most a quarter of the size), 1 to 4096" },
    ],
    build: |setup| {
        let kernel: String = setup.value("kernel")?;
        match kernel.as_str() {
            "6.12" => Ok(Box::new(Mglru::<false>::new(setup)?)),
            "7.3" => Ok(Box::new(Mglru::<true>::new(setup)?)),
            other => Err(setup.refuse("kernel", other, "6.12 or 7.3")),
        }
    },
};

/// MAX_LRU_BATCH
const MAX_LRU_BATCH: u64 = 4096;

struct Mglru<'a, const V7: bool> {
    accesses: Accesses<'a>,
    /// 0 when anonymous memory cannot be reclaimed.
    swappiness: u64,
    size: u32,
    batch: u32,
    resident: u32,
    lruvec: Generations,
    isolated: Vec<u32>,
    refault: [u64; 2],
    activate: [u64; 2],
    restore: [u64; 2],
    stolen: [u64; 2],
    scanned: u64,
    sorted: u64,
    aged: u64,
    out_of_memory: u64,
}

impl<'a, const V7: bool> Mglru<'a, V7> {
    const RULES: Rules = if V7 { Rules::V7 } else { Rules::V6_12 };

    fn new(setup: &Setup<'a, '_>) -> Result<Mglru<'a, V7>, Error> {
        let generations = setup.value_in("generations", 3..=16)?;
        let batch: u32 = setup.value_in("batch", 1..=4096)?;
        let swappiness = setup.value_in("swappiness", 0..=MAX_SWAPPINESS)?;
        let objects = setup.input.objects();
        Ok(Mglru {
            accesses: Accesses::new(setup)?,
            swappiness: if setup.value("swap")? { swappiness } else { 0 },
            size: setup.size,
            batch: batch.min((setup.size / 4).max(1)),
            resident: 0,
            lruvec: Generations::new(objects, generations, Self::RULES),
            isolated: Vec::new(),
            refault: [0; 2],
            activate: [0; 2],
            restore: [0; 2],
            stolen: [0; 2],
            scanned: 0,
            sorted: 0,
            aged: 0,
            out_of_memory: 0,
        })
    }

    /// The first type that may be evicted.
    fn first(&self) -> usize {
        if self.swappiness == 0 {
            FILE
        } else {
            ANON
        }
    }

    /// lru_gen_eviction()
    #[inline(always)]
    fn evict(&mut self, id: u32) {
        let page = self.lruvec.pages[id as usize];
        let kind = page.kind();
        let (refs, tier) = page.refs_and_tier(Self::RULES);
        let workingset = match Self::RULES {
            Rules::V6_12 => refs > 0,
            Rules::V7 => page.bits & page::WORKINGSET != 0,
        };
        self.lruvec.tiers[kind].evicted[tier] += 1;
        self.stolen[kind] += 1;
        self.lruvec.pages[id as usize] = Page::gone(Shadow {
            seq: self.lruvec.min_seq[kind],
            refs: refs.saturating_sub(1).min(3),
            workingset,
        });
        self.resident -= 1;
    }

    /// lru_gen_refault()
    #[inline(always)]
    fn refault(&mut self, page: &mut Page, shadow: Shadow, in_fault: bool) {
        let kind = page.kind();
        self.refault[kind] += 1;
        // lru_gen_test_recent()
        let recent = match Self::RULES {
            Rules::V6_12 => shadow.seq == self.lruvec.min_seq[kind] & Shadow::SEQ,
            Rules::V7 => (self.lruvec.max_seq & Shadow::SEQ).abs_diff(shadow.seq) < 4,
        };
        if !recent {
            return;
        }
        let (token, workingset) = (shadow.refs, shadow.workingset);
        if Self::RULES == Rules::V7 {
            let tier = tier_of(token + 1, workingset, Self::RULES);
            self.lruvec.tiers[kind].refaulted[tier] += 1;
            if workingset {
                self.activate[kind] += u64::from(in_fault);
                self.restore[kind] += 1;
                page.bits |= page::WORKINGSET;
            } else {
                page.restore_refs(token);
            }
            return;
        }
        let refs = token + u8::from(workingset);
        let tier = tier_of(refs, workingset, Self::RULES);
        self.lruvec.tiers[kind].refaulted[tier] += 1;
        self.activate[kind] += 1;
        if in_fault || refs >= 3 {
            page.bits |= page::WORKINGSET;
            page.restore_refs(3);
            self.restore[kind] += 1;
        }
    }

    #[inline(always)]
    fn fault(&mut self, id: u32, at: usize) {
        if self.resident == self.size {
            self.reclaim();
        }
        let access = self.accesses.at(at);
        let in_fault = is_mapped(access);
        let shadow = self.lruvec.pages[id as usize].shadow();
        let mut page = Page::new(new_page(access));
        if let Some(shadow) = shadow {
            self.refault(&mut page, shadow, in_fault);
        }
        if in_fault {
            // folio_add_lru()
            page.bits |= page::ACTIVE;
        } else {
            // folio_mark_accessed() comes first: the page is still in a batch on its way to the lists, and
            // 7.x puts a referenced one into a younger generation.
            page.inc_refs(Self::RULES);
        }
        page = self.lruvec.enter(id, page, Self::RULES);
        self.resident += 1;
        self.lruvec.pages[id as usize] = page;
        if in_fault {
            self.lruvec.set_young(id);
        }
    }

    /// do_try_to_free_pages()
    #[cold]
    #[inline(never)]
    fn reclaim(&mut self) {
        let before = self.resident;
        for _ in 0..MAX_RECLAIM_RETRIES {
            for priority in (0..=DEF_PRIORITY).rev() {
                self.shrink(priority);
                if before - self.resident >= self.batch {
                    return;
                }
            }
            if self.resident < before {
                return;
            }
        }
        // The kernel would kill a process here: no page of the evictable types is left.
        self.out_of_memory += 1;
        for kind in [FILE, ANON] {
            let oldest = (self.lruvec.min_seq[kind]..=self.lruvec.max_seq)
                .find_map(|seq| Some((self.lruvec.tail_of(seq, kind)?, seq)));
            if let Some((id, seq)) = oldest {
                self.lruvec.isolate(id, seq);
                self.evict(id);
                return;
            }
        }
    }

    /// try_to_shrink_lruvec()
    fn shrink(&mut self, priority: u32) {
        let start = self.resident;
        let mut scanned = 0;
        let first = self.first();
        let budget = self.lruvec.total(first) >> priority;
        loop {
            if Self::RULES == Rules::V6_12 {
                // get_nr_to_scan()
                if should_run_aging(&self.lruvec.age(first)) && priority != DEF_PRIORITY {
                    self.age();
                    return;
                }
            } else if budget == 0 {
                return;
            } else {
                // should_run_aging() of 7.x
                let gap = self.lruvec.max_seq - self.evictable_min_seq();
                if gap < MIN_GENS || (gap == MIN_GENS && priority != DEF_PRIORITY) {
                    self.age();
                }
            }
            let to_scan = match Self::RULES {
                Rules::V6_12 => self.lruvec.total(first) >> priority,
                Rules::V7 => budget.saturating_sub(scanned),
            };
            if to_scan == 0 {
                return;
            }
            let most = match Self::RULES {
                Rules::V6_12 => MAX_LRU_BATCH,
                Rules::V7 => to_scan.min(MIN_LRU_BATCH),
            };
            let delta = self.evict_folios(most);
            scanned += delta;
            let done = Self::RULES == Rules::V6_12 && scanned >= to_scan;
            if delta == 0 || done || start - self.resident >= self.batch {
                return;
            }
        }
    }

    fn age(&mut self) {
        self.lruvec.inc_max_seq();
        self.aged += 1;
    }

    /// evictable_min_seq() of 7.x
    fn evictable_min_seq(&self) -> u64 {
        let [anon, file] = self.lruvec.min_seq;
        match self.swappiness {
            0 => file,
            _ => anon.min(file),
        }
    }

    /// isolate_folios(): returns how many pages were scanned.
    fn isolate_folios(&mut self, most: u64) -> u64 {
        let min_seq = self.lruvec.min_seq;
        let (mut kind, mut tier) = match (Self::RULES, self.swappiness) {
            (_, 0) => (FILE, None),
            (Rules::V6_12, _) if min_seq[ANON] < min_seq[FILE] => (ANON, None),
            (Rules::V6_12, 1) => (FILE, None),
            (Rules::V6_12, MAX_SWAPPINESS) => (ANON, None),
            (rules, swappiness) => type_to_scan(&self.lruvec.tiers, swappiness, rules),
        };
        let mut total = 0;
        for _ in self.first()..=FILE {
            let highest =
                tier.unwrap_or_else(|| self.lruvec.tiers[kind].highest_evicted(Self::RULES));
            let scanned = self.scan_folios(kind, highest, most);
            total += scanned;
            // 7.x: if sorting moved a page of this type, the scan does not turn to the other type.
            let keep = Self::RULES == Rules::V7 && scanned > 0;
            if !self.isolated.is_empty() || (Self::RULES == Rules::V6_12 && scanned > 0) {
                break;
            }
            if !keep {
                kind = 1 - kind;
            }
            tier = None;
        }
        total
    }

    /// scan_folios()
    fn scan_folios(&mut self, kind: usize, highest: usize, most: u64) -> u64 {
        if self.lruvec.count(kind) == MIN_GENS {
            return 0;
        }
        let lruvec = &mut self.lruvec;
        let (scanned, sorted) = lruvec.scan(kind, highest, most, &mut self.isolated, Self::RULES);
        self.sorted += sorted;
        self.scanned += scanned - sorted;
        let spent = scanned == most && Self::RULES == Rules::V6_12;
        match Self::RULES {
            Rules::V6_12 if self.isolated.is_empty() && !spent => 0,
            _ => scanned,
        }
    }

    /// evict_folios() and shrink_folio_list()
    fn evict_folios(&mut self, most: u64) -> u64 {
        let first = self.first();
        if Self::RULES == Rules::V7 {
            self.lruvec.try_to_inc_min_seq(first);
        }
        let mut scanned = self.isolate_folios(most);
        let moved = self.lruvec.try_to_inc_min_seq(first);
        if Self::RULES == Rules::V6_12 {
            scanned += u64::from(moved);
            if self.lruvec.count(first) == MIN_GENS {
                scanned = 0;
            }
        }
        let mut isolated = std::mem::take(&mut self.isolated);
        for id in isolated.drain(..) {
            if self.is_spared(id) {
                self.lruvec.reject(id);
            } else {
                self.evict(id);
            }
        }
        self.isolated = isolated;
        scanned
    }

    /// folio_check_references()
    fn is_spared(&mut self, id: u32) -> bool {
        let bits = &mut self.lruvec.pages[id as usize].bits;
        if Self::RULES == Rules::V6_12 {
            return check_references(bits) != References::Reclaim;
        }
        let young = *bits & page::YOUNG != 0;
        *bits &= !page::YOUNG;
        if young && self.lruvec.set_refs(id) {
            self.lruvec.pages[id as usize].bits |= page::ACTIVE;
        }
        young
    }
}

impl<const V7: bool> Policy for Mglru<'_, V7> {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        if !self.lruvec.pages[id as usize].is_present() {
            self.fault(id, at);
            return false;
        }
        if is_mapped(self.accesses.at(at)) {
            self.lruvec.set_young(id);
        } else {
            self.lruvec.pages[id as usize].inc_refs(Self::RULES);
        }
        true
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        self.lruvec.prefetch(id);
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("pgscan", self.scanned),
            ("pgrefill", self.sorted),
            ("pgsteal_anon", self.stolen[ANON]),
            ("pgsteal_file", self.stolen[FILE]),
            ("workingset_refault_anon", self.refault[ANON]),
            ("workingset_refault_file", self.refault[FILE]),
            ("workingset_activate_anon", self.activate[ANON]),
            ("workingset_activate_file", self.activate[FILE]),
            ("workingset_restore_anon", self.restore[ANON]),
            ("workingset_restore_file", self.restore[FILE]),
            ("generations_begun", self.aged),
            ("oom", self.out_of_memory),
        ]
    }

    fn bytes(&self) -> usize {
        self.lruvec.bytes()
    }
}
