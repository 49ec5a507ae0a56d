//! The slow twin of Linux 6.12's active and inactive lists. Lists are vectors, the oldest page first, and a
//! page has a named field for each flag.
use super::linux::{Counted, World};
use std::collections::HashMap;
use trace::Flags;

#[derive(Clone, Default)]
struct Page {
    id: u32,
    file: bool,
    exec: bool,
    active: bool,
    referenced: bool,
    workingset: bool,
    young: bool,
}

/// Age at the eviction, and PG_workingset.
type Shadow = (u64, bool);

#[derive(Default)]
struct Lruvec {
    world: World,
    /// `[anon, file][inactive, active]`
    lists: [[Vec<Page>; 2]; 2],
    shadows: HashMap<u32, Shadow>,
    /// lruvec->nonresident_age
    age: u64,
    cost: [u64; 2],
    activated_before: [u64; 2],
    force_deactivate: bool,
    skipped_deactivate: bool,
    may_deactivate: [bool; 2],
    counted: Counted,
}

impl Lruvec {
    fn len(&self, file: usize, active: usize) -> u64 {
        self.lists[file][active].len() as u64
    }

    fn resident(&self) -> u64 {
        [(0, 0), (0, 1), (1, 0), (1, 1)]
            .iter()
            .map(|&(file, active)| self.len(file, active))
            .sum()
    }

    /// Puts a page at the young end of its list.
    fn put(&mut self, page: Page) {
        self.lists[usize::from(page.file)][usize::from(page.active)].push(page);
    }

    /// Adds costs: each page written out or read again costs as much as 32 rotated pages. Old costs are
    /// halved again and again.
    fn note_cost(&mut self, file: usize, io: u64, rotated: u64) {
        self.cost[file] += 32 * io + rotated;
        if self.cost[0] + self.cost[1] > self.resident() / 4 {
            self.cost = self.cost.map(|cost| cost / 2);
        }
    }

    fn inactive_is_low(&self, file: usize) -> bool {
        let (inactive, active) = (self.len(file, 0), self.len(file, 1));
        // No test has a gibibyte of pages: the ratio is one to one.
        inactive < active
    }

    /// read()
    fn mark_accessed(&mut self, id: u32) {
        for file in 0..2 {
            for active in 0..2 {
                let list = &mut self.lists[file][active];
                let Some(at) = list.iter().position(|page| page.id == id) else {
                    continue;
                };
                if !list[at].referenced {
                    list[at].referenced = true;
                } else if active == 0 {
                    let mut page = list.remove(at);
                    page.active = true;
                    page.referenced = false;
                    self.put(page);
                    self.counted.add("pgactivate", 1);
                    self.age += 1;
                }
                return;
            }
        }
    }

    fn evict(&mut self, page: Page) {
        self.shadows.insert(page.id, (self.age, page.workingset));
        self.age += 1;
        self.counted.of("pgsteal", page.file, 1);
    }

    fn fault(&mut self, id: u32, flags: Flags) {
        if self.resident() == self.world.size as u64 {
            self.reclaim();
        }
        let mut page = Page {
            id,
            file: !flags.has(Flags::ANON),
            exec: flags.has(Flags::EXEC),
            ..Page::default()
        };
        if let Some((age, workingset)) = self.shadows.remove(&id) {
            self.counted.of("workingset_refault", page.file, 1);
            // Would the page still be resident with the room of the active pages, or of the other
            // type's pages?
            let mut room = self.len(1, 1);
            if !page.file {
                room += self.len(1, 0);
            }
            if self.world.swap {
                room += self.len(0, 1);
                if page.file {
                    room += self.len(0, 0);
                }
            }
            if self.age - age <= room {
                page.active = true;
                self.age += 1;
                self.counted.of("workingset_activate", page.file, 1);
                if workingset {
                    page.workingset = true;
                    self.note_cost(usize::from(page.file), 1, 0);
                    self.counted.of("workingset_restore", page.file, 1);
                }
            }
        }
        let mapped = World::is_mapped(flags);
        page.young = mapped;
        self.put(page);
        if !mapped {
            self.mark_accessed(id);
        }
    }

    fn reclaim(&mut self) {
        for _ in 0..16 {
            self.force_deactivate = self.skipped_deactivate;
            self.skipped_deactivate = false;
            let mut reclaimed = 0;
            let mut priority = 13;
            while priority > 0 && reclaimed < self.world.batch() {
                priority -= 1;
                reclaimed += self.shrink_lruvec(priority);
            }
            self.activated_before = self.counted.both("workingset_activate");
            if reclaimed > 0 {
                self.skipped_deactivate = false;
                return;
            }
        }
        self.counted.add("oom", 1);
        for (file, active) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            if !self.lists[file][active].is_empty() {
                let page = self.lists[file][active].remove(0);
                return self.evict(page);
            }
        }
    }

    /// The shares of anon and of file in the scanned pages, as numerators and denominators.
    fn shares(&self, priority: u32) -> [[u64; 2]; 2] {
        let swappiness = self.world.swappiness;
        let [anon, file] = self.cost;
        let trim = self.len(1, 0) >> priority > 0 && !self.may_deactivate[1];
        let (all, none) = ([1, 1], [0, 1]);
        if !self.world.swap || swappiness == 0 {
            return [none, all];
        }
        if priority == 0 {
            return [all, all];
        }
        if trim {
            return [none, all];
        }
        // The cost of each type beside the sum of both.
        let (a, f) = (2 * anon + file, anon + 2 * file);
        let total = a + f;
        let ap = swappiness * (total + 1) / (a + 1);
        let fp = (200 - swappiness) * (total + 1) / (f + 1);
        [[ap, ap + fp], [fp, ap + fp]]
    }

    fn shrink_lruvec(&mut self, priority: u32) -> u64 {
        let activated = self.counted.both("workingset_activate");
        for (file, now) in activated.into_iter().enumerate() {
            self.may_deactivate[file] = self.force_deactivate
                || self.inactive_is_low(file)
                || now != self.activated_before[file];
        }
        let shares = self.shares(priority);
        let mut left = [[0; 2]; 2];
        for (file, [share, of]) in shares.into_iter().enumerate() {
            left[file] =
                [0, 1].map(|active| (self.len(file, active) >> priority) * share / of.max(1));
        }
        let targets = left;
        let sum = |pair: [u64; 2]| pair[0] + pair[1];
        let mut reclaimed = 0;
        while left[0][0] + left[1][0] + left[1][1] > 0 {
            for (file, active) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let scan = left[file][active].min(32);
                left[file][active] -= scan;
                if active == 0 {
                    reclaimed += self.shrink_inactive(file, scan);
                } else if self.may_deactivate[file] {
                    self.shrink_active(file, scan);
                } else if scan > 0 {
                    self.skipped_deactivate = true;
                }
            }
            if reclaimed < self.world.batch() {
                continue;
            }
            if sum(left[0]) == 0 || sum(left[1]) == 0 {
                break;
            }
            // Enough pages are free. The type with the smaller target stops. The other type goes on to
            // the same share of its target.
            let stops = usize::from(sum(left[1]) <= sum(left[0]));
            let goes_on = 1 - stops;
            let percent = sum(left[stops]) * 100 / (sum(targets[stops]) + 1);
            left[stops] = [0; 2];
            for active in 0..2 {
                let target = targets[goes_on][active];
                let done = target - left[goes_on][active];
                left[goes_on][active] = (target * (100 - percent) / 100).saturating_sub(done);
            }
        }
        if self.world.swap && self.inactive_is_low(0) {
            self.shrink_active(0, 32);
        }
        reclaimed
    }

    fn shrink_active(&mut self, file: usize, scan: u64) {
        let mut rotated = 0;
        for _ in 0..scan.min(self.len(file, 1)) {
            let mut page = self.lists[file][1].remove(0);
            self.counted.add("pgrefill", 1);
            if page.young && page.exec && page.file {
                rotated += 1;
            } else {
                page.active = false;
                page.workingset = true;
                self.counted.add("pgdeactivate", 1);
            }
            page.young = false;
            self.put(page);
        }
        if rotated > 0 {
            self.note_cost(file, 0, rotated);
        }
    }

    fn shrink_inactive(&mut self, file: usize, scan: u64) -> u64 {
        let scanned = scan.min(self.len(file, 0));
        let isolated: Vec<Page> = self.lists[file][0].drain(..scanned as usize).collect();
        let (mut reclaimed, mut kept) = (0, vec![]);
        for mut page in isolated {
            let referenced = page.referenced;
            page.referenced = page.young;
            if !page.young {
                reclaimed += 1;
                self.evict(page);
                continue;
            }
            page.young = false;
            page.active = referenced || (page.exec && page.file);
            kept.push(page);
        }
        // move_folios_to_lru()
        for page in kept {
            self.age += u64::from(page.active);
            self.counted.add("pgactivate", u64::from(page.active));
            self.put(page);
        }
        self.counted.add("pgscan", scanned);
        if scanned > 0 {
            let written = if file == 1 { 0 } else { reclaimed };
            self.note_cost(file, written, scanned - reclaimed);
        }
        reclaimed
    }
}

/// Misses and the kernel's counters.
pub fn two_list(ids: &[u32], flags: &[Flags], world: &World) -> Counted {
    let mut lruvec = Lruvec {
        world: world.clone(),
        ..Lruvec::default()
    };
    for (&id, &flags) in ids.iter().zip(flags) {
        let mut lists = lruvec.lists.iter_mut().flatten().flatten();
        match lists.find(|page| page.id == id) {
            Some(page) if World::is_mapped(flags) => page.young = true,
            Some(_) => lruvec.mark_accessed(id),
            None => {
                lruvec.counted.add("misses", 1);
                lruvec.fault(id, flags);
            }
        }
    }
    lruvec.counted
}
