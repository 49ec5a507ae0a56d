//! Reclaim, which makes room for a page.
use super::lruvec::{Lruvec, Page, Rate, Shadow, ANON, FILE};

/// Whether `pv` may be evicted: it hardly refaults, or no more often than `sp`, each by its gain.
fn within(sp: Rate, pv: Rate) -> bool {
    pv.0 < 64 || pv.0 * (sp.1 + 64) * sp.2 <= (sp.0 + 1) * pv.1 * pv.2
}

impl Lruvec {
    pub(super) fn reclaim(&mut self) {
        let before = self.pages.len() as u64;
        for _ in 0..16 {
            for priority in (0..=12).rev() {
                self.shrink(priority);
                if before - self.pages.len() as u64 >= self.world.batch() {
                    return;
                }
            }
            if (self.pages.len() as u64) < before {
                return;
            }
        }
        self.counted.add("oom", 1);
        for kind in [FILE, ANON] {
            for seq in self.min_seq[kind]..=self.max_seq {
                if self.list(kind, seq).is_empty() {
                    continue;
                }
                let id = self.list(kind, seq).remove(0);
                let page = self.isolate(id);
                return self.evict(id, &page);
            }
        }
    }

    /// The effect of isolation on the flags of a page that is off its list already.
    pub(super) fn isolate(&mut self, id: u32) -> Page {
        let mut page = self.pages.remove(&id).expect("it is resident");
        if !page.referenced {
            page.refs = 0;
        }
        if !self.world.new {
            page.referenced = false;
        }
        page
    }

    pub(super) fn evict(&mut self, id: u32, page: &Page) {
        let kind = usize::from(page.file);
        let (refs, tier) = self.refs_and_tier(page);
        let workingset = if self.world.new {
            page.workingset
        } else {
            refs > 0
        };
        let (seq, refs) = (self.min_seq[kind], refs.saturating_sub(1).min(3));
        self.shadows.insert(
            id,
            Shadow {
                seq,
                refs,
                workingset,
            },
        );
        self.tiers[kind][tier].total += 1;
        self.counted.of("pgsteal", page.file, 1);
    }

    pub(super) fn shrink(&mut self, priority: u32) {
        let start = self.pages.len() as u64;
        let budget = self.evictable() >> priority;
        let mut scanned = 0;
        loop {
            if self.world.new {
                if budget == 0 {
                    return;
                }
                let oldest = self
                    .kinds()
                    .map(|kind| self.min_seq[kind])
                    .min()
                    .unwrap_or(0);
                if self.max_seq - oldest < 2 || (self.max_seq - oldest == 2 && priority != 12) {
                    self.age();
                }
                if scanned >= budget {
                    return;
                }
            } else if self.should_age() && priority != 12 {
                return self.age();
            }
            let to_scan = match self.world.new {
                true => budget - scanned,
                false => self.evictable() >> priority,
            };
            if to_scan == 0 {
                return;
            }
            let delta = self.evict_folios(if self.world.new {
                to_scan.min(64)
            } else {
                4096
            });
            scanned += delta;
            let done = start - self.pages.len() as u64 >= self.world.batch();
            if delta == 0 || done || (!self.world.new && scanned >= to_scan) {
                return;
            }
        }
    }

    /// The type that is evicted first, and in 6.12 its highest tier that is evicted.
    pub(super) fn choose(&self) -> (usize, Option<usize>) {
        let swappiness = self.swappiness();
        let gain = [swappiness, 200 - swappiness];
        if swappiness == 0 {
            return (FILE, None);
        }
        if !self.world.new && self.min_seq[ANON] < self.min_seq[FILE] {
            return (ANON, None);
        }
        if swappiness == 1 {
            return (FILE, None);
        }
        if swappiness == 200 {
            return (ANON, None);
        }
        let tiers = if self.world.new { 0..4 } else { 0..1 };
        let anon = self.rate(ANON, tiers.clone(), gain[ANON]);
        let kind = usize::from(within(anon, self.rate(FILE, tiers, gain[FILE])));
        if self.world.new {
            return (kind, None);
        }
        let other = self.rate(1 - kind, 0..1, gain[1 - kind]);
        let refuses = |&tier: &usize| !within(other, self.rate(kind, tier..tier + 1, gain[kind]));
        (kind, Some((1..4).find(refuses).unwrap_or(4) - 1))
    }

    pub(super) fn highest_evicted(&self, kind: usize) -> usize {
        let (first, higher) = if self.world.new { (2, 3) } else { (1, 2) };
        let sp = self.rate(kind, 0..1, first);
        let refuses = |&tier: &usize| !within(sp, self.rate(kind, tier..tier + 1, higher));
        (1..4).find(refuses).unwrap_or(4) - 1
    }

    pub(super) fn evict_folios(&mut self, most: u64) -> u64 {
        if self.world.new {
            self.try_to_inc_min_seq();
        }
        let (mut kind, mut tier) = self.choose();
        let (mut isolated, mut scanned) = (vec![], 0);
        for _ in self.kinds() {
            let highest = tier.unwrap_or_else(|| self.highest_evicted(kind));
            let here = self.scan(kind, highest, most, &mut isolated);
            scanned += here;
            if !isolated.is_empty() || (here > 0 && !self.world.new) {
                break;
            }
            // 7.3: a type with a page to sort is scanned once more, before the other type.
            if here == 0 {
                kind = 1 - kind;
            }
            tier = None;
        }
        let moved = self.try_to_inc_min_seq();
        if !self.world.new {
            scanned += u64::from(moved);
            if self.generations(*self.kinds().start()) == 2 {
                scanned = 0;
            }
        }
        for (id, mut page) in isolated {
            if self.is_spared(&mut page) {
                self.put_back(id, page);
            } else {
                self.evict(id, &page);
            }
        }
        scanned
    }

    pub(super) fn scan(
        &mut self,
        kind: usize,
        highest: usize,
        most: u64,
        out: &mut Vec<(u32, Page)>,
    ) -> u64 {
        if self.generations(kind) == 2 {
            return 0;
        }
        let (oldest, new) = (self.min_seq[kind], self.world.new);
        let mut scanned = 0;
        while scanned < most && out.len() < 64 && !self.list(kind, oldest).is_empty() {
            let id = self.list(kind, oldest).remove(0);
            scanned += 1;
            let page = self.page(id).clone();
            if page.seq != oldest {
                self.counted.add("pgrefill", 1);
                self.list(kind, page.seq).push(id);
                continue;
            }
            let (refs, tier) = self.refs_and_tier(&page);
            // A page with the highest count of accesses is protected whatever its tier.
            let often = match new {
                true => refs + u64::from(page.workingset) == 5,
                false => refs == 4,
            };
            if tier > highest || often {
                self.counted.add("pgrefill", 1);
                let seq = self.protect(id, oldest);
                match new {
                    true => self.list(kind, seq).push(id),
                    false => self.list(kind, seq).insert(0, id),
                }
                self.tiers[kind][tier].total += u64::from(!(new && often));
                continue;
            }
            self.counted.add("pgscan", 1);
            let page = self.isolate(id);
            out.push((id, page));
        }
        match new {
            false if out.is_empty() && scanned < most => 0,
            _ => scanned,
        }
    }

    /// Whether a page is young since aging and therefore stays.
    pub(super) fn is_spared(&mut self, page: &mut Page) -> bool {
        let young = std::mem::replace(&mut page.young, false);
        if !self.world.new {
            page.referenced = young;
            return young;
        }
        if !young {
            return false;
        }
        if !page.referenced && !page.workingset {
            if page.exec && page.file {
                page.workingset = true;
                page.active = true;
            } else {
                page.refs = 0;
                page.referenced = true;
            }
            return true;
        }
        if page.referenced && page.refs >= 1 {
            page.referenced = false;
            page.workingset = true;
            page.refs = 0;
        } else if !page.referenced {
            page.referenced = true;
            page.refs = 0;
        } else {
            page.refs += 1;
        }
        page.active = true;
        true
    }

    pub(super) fn put_back(&mut self, id: u32, mut page: Page) {
        let oldest = self.min_seq[usize::from(page.file)];
        if !self.world.new || self.seq_for(&page) == oldest {
            page.referenced = false;
            page.workingset = false;
            page.refs = 0;
            page.active = true;
        }
        self.add(id, page);
    }
}
