//! Accesses to resident pages and to pages that are not resident.
use super::lruvec::{order_base_2, Lruvec, Page, Shadow};
use crate::slow::linux::World;
use trace::Flags;

impl Lruvec {
    /// read()
    pub(super) fn inc_refs(&mut self, id: u32) {
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

    pub(super) fn access(&mut self, id: u32, flags: Flags) {
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
                // read() marks the page before the page is on a list.
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

    pub(super) fn refault(&mut self, page: &mut Page, shadow: &Shadow, mapped: bool) {
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
}
