//! /proc/buddyinfo: free blocks by zone and order (mm/vmstat.c, `frag_show_print`).
use crate::parse::reused::Reused;
use crate::parse::text::{self, Name};
use crate::ErrorKind;

/// More orders than any configuration of the kernel has.
const MOST_ORDERS: usize = 64;

/// One zone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ZoneBlocks {
    pub node: u32,
    pub zone: Name,
    /// Free blocks of each order, 0 first. 11 orders on most kernels; the number is a build option.
    pub blocks: Vec<u64>,
}

/// /proc/buddyinfo: the populated zones in the kernel's order.
#[derive(Clone, Debug, Default)]
pub struct Buddyinfo {
    pub zones: Reused<ZoneBlocks>,
}

impl Buddyinfo {
    /// Reads the text of /proc/buddyinfo.
    ///
    /// # Errors
    /// Malformed text, or zones that do not have the same number of orders.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), ErrorKind> {
        self.zones.clear();
        let mut orders = None;
        for (line, bytes) in text::lines(bytes)? {
            let malformed = |problem| ErrorKind::Malformed { line, problem };
            let (node, name, mut rest) =
                text::node_and_zone(bytes).ok_or(malformed("not a node and a zone"))?;
            let zone = self.zones.grow();
            zone.node = node;
            zone.zone = name;
            zone.blocks.clear();
            loop {
                let (digits, after) = text::word(rest);
                rest = after;
                if digits.is_empty() {
                    break;
                }
                if zone.blocks.len() == MOST_ORDERS {
                    return Err(malformed("more orders than the kernel has"));
                }
                let count = text::number(digits).ok_or(malformed("not a number of blocks"))?;
                zone.blocks.push(count);
            }
            let count = zone.blocks.len();
            if count == 0 || *orders.get_or_insert(count) != count {
                return Err(malformed("not as many orders as the other zones have"));
            }
        }
        Ok(())
    }

    /// Number of orders; 0 when nothing was read.
    #[must_use]
    pub fn orders(&self) -> usize {
        self.zones.first().map_or(0, |zone| zone.blocks.len())
    }

    pub fn clear(&mut self) {
        self.zones.clear();
    }
}
