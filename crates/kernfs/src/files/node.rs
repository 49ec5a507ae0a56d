//! Files of /sys/devices/system/node/nodeN (drivers/base/node.c), and a node's huge page pools.
use crate::files::meminfo;
use crate::files::vmstat::Vmstat;
use crate::parse::fields::fields;
use crate::parse::text;
use crate::ErrorKind;

fields! {
    /// nodeN/meminfo, in KiB, but `HugePages_*`.
    NodeMeminfo {
        mem_total = "MemTotal",
        mem_free = "MemFree",
        mem_used = "MemUsed",
        active_anon = "Active(anon)",
        inactive_anon = "Inactive(anon)",
        active_file = "Active(file)",
        inactive_file = "Inactive(file)",
        dirty = "Dirty",
        writeback = "Writeback",
        file_pages = "FilePages",
        anon_pages = "AnonPages",
        shmem = "Shmem",
        slab = "Slab",
        s_reclaimable = "SReclaimable",
        s_unreclaim = "SUnreclaim",
        kernel_stack = "KernelStack",
        page_tables = "PageTables",
        /// Huge pages of the default size.
        huge_pages_total = "HugePages_Total",
        huge_pages_free = "HugePages_Free",
    }
}

impl NodeMeminfo {
    /// Reads the text of node `id`'s meminfo.
    ///
    /// # Errors
    /// Malformed text, another node's lines, or a text that ends before the fields that every kernel has.
    pub fn parse(&mut self, id: u32, bytes: &[u8]) -> Result<(), ErrorKind> {
        meminfo::parse(&mut self.fields, bytes, |line| {
            let (digits, rest) = text::word(line.strip_prefix(b"Node ")?);
            (text::number(digits)? == u64::from(id)).then(|| text::trim_start(rest))
        })?;
        let missing = "MemTotal";
        self.mem_total().ok_or(ErrorKind::Truncated { missing })?;
        Ok(())
    }
}

fields! {
    /// nodeN/numastat: pages since boot.
    Numastat {
        numa_hit = "numa_hit",
        numa_miss = "numa_miss",
        numa_foreign = "numa_foreign",
        interleave_hit = "interleave_hit",
        local_node = "local_node",
        other_node = "other_node",
    }
}

impl Numastat {
    /// Reads the text of numastat.
    ///
    /// # Errors
    /// Malformed or empty text.
    pub fn parse(&mut self, text: &[u8]) -> Result<(), ErrorKind> {
        self.fields.parse_lines(text)
    }
}

/// The files of one node.
#[derive(Clone, Debug, Default)]
pub struct NodeFiles {
    pub id: u32,
    pub meminfo: NodeMeminfo,
    pub vmstat: Vmstat,
    pub numastat: Numastat,
}

/// The nodes of a list such as `0,2-3`, ascending.
///
/// # Errors
/// Malformed text, or a range that goes down.
pub fn parse_list(bytes: &[u8], nodes: &mut Vec<u32>) -> Result<(), ErrorKind> {
    /// MAX_NUMNODES is at most 2^10.
    const MOST: u32 = 1 << 12;
    nodes.clear();
    let malformed = ErrorKind::Malformed {
        line: 1,
        problem: "not a list of nodes such as 0,2-3",
    };
    for part in text::trim(bytes).split(|&byte| byte == b',') {
        let dash = part.iter().position(|&byte| byte == b'-');
        let (from, to) = match dash {
            Some(at) => (&part[..at], &part[at + 1..]),
            None => (part, part),
        };
        let node = |digits| text::number(digits).and_then(|id| u32::try_from(id).ok());
        let (from, to) = node(from).zip(node(to)).ok_or(malformed)?;
        if from > to || to > MOST || nodes.last().is_some_and(|last| *last >= from) {
            return Err(malformed);
        }
        nodes.extend(from..=to);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_nodes_is_ascending_numbers_and_ranges() {
        let mut nodes = Vec::new();
        parse_list(b"0,2-3\n", &mut nodes).unwrap();
        assert_eq!(nodes, [0, 2, 3]);
        for text in [&b""[..], b"a", b"3-1", b"0-99999999", b"1,1", b"0,\n"] {
            assert!(parse_list(text, &mut nodes).is_err());
        }
    }

    #[test]
    fn lines_of_another_node_are_refused() {
        let mut meminfo = NodeMeminfo::default();
        let text = b"Node 4 MemTotal:       100 kB\nNode 4 HugePages_Total:   3\n";
        meminfo.parse(4, text).unwrap();
        assert_eq!(meminfo.mem_total(), Some(100));
        assert_eq!(meminfo.huge_pages_total(), Some(3));
        assert!(meminfo.parse(1, text).is_err());
    }
}
