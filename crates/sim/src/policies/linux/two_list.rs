//! Linux's active and inactive lists, with refault distance: see [`crate::policies::linux`].
use super::accesses::{is_mapped, Accesses, ACCESS_HELP};
use super::classic::{
    check_references, inactive_is_low, note_cost, refault_is_recent, scan_balance, scan_count,
    Pressure, References, Sizes,
};
use super::page::{self, new_page};
use super::reclaim::{DEF_PRIORITY, MAX_RECLAIM_RETRIES, SWAP_CLUSTER_MAX};
use crate::structures::huge_pages::{prefetch, zeroed};
use crate::structures::linked_lists::LinkedLists;
use crate::{Description, Error, Parameter, Policy, Setup};

pub const POLICY: Description = Description {
    name: "linux-two-list",
    paper: "Linux 6.12, mm/vmscan.c, mm/swap.c and mm/workingset.c: active and inactive lists, refault distance",
    parameters: &[
        Parameter { name: "access", default: "trace", help: ACCESS_HELP },
        Parameter { name: "swap", default: "true", help: "true or false: anonymous memory can be reclaimed" },
        Parameter { name: "swappiness", default: "60", help: "vm.swappiness, 0 to 200" },
        Parameter { name: "batch", default: "32", help: "pages that a fault without room reclaims at least (at most a quarter of the size), 1 to 4096" },
    ],
    build: |setup| Ok(Box::new(TwoList::new(setup)?)),
};

/// Lists by number, as the kernel's enum lru_list: anon before file, inactive before active.
const ACTIVE: usize = 1;
const FILE: usize = 2;

/// Bits of a shadow's age.
const AGE: u32 = (1 << 30) - 1;

struct TwoList<'a> {
    accesses: Accesses<'a>,
    swap: bool,
    swappiness: u64,
    size: u32,
    batch: u32,
    resident: u32,
    pages: Vec<u8>,
    lists: LinkedLists,
    len: [u64; 4],
    /// By page: 1, PG_workingset and nonresident_age at its eviction; 0 is none.
    shadows: Vec<u32>,
    nonresident_age: u32,
    /// Of anon and of file.
    cost: [u64; 2],
    /// WORKINGSET_ACTIVATE_* at the end of the last reclaim: lruvec->refaults.
    activated_before: [u64; 2],
    /// may_deactivate, of anon and of file.
    may_deactivate: [bool; 2],
    force_deactivate: bool,
    skipped_deactivate: bool,
    refault: [u64; 2],
    activate: [u64; 2],
    restore: [u64; 2],
    scanned: u64,
    stolen: [u64; 2],
    refilled: u64,
    activated: u64,
    deactivated: u64,
    out_of_memory: u64,
}

impl<'a> TwoList<'a> {
    fn new(setup: &Setup<'a, '_>) -> Result<TwoList<'a>, Error> {
        let objects = setup.input.objects();
        let batch: u32 = setup.value_in("batch", 1..=4096)?;
        Ok(TwoList {
            accesses: Accesses::new(setup)?,
            swap: setup.value("swap")?,
            swappiness: setup.value_in("swappiness", 0..=200)?,
            size: setup.size,
            batch: batch.min((setup.size / 4).max(1)),
            resident: 0,
            pages: zeroed(objects as usize),
            lists: LinkedLists::new(objects, 4),
            len: [0; 4],
            shadows: zeroed(objects as usize),
            nonresident_age: 0,
            cost: [0; 2],
            activated_before: [0; 2],
            may_deactivate: [false; 2],
            force_deactivate: false,
            skipped_deactivate: false,
            refault: [0; 2],
            activate: [0; 2],
            restore: [0; 2],
            scanned: 0,
            stolen: [0; 2],
            refilled: 0,
            activated: 0,
            deactivated: 0,
            out_of_memory: 0,
        })
    }

    fn sizes(&self) -> Sizes {
        Sizes {
            inactive_anon: self.len[0],
            active_anon: self.len[ACTIVE],
            inactive_file: self.len[FILE],
            active_file: self.len[FILE + ACTIVE],
        }
    }

    fn list_of(bits: u8) -> usize {
        usize::from(bits & page::FILE != 0) * FILE + usize::from(bits & page::ACTIVE != 0)
    }

    fn add(&mut self, id: u32) {
        let list = Self::list_of(self.pages[id as usize]);
        self.lists.add(list, id);
        self.len[list] += 1;
    }

    fn take_tail(&mut self, list: usize) -> Option<u32> {
        let id = self.lists.tail(list)?;
        self.lists.del(id);
        self.len[list] -= 1;
        Some(id)
    }

    fn note_cost(&mut self, file: bool, io: u64, rotated: u64) {
        let all = self.len.iter().sum();
        note_cost(&mut self.cost, file, io, rotated, all);
    }

    /// folio_mark_accessed()
    fn mark_accessed(&mut self, id: u32) {
        let bits = self.pages[id as usize];
        if bits & page::REFERENCED == 0 {
            self.pages[id as usize] |= page::REFERENCED;
        } else if bits & page::ACTIVE == 0 {
            self.lists.del(id);
            self.len[Self::list_of(bits)] -= 1;
            self.pages[id as usize] = (bits | page::ACTIVE) & !page::REFERENCED;
            self.add(id);
            self.activated += 1;
            // workingset_activation()
            self.nonresident_age = self.nonresident_age.wrapping_add(1);
        }
    }

    /// workingset_eviction()
    fn evict(&mut self, id: u32) {
        let bits = self.pages[id as usize];
        let workingset = u32::from(bits & page::WORKINGSET != 0);
        self.shadows[id as usize] = (self.nonresident_age & AGE) << 2 | workingset << 1 | 1;
        self.nonresident_age = self.nonresident_age.wrapping_add(1);
        self.stolen[usize::from(bits & page::FILE != 0)] += 1;
        self.pages[id as usize] = 0;
        self.resident -= 1;
    }

    /// workingset_refault(): the bits with which the page comes back.
    fn refault(&mut self, shadow: u32, mut bits: u8) -> u8 {
        let file = bits & page::FILE != 0;
        self.refault[usize::from(file)] += 1;
        let distance = self.nonresident_age.wrapping_sub(shadow >> 2) & AGE;
        if !refault_is_recent(u64::from(distance), file, self.swap, &self.sizes()) {
            return bits;
        }
        bits |= page::ACTIVE;
        self.nonresident_age = self.nonresident_age.wrapping_add(1);
        self.activate[usize::from(file)] += 1;
        if shadow & 2 != 0 {
            bits |= page::WORKINGSET;
            // lru_note_cost_refault()
            self.note_cost(file, 1, 0);
            self.restore[usize::from(file)] += 1;
        }
        bits
    }

    fn fault(&mut self, id: u32, at: usize) {
        if self.resident == self.size {
            self.reclaim();
        }
        let access = self.accesses.at(at);
        let mut bits = new_page(access);
        let shadow = self.shadows[id as usize];
        if shadow != 0 {
            bits = self.refault(shadow, bits);
        }
        if is_mapped(access) {
            bits |= page::YOUNG;
        }
        self.pages[id as usize] = bits;
        self.resident += 1;
        self.add(id);
        if !is_mapped(access) {
            self.mark_accessed(id);
        }
    }

    /// do_try_to_free_pages()
    fn reclaim(&mut self) {
        let mut reclaimed = 0;
        for _ in 0..MAX_RECLAIM_RETRIES {
            // Active lists that were passed over are scanned when no other scan made progress.
            self.force_deactivate = std::mem::take(&mut self.skipped_deactivate);
            for priority in (0..=DEF_PRIORITY).rev() {
                reclaimed += self.shrink_lruvec(priority);
                if reclaimed >= self.batch {
                    break;
                }
            }
            self.activated_before = self.activate;
            if reclaimed > 0 {
                self.skipped_deactivate = false;
                return;
            }
        }
        // The kernel would kill a process here: only anonymous memory is left, and no swap.
        self.out_of_memory += 1;
        let list = (0..4).find(|&list| self.len[list] > 0).unwrap_or(0);
        if let Some(id) = self.take_tail(list) {
            self.evict(id);
        }
    }

    /// prepare_scan_control(), get_scan_count() and shrink_lruvec() of cgroup reclaim.
    fn shrink_lruvec(&mut self, priority: u32) -> u32 {
        for kind in 0..2 {
            let low = inactive_is_low(self.len[kind * FILE], self.len[kind * FILE + ACTIVE]);
            self.may_deactivate[kind] =
                self.force_deactivate || low || self.activate[kind] != self.activated_before[kind];
        }
        let balance = scan_balance(&Pressure {
            swap: self.swap,
            cgroup: true,
            swappiness: self.swappiness,
            priority,
            file_is_tiny: false,
            cache_trim_mode: self.len[FILE] >> priority > 0 && !self.may_deactivate[1],
            cost: self.cost,
        });
        let count = |list: usize| scan_count(self.len[list], list >= FILE, priority, balance);
        let mut left = [count(0), count(1), count(2), count(3)];
        let targets = left;
        let mut reclaimed = 0;
        // Active anonymous pages alone are no reason to scan.
        while left[0] + left[FILE] + left[FILE + ACTIVE] > 0 {
            for (list, left) in left.iter_mut().enumerate() {
                let scan = (*left).min(u64::from(SWAP_CLUSTER_MAX));
                *left -= scan;
                reclaimed += self.shrink_list(list, scan);
            }
            if reclaimed < self.batch {
                continue;
            }
            let (anon, file) = (left[0] + left[1], left[2] + left[3]);
            if anon == 0 || file == 0 {
                break;
            }
            // The type with the smaller target stops. The other scans on to the same share of its target.
            let (smaller, larger) = if file > anon { (0, FILE) } else { (FILE, 0) };
            let rest = left[smaller] + left[smaller + ACTIVE];
            let percentage = rest * 100 / (targets[smaller] + targets[smaller + ACTIVE] + 1);
            left[smaller] = 0;
            left[smaller + ACTIVE] = 0;
            for list in [larger, larger + ACTIVE] {
                let scanned = targets[list] - left[list];
                left[list] = (targets[list] * (100 - percentage) / 100).saturating_sub(scanned);
            }
        }
        if self.swap && inactive_is_low(self.len[0], self.len[ACTIVE]) {
            self.shrink_active_list(ACTIVE, u64::from(SWAP_CLUSTER_MAX));
        }
        reclaimed
    }

    /// shrink_list()
    fn shrink_list(&mut self, list: usize, scan: u64) -> u32 {
        if list & ACTIVE == 0 {
            return self.shrink_inactive_list(list, scan);
        }
        if self.may_deactivate[list / FILE] {
            self.shrink_active_list(list, scan);
        } else {
            self.skipped_deactivate |= scan > 0;
        }
        0
    }

    /// shrink_active_list(): all are deactivated but executable file pages in use.
    fn shrink_active_list(&mut self, list: usize, scan: u64) {
        let mut rotated = 0;
        for _ in 0..scan {
            let Some(id) = self.take_tail(list) else {
                break;
            };
            self.refilled += 1;
            let bits = &mut self.pages[id as usize];
            let young = *bits & page::YOUNG != 0;
            *bits &= !page::YOUNG;
            let exec = page::EXEC | page::FILE;
            if young && *bits & exec == exec {
                rotated += 1;
            } else {
                *bits = *bits & !page::ACTIVE | page::WORKINGSET;
                self.deactivated += 1;
            }
            self.add(id);
        }
        if rotated > 0 {
            self.note_cost(list >= FILE, 0, rotated);
        }
    }

    /// shrink_inactive_list() and shrink_folio_list()
    fn shrink_inactive_list(&mut self, list: usize, scan: u64) -> u32 {
        let (mut scanned, mut reclaimed, mut activated) = (0, 0, 0);
        for _ in 0..scan {
            let Some(id) = self.take_tail(list) else {
                break;
            };
            scanned += 1;
            match check_references(&mut self.pages[id as usize]) {
                References::Reclaim => {
                    self.evict(id);
                    reclaimed += 1;
                    continue;
                }
                References::Keep => {}
                References::Activate => {
                    self.pages[id as usize] |= page::ACTIVE;
                    activated += 1;
                }
            }
            self.add(id);
        }
        // move_folios_to_lru(): after all evictions of the batch.
        self.nonresident_age = self.nonresident_age.wrapping_add(activated);
        self.activated += u64::from(activated);
        self.scanned += scanned;
        if scanned > 0 {
            let file = list >= FILE;
            // Anonymous pages are written to swap. File pages are assumed clean.
            let written = if file { 0 } else { reclaimed };
            self.note_cost(file, written, scanned - reclaimed);
        }
        reclaimed as u32
    }
}

impl Policy for TwoList<'_> {
    #[inline(always)]
    fn request(&mut self, id: u32, at: usize) -> bool {
        if self.pages[id as usize] == 0 {
            self.fault(id, at);
            return false;
        }
        if is_mapped(self.accesses.at(at)) {
            self.pages[id as usize] |= page::YOUNG;
        } else {
            self.mark_accessed(id);
        }
        true
    }

    #[inline(always)]
    fn prefetch(&self, id: u32) {
        prefetch(&self.pages, id as usize);
        self.lists.prefetch(id);
    }

    #[inline(always)]
    fn prefetch_soon(&self, id: u32) {
        self.lists.prefetch_neighbours(id);
        prefetch(&self.shadows, id as usize);
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("pgscan", self.scanned),
            ("pgsteal_anon", self.stolen[0]),
            ("pgsteal_file", self.stolen[1]),
            ("pgrefill", self.refilled),
            ("pgactivate", self.activated),
            ("pgdeactivate", self.deactivated),
            ("workingset_refault_anon", self.refault[0]),
            ("workingset_refault_file", self.refault[1]),
            ("workingset_activate_anon", self.activate[0]),
            ("workingset_activate_file", self.activate[1]),
            ("workingset_restore_anon", self.restore[0]),
            ("workingset_restore_file", self.restore[1]),
            ("oom", self.out_of_memory),
        ]
    }

    fn bytes(&self) -> usize {
        self.pages.len() * 5 + self.lists.bytes()
    }
}
