//! MGLRU: /sys/kernel/mm/lru_gen and the generations in debugfs (mm/vmscan.c, `lru_gen_seq_show`).
use crate::parse::reused::Reused;
use crate::parse::text;
use crate::ErrorKind;

/// /sys/kernel/mm/lru_gen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LruGen {
    /// Bits of `enabled`: 1 the algorithm itself, 2 walks of page tables, 4 of non-leaf entries.
    /// `None` where the kernel has no MGLRU.
    pub enabled: Option<u32>,
    /// Milliseconds that a working set is kept before an OOM kill.
    pub min_ttl_ms: Option<u64>,
}

/// Reads the text of `enabled`, such as `0x0007`.
///
/// # Errors
/// The text is not such a number.
pub fn parse_enabled(bytes: &[u8]) -> Result<u32, ErrorKind> {
    let malformed = ErrorKind::Malformed {
        line: 1,
        problem: "not a number such as 0x0007",
    };
    let digits = text::trim(bytes).strip_prefix(b"0x").ok_or(malformed)?;
    let digits = std::str::from_utf8(digits).map_err(|_| malformed)?;
    if digits.starts_with('+') {
        return Err(malformed);
    }
    u32::from_str_radix(digits, 16).map_err(|_| malformed)
}

/// One generation of one memory cgroup on one node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generation {
    pub memcg: u64,
    pub node: u32,
    /// The generation's number; the youngest generation has the highest.
    pub seq: u64,
    pub age_ms: u64,
    /// Pages.
    pub anon: u64,
    pub file: u64,
}

/// debugfs' lru_gen: all generations, oldest first within each cgroup and node.
#[derive(Clone, Debug, Default)]
pub struct Generations {
    pub list: Reused<Generation>,
}

impl Generations {
    /// Reads the text of lru_gen.
    ///
    /// # Errors
    /// Malformed text, or a generation without its cgroup or node.
    pub fn parse(&mut self, bytes: &[u8]) -> Result<(), ErrorKind> {
        self.list.clear();
        if bytes.is_empty() {
            // MGLRU has no lists at all.
            return Ok(());
        }
        let (mut memcg, mut node) = (None, None);
        for (line, bytes) in text::lines(bytes)? {
            let malformed = |problem| ErrorKind::Malformed { line, problem };
            let (first, rest) = text::word(bytes);
            let (second, rest) = text::word(rest);
            match first {
                b"memcg" => {
                    memcg = Some(text::number(second).ok_or(malformed("a cgroup without id"))?);
                    node = None;
                }
                b"node" => {
                    let id = text::number(second).and_then(|id| id.try_into().ok());
                    node = Some(id.ok_or(malformed("a node without id"))?);
                }
                _ => {
                    let problem = "not a generation's number, age and pages";
                    let (anon, rest) = text::word(rest);
                    let (file, _) = text::word(rest);
                    // In lru_gen_full, `x` marks a count that is no longer kept up to date.
                    let pages = |word: &[u8]| text::number(word.strip_suffix(b"x").unwrap_or(word));
                    let numbers = [
                        text::number(first),
                        text::number(second),
                        pages(anon),
                        pages(file),
                    ];
                    let [Some(seq), Some(age_ms), Some(anon), Some(file)] = numbers else {
                        return Err(malformed(problem));
                    };
                    let (memcg, node) = memcg.zip(node).ok_or(malformed("no node before it"))?;
                    *self.list.grow() = Generation {
                        memcg,
                        node,
                        seq,
                        age_ms,
                        anon,
                        file,
                    };
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_switch_is_a_hexadecimal_number() {
        assert_eq!(parse_enabled(b"0x0007\n"), Ok(7));
        for text in [&b"7\n"[..], b"0x\n", b"0x+7\n", b"0x1ffffffff\n", b""] {
            assert!(parse_enabled(text).is_err());
        }
    }

    #[test]
    fn each_generation_has_its_cgroup_and_node() {
        let text = b"memcg     1 /\n node     0\n          5      12345        100       2000 \n\
                     \x20         6        345          7          0x\n\
                     memcg    12 /user.slice/a b\n node     3\n          1          0          0          9 \n";
        let mut found = Generations::default();
        found.parse(text).unwrap();
        assert_eq!(found.list.len(), 3);
        let last = found.list[2];
        assert_eq!((last.memcg, last.node, last.file), (12, 3, 9));
        assert_eq!(found.list[1].file, 0);
        assert!(found.parse(b" 5 1 1 1\n").is_err());
        assert!(found.parse(b"memcg 1 /\n 5 1 1 1\n").is_err());
    }
}
