//! Linux's multi-gen LRU once more, of 6.12 and of 7.3: a generation is a vector, the oldest page
//! first, found by its sequence number, and what is counted is counted anew each time.
use super::linux::{Counted, World};
use std::collections::BTreeMap;
use trace::Flags;

#[derive(Clone, Default)]
struct Page {
    file: bool,
    exec: bool,
    active: bool,
    referenced: bool,
    workingset: bool,
    young: bool,
    /// LRU_REFS
    refs: u64,
    /// The generation that its flags name; its list may be an older one.
    seq: u64,
}

struct Shadow {
    seq: u64,
    refs: u64,
    workingset: bool,
}

/// Refaulted and total, of one tier or of several, and the gain.
type Rate = (u64, u64, u64);

#[derive(Clone, Copy, Default)]
struct Tier {
    refaulted: u64,
    /// Evicted or protected.
    total: u64,
    old_refaulted: u64,
    old_total: u64,
}

#[derive(Default)]
struct Lruvec {
    world: World,
    max_seq: u64,
    min_seq: [u64; 2],
    /// By type and sequence number.
    lists: BTreeMap<(usize, u64), Vec<u32>>,
    pages: BTreeMap<u32, Page>,
    shadows: BTreeMap<u32, Shadow>,
    tiers: [[Tier; 4]; 2],
    counted: Counted,
}

const ANON: usize = 0;
const FILE: usize = 1;

/// The least power of two that is not below `n`, as an exponent.
fn order_base_2(n: u64) -> usize {
    (0..).find(|&order| 1 << order >= n).unwrap_or(0)
}

/// `pv` may be evicted: it refaults hardly ever, or no more often than `sp`, each by its gain.
fn within(sp: Rate, pv: Rate) -> bool {
    pv.0 < 64 || pv.0 * (sp.1 + 64) * sp.2 <= (sp.0 + 1) * pv.1 * pv.2
}

impl Lruvec {
    fn new(world: &World) -> Lruvec {
        Lruvec {
            world: world.clone(),
            max_seq: world.generations.min(4) - 1,
            ..Lruvec::default()
        }
    }

    fn list(&mut self, kind: usize, seq: u64) -> &mut Vec<u32> {
        self.lists.entry((kind, seq)).or_default()
    }

    fn page(&mut self, id: u32) -> &mut Page {
        self.pages.get_mut(&id).expect("it is resident")
    }

    /// The types that may be evicted.
    fn kinds(&self) -> std::ops::RangeInclusive<usize> {
        let only_files = !self.world.swap || self.world.swappiness == 0;
        usize::from(only_files)..=FILE
    }

    fn swappiness(&self) -> u64 {
        self.world.swappiness * u64::from(self.world.swap)
    }

    /// Pages of a type whose flags name a generation.
    fn in_generation(&self, kind: usize, seq: u64) -> u64 {
        let of = |page: &&Page| usize::from(page.file) == kind && page.seq == seq;
        self.pages.values().filter(of).count() as u64
    }

    fn evictable(&self) -> u64 {
        let kinds = self.kinds();
        let of = |page: &&Page| kinds.contains(&usize::from(page.file));
        self.pages.values().filter(of).count() as u64
    }

    fn generations(&self, kind: usize) -> u64 {
        self.max_seq - self.min_seq[kind] + 1
    }

    fn rate(&self, kind: usize, tiers: std::ops::Range<usize>, gain: u64) -> Rate {
        let tiers = &self.tiers[kind][tiers];
        (
            tiers.iter().map(|t| t.refaulted + t.old_refaulted).sum(),
            tiers.iter().map(|t| t.total + t.old_total).sum(),
            gain,
        )
    }

    /// A generation of the type is done with.
    fn next_min_seq(&mut self, kind: usize, seq: u64) {
        for tier in &mut self.tiers[kind] {
            *tier = Tier {
                old_refaulted: (tier.refaulted + tier.old_refaulted) / 2,
                old_total: (tier.total + tier.old_total) / 2,
                ..Tier::default()
            };
        }
        self.min_seq[kind] = seq;
    }

    /// Accesses through descriptors, and the tier.
    fn refs_and_tier(&self, page: &Page) -> (u64, usize) {
        if self.world.new {
            let refs = if page.referenced { page.refs + 1 } else { 0 };
            let tier = if page.workingset {
                3
            } else {
                order_base_2(refs)
            };
            (refs, tier)
        } else {
            let refs = page.refs + u64::from(page.workingset);
            (refs, order_base_2(refs + 1))
        }
    }

    /// read()
    fn inc_refs(&mut self, id: u32) {
        let new = self.world.new;
        let page = self.page(id);
        if !page.referenced {
            page.referenced = true;
            if new {
                page.refs = 0;
            }
        } else if new && page.refs == 3 || !new && !page.workingset {
            page.workingset = true;
        } else if page.refs < 3 {
            page.refs += 1;
        }
    }

    fn seq_for(&self, page: &Page) -> u64 {
        let (kind, oldest) = (usize::from(page.file), self.min_seq[usize::from(page.file)]);
        if self.world.new {
            let back = match (page.active, kind) {
                (true, _) if page.workingset => 1,
                (true, _) | (false, ANON) => 2,
                _ if page.workingset || page.referenced => self.world.generations - 1,
                _ => self.world.generations,
            };
            return oldest.max((self.max_seq + 1).saturating_sub(back));
        }
        match (page.active, kind) {
            (true, _) => self.max_seq,
            (false, ANON) => self.max_seq - 1,
            _ if self.max_seq - oldest <= 2 => oldest,
            _ => oldest + 1,
        }
    }

    /// Into the lists, at the young end.
    fn add(&mut self, id: u32, mut page: Page) {
        page.seq = self.seq_for(&page);
        if page.active && !self.world.new {
            page.referenced = false;
            page.refs = 0;
        }
        page.active = false;
        self.list(usize::from(page.file), page.seq).push(id);
        self.pages.insert(id, page);
    }

    fn access(&mut self, id: u32, flags: Flags) {
        let mapped = World::is_mapped(flags);
        let missed = !self.pages.contains_key(&id);
        if missed {
            self.counted.add("misses", 1);
            if self.pages.len() == self.world.size {
                self.reclaim();
            }
            let mut page = Page {
                file: !flags.has(Flags::ANON),
                exec: flags.has(Flags::EXEC),
                ..Page::default()
            };
            if let Some(shadow) = self.shadows.remove(&id) {
                self.refault(&mut page, &shadow, mapped);
            }
            page.active = mapped;
            if self.world.new && !mapped {
                // read() marks it before it is on a list.
                page.referenced = true;
                page.refs = 0;
            }
            self.add(id, page);
        }
        if mapped {
            self.page(id).young = true;
        } else if !(missed && self.world.new) {
            self.inc_refs(id);
        }
    }

    fn refault(&mut self, page: &mut Page, shadow: &Shadow, mapped: bool) {
        let kind = usize::from(page.file);
        self.counted.of("workingset_refault", page.file, 1);
        if self.world.new {
            if self.max_seq - shadow.seq >= 4 {
                return;
            }
            let tier = if shadow.workingset {
                3
            } else {
                order_base_2(shadow.refs + 1)
            };
            self.tiers[kind][tier].refaulted += 1;
            page.workingset = shadow.workingset;
            if shadow.workingset {
                self.counted
                    .of("workingset_activate", page.file, u64::from(mapped));
                self.counted.of("workingset_restore", page.file, 1);
            } else {
                page.refs = shadow.refs;
            }
            return;
        }
        if shadow.seq != self.min_seq[kind] {
            return;
        }
        let refs = shadow.refs + u64::from(shadow.workingset);
        self.tiers[kind][order_base_2(refs + 1)].refaulted += 1;
        self.counted.of("workingset_activate", page.file, 1);
        if mapped || refs >= 3 {
            page.workingset = true;
            page.refs = 3;
            self.counted.of("workingset_restore", page.file, 1);
        }
    }

    fn evict(&mut self, id: u32, page: &Page) {
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

    fn reclaim(&mut self) {
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

    /// Off its list already: what isolation does to its flags.
    fn isolate(&mut self, id: u32) -> Page {
        let mut page = self.pages.remove(&id).expect("it is resident");
        if !page.referenced {
            page.refs = 0;
        }
        if !self.world.new {
            page.referenced = false;
        }
        page
    }

    fn shrink(&mut self, priority: u32) {
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

    /// 6.12: two generations, or three that are badly spread.
    fn should_age(&self) -> bool {
        let kinds = self.kinds();
        let oldest = self.min_seq[*kinds.start()];
        let of = |seq: u64| {
            kinds
                .clone()
                .map(|kind| self.in_generation(kind, seq))
                .sum::<u64>()
        };
        match self.max_seq - oldest {
            0 | 1 => true,
            2 => {
                // A type may have generations that the first one is done with: those are not asked.
                let all = self.evictable();
                let old = kinds
                    .clone()
                    .filter(|&kind| self.min_seq[kind] <= self.max_seq - 2);
                let old: u64 = old
                    .map(|kind| self.in_generation(kind, self.max_seq - 2))
                    .sum();
                of(self.max_seq) * 2 > all || old * 4 < all
            }
            _ => false,
        }
    }

    fn age(&mut self) {
        self.counted.add("generations_begun", 1);
        let (max_seq, new) = (self.max_seq, self.world.new);
        for page in self.pages.values_mut().filter(|page| page.young) {
            page.young = false;
            let used = page.referenced || page.workingset;
            page.refs = 0;
            if new && !used && !(page.exec && page.file) {
                page.referenced = true;
                continue;
            }
            page.referenced = false;
            page.workingset = new;
            page.seq = max_seq;
        }
        for kind in [FILE, ANON] {
            if self.generations(kind) == self.world.generations {
                let oldest = self.min_seq[kind];
                for id in std::mem::take(self.list(kind, oldest)) {
                    let seq = self.protect(id, oldest);
                    self.list(kind, seq).insert(0, id);
                }
                self.next_min_seq(kind, oldest + 1);
            }
        }
        self.max_seq += 1;
    }

    /// A page of the oldest generation goes up by one, unless its flags say more; where to?
    fn protect(&mut self, id: u32, oldest: u64) -> u64 {
        let page = self.page(id);
        if page.seq == oldest {
            page.seq += 1;
            page.refs = 0;
            page.referenced = false;
            page.workingset = false;
        }
        page.seq
    }

    /// Generations that are empty are done with.
    fn try_to_inc_min_seq(&mut self) -> bool {
        let before = self.min_seq;
        let mut after = before;
        for kind in self.kinds() {
            while self.max_seq - after[kind] >= 2 && self.list(kind, after[kind]).is_empty() {
                after[kind] += 1;
            }
        }
        if *self.kinds().start() == ANON {
            if self.world.new {
                let last = self.max_seq - 2;
                if after[ANON] > last && after[FILE] < last {
                    after[ANON] = last;
                } else if after[FILE] > last && after[ANON] < last {
                    after[FILE] = last;
                }
            } else {
                after[ANON] = after[ANON].min(after[FILE]);
                after[FILE] = after[ANON].max(before[FILE]);
            }
        }
        let mut moved = false;
        for kind in self.kinds() {
            if after[kind] > before[kind] {
                self.next_min_seq(kind, after[kind]);
                moved = true;
            }
        }
        moved
    }

    /// The type that is evicted first, and in 6.12 its highest tier that is evicted.
    fn choose(&self) -> (usize, Option<usize>) {
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

    fn highest_evicted(&self, kind: usize) -> usize {
        let (first, higher) = if self.world.new { (2, 3) } else { (1, 2) };
        let sp = self.rate(kind, 0..1, first);
        let refuses = |&tier: &usize| !within(sp, self.rate(kind, tier..tier + 1, higher));
        (1..4).find(refuses).unwrap_or(4) - 1
    }

    fn evict_folios(&mut self, most: u64) -> u64 {
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
            // 7.3: what had something to sort is asked once more, not the other.
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

    fn scan(&mut self, kind: usize, highest: usize, most: u64, out: &mut Vec<(u32, Page)>) -> u64 {
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
            // What was accessed as often as can be told has earned it without its tier.
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

    /// Young since aging: it stays.
    fn is_spared(&mut self, page: &mut Page) -> bool {
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

    fn put_back(&mut self, id: u32, mut page: Page) {
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

/// Misses and what the kernel counts.
pub fn multi_gen(ids: &[u32], flags: &[Flags], world: &World) -> Counted {
    let mut lruvec = Lruvec::new(world);
    for (&id, &flags) in ids.iter().zip(flags) {
        lruvec.access(id, flags);
    }
    lruvec.counted
}
