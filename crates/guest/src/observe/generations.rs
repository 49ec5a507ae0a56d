//! MGLRU's generations, as debugfs shows them.

pub const FILE: &str = "/sys/kernel/debug/lru_gen";

/// A cgroup's generations on a memory node.
#[derive(Debug, PartialEq)]
pub struct Generations {
    pub memcg: u64,
    pub node: u32,
    /// Numbers of the generations, oldest first.
    pub numbers: Vec<u64>,
}

/// The most generations that a cgroup has; none where MGLRU does not run.
pub fn most() -> Option<usize> {
    let caps = std::fs::read_to_string("/sys/kernel/mm/lru_gen/enabled").ok()?;
    let caps = u32::from_str_radix(caps.trim().strip_prefix("0x")?, 16).ok()?;
    (caps & 1 == 1).then_some(())?;
    let text = crate::kernel_files::read(FILE).ok()?;
    parse(&text).iter().map(|it| it.numbers.len()).max()
}

/// Parses lru_gen: `memcg ID PATH`, below it ` node N`, below that a line for each generation. The line
/// has the generation's number, age in milliseconds, and pages by type.
pub fn parse(text: &str) -> Vec<Generations> {
    let mut all: Vec<Generations> = Vec::new();
    let mut memcg = 0;
    for line in text.lines() {
        let mut fields = line.split_whitespace();
        match (fields.next(), fields.next()) {
            (Some("memcg"), Some(id)) => memcg = id.parse().unwrap_or_default(),
            (Some("node"), Some(node)) => all.push(Generations {
                memcg,
                node: node.parse().unwrap_or_default(),
                numbers: Vec::new(),
            }),
            (Some(number), Some(_)) => {
                if let (Ok(number), Some(it)) = (number.parse(), all.last_mut()) {
                    it.numbers.push(number);
                }
            }
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_are_shown_by_cgroup_and_node() {
        let text = "memcg     1 /\n node     0\n          7      14020          0           0 \n          \
                    8        320        511        1203 \nmemcg    23 /work\n node     0\n          2 \
                    9000          4           0 \n";
        let it = |memcg, numbers: &[u64]| Generations {
            memcg,
            node: 0,
            numbers: numbers.to_vec(),
        };
        assert_eq!(parse(text), [it(1, &[7, 8]), it(23, &[2])]);
    }
}
