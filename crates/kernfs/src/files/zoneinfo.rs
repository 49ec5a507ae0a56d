//! /proc/zoneinfo: watermarks and pages by zone, LRU lists by node (mm/vmstat.c,
//! `zoneinfo_show_print`).
use crate::parse::fields::fields;
use crate::parse::reused::Reused;
use crate::parse::text::{self, Name};
use crate::ErrorKind;
use watermarks::Watermarks;

/// Zones that lowmem_reserve can name: DMA, DMA32, Normal, HighMem, Movable, Device.
const MOST_ZONES: usize = 8;

fields! {
    /// `per-node stats`: pages, or events since boot.
    NodeStats {
        nr_inactive_anon = "nr_inactive_anon",
        nr_active_anon = "nr_active_anon",
        nr_inactive_file = "nr_inactive_file",
        nr_active_file = "nr_active_file",
        nr_unevictable = "nr_unevictable",
        nr_slab_reclaimable = "nr_slab_reclaimable",
        nr_slab_unreclaimable = "nr_slab_unreclaimable",
        nr_anon_pages = "nr_anon_pages",
        nr_file_pages = "nr_file_pages",
        nr_dirty = "nr_dirty",
        nr_writeback = "nr_writeback",
        nr_shmem = "nr_shmem",
        nr_swapcached = "nr_swapcached",
        nr_kernel_misc_reclaimable = "nr_kernel_misc_reclaimable",
        /// From 6.0 on; a zone's number before.
        nr_page_table_pages = "nr_page_table_pages",
        workingset_refault_whole = "workingset_refault",
        workingset_refault_anon = "workingset_refault_anon",
        workingset_refault_file = "workingset_refault_file",
        /// By node in late kernels (7.3), of the whole machine in vmstat before.
        pgsteal_kswapd = "pgsteal_kswapd",
        pgsteal_direct = "pgsteal_direct",
        pgsteal_khugepaged = "pgsteal_khugepaged",
        pgsteal_proactive = "pgsteal_proactive",
    }
}

fields! {
    /// One zone's numbers, in pages.
    ZoneFields {
        free = "free",
        boost = "boost",
        min = "min",
        low = "low",
        high = "high",
        promo = "promo",
        spanned = "spanned",
        present = "present",
        managed = "managed",
        cma = "cma",
        nr_free_pages = "nr_free_pages",
        nr_zone_inactive_anon = "nr_zone_inactive_anon",
        nr_zone_active_anon = "nr_zone_active_anon",
        nr_zone_inactive_file = "nr_zone_inactive_file",
        nr_zone_active_file = "nr_zone_active_file",
        nr_mlock = "nr_mlock",
        nr_free_cma = "nr_free_cma",
        node_unreclaimable = "node_unreclaimable",
        start_pfn = "start_pfn",
        nr_reserved_highatomic = "reserved_highatomic",
        nr_free_highatomic = "free_highatomic",
    }
}

/// One zone; pages.
#[derive(Clone, Debug, Default)]
pub struct Zone {
    pub node: u32,
    pub name: Name,
    pub free: u64,
    /// Added to the three watermarks for a while after a fallback (from 5.0 on, shown from 5.17 on).
    pub boost: u64,
    pub watermarks: Watermarks,
    pub spanned: u64,
    pub present: u64,
    pub managed: u64,
    /// All fields of the zone, those above included.
    pub all: ZoneFields,
    protection: [u64; MOST_ZONES],
    zones: usize,
}

impl Zone {
    /// An unpopulated zone has no pages and no `pagesets`.
    #[must_use]
    pub fn is_populated(&self) -> bool {
        self.present > 0
    }

    /// lowmem_reserve: pages kept from allocations that could come from each higher zone.
    #[must_use]
    pub fn protection(&self) -> &[u64] {
        &self.protection[..self.zones]
    }
}

/// One node's `per-node stats`.
#[derive(Clone, Debug, Default)]
pub struct NodeBlock {
    pub id: u32,
    pub stats: NodeStats,
}

/// /proc/zoneinfo: all zones, unpopulated ones too, and the statistics of nodes.
#[derive(Clone, Debug, Default)]
pub struct Zoneinfo {
    pub zones: Reused<Zone>,
    pub nodes: Reused<NodeBlock>,
}

/// The subject of the lines that follow.
#[derive(Clone, Copy, PartialEq)]
enum Section {
    Node,
    Zone,
    Pagesets,
}

impl Zoneinfo {
    pub fn clear(&mut self) {
        self.zones.clear();
        self.nodes.clear();
    }

    /// Reads the text of /proc/zoneinfo.
    ///
    /// # Errors
    /// Malformed text, or a zone that ends before its watermarks.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), ErrorKind> {
        self.clear();
        let mut section = None;
        let mut lines = text::lines(bytes)?;
        loop {
            let expected = match section {
                Some(Section::Node) => self.nodes.last_mut().map(|block| &mut block.stats.fields),
                Some(Section::Zone) => self.zones.last_mut().map(|zone| &mut zone.all.fields),
                Some(Section::Pagesets) | None => None,
            };
            if let Some(fields) = expected {
                while fields.take_indented(&mut lines) {}
            }
            let Some((line, bytes)) = lines.next() else {
                break;
            };
            let malformed = |problem| ErrorKind::Malformed { line, problem };
            if bytes.starts_with(b"Node ") {
                // A zone ends where the next begins. No other line is sure to be there.
                self.finish_zone(section)?;
                let (node, name, rest) =
                    text::node_and_zone(bytes).ok_or(malformed("not a node and a zone"))?;
                if !rest.is_empty() {
                    return Err(malformed("more than a node and a zone"));
                }
                let zone = self.zones.grow();
                (zone.node, zone.name, zone.zones) = (node, name, 0);
                zone.all.fields.begin();
                section = Some(Section::Zone);
                continue;
            }
            let now = section.ok_or(malformed("no node and zone before it"))?;
            let next = self.line(now, bytes).map_err(malformed)?;
            if now == Section::Node && next != Section::Node {
                self.finish_node();
            }
            section = Some(next);
        }
        self.finish_zone(section)
    }

    /// One line that is no heading of a zone; the section that the next one is in.
    fn line(&mut self, section: Section, bytes: &[u8]) -> Result<Section, &'static str> {
        const FORM: &str = "not a name and a number";
        let (name, rest) = text::word(bytes);
        let (value, after) = text::word(rest);
        let zone = self.zones.last_mut().ok_or("no zone before it")?;
        match name {
            b"" => return Ok(section),
            // Kernels 4.14 to 4.19 hide nr_indirectly_reclaimable: they print a number without a name.
            _ if value.is_empty() && text::number(name).is_some() => return Ok(section),
            b"per-node" => {
                let node = zone.node;
                let block = self.nodes.grow();
                block.id = node;
                block.stats.fields.begin();
                return Ok(Section::Node);
            }
            b"pages" if value == b"free" => {
                let free = text::number(text::word(after).0).ok_or(FORM)?;
                zone.all.fields.put(b"free", free)?;
                return Ok(Section::Zone);
            }
            b"pagesets" => return Ok(Section::Pagesets),
            b"protection:" => {
                let line = bytes.iter().position(|&byte| byte == b'(');
                zone.set_protection(&bytes[line.ok_or("protection without its list")? + 1..])?;
                return Ok(section);
            }
            _ => (),
        }
        match section {
            Section::Node => {
                let block = self.nodes.last_mut().ok_or("no node before it")?;
                let value = text::number(value).ok_or(FORM)?;
                block.stats.fields.put(name, value)?;
            }
            Section::Zone => {
                let value = text::number(value).ok_or(FORM)?;
                let name = name.strip_suffix(b":").unwrap_or(name);
                zone.all.fields.put(name, value)?;
            }
            // A line of a CPU lies deeper, or is `  vm stats threshold: N`; all that follows the
            // CPUs is indented by two.
            Section::Pagesets => {
                let after_cpus = !bytes.starts_with(b"   ") && name != b"vm";
                if let (true, Some(name)) = (after_cpus, name.strip_suffix(b":")) {
                    let value = text::number(value).ok_or(FORM)?;
                    zone.all.fields.put(name, value)?;
                }
            }
        }
        Ok(section)
    }

    fn finish_node(&mut self) {
        if let Some(block) = self.nodes.last_mut() {
            block.stats.fields.end();
        }
    }

    fn finish_zone(&mut self, section: Option<Section>) -> Result<(), ErrorKind> {
        if section == Some(Section::Node) {
            self.finish_node();
        }
        let Some(zone) = self.zones.last_mut() else {
            // This is the first zone, or there is none at all.
            return Ok(());
        };
        zone.all.fields.end();
        let all = &zone.all;
        let or = |value: Option<u64>, missing| value.ok_or(ErrorKind::Truncated { missing });
        zone.free = or(all.free(), "a zone's free pages")?;
        zone.watermarks = Watermarks {
            min: or(all.min(), "a zone's min watermark")?,
            low: or(all.low(), "a zone's low watermark")?,
            high: or(all.high(), "a zone's high watermark")?,
        };
        zone.present = or(all.present(), "a zone's present pages")?;
        zone.managed = or(all.managed(), "a zone's managed pages")?;
        zone.spanned = all.spanned().unwrap_or(zone.present);
        zone.boost = all.boost().unwrap_or(0);
        Ok(())
    }
}

impl Zone {
    /// `0, 2991, 7971)`.
    fn set_protection(&mut self, list: &[u8]) -> Result<(), &'static str> {
        let list = list
            .strip_suffix(b")")
            .ok_or("protection without its end")?;
        self.zones = 0;
        for part in list.split(|&byte| byte == b',') {
            let slot = self.protection.get_mut(self.zones);
            let slot = slot.ok_or("more zones than the kernel has")?;
            *slot = text::number(text::trim(part)).ok_or("protection that is no number")?;
            self.zones += 1;
        }
        Ok(())
    }
}
