//! MGLRU's generations, as debugfs shows them.
use anyhow::{Context, Result};

use crate::channel::{now_ms, Channel};
use crate::setup::write;

const FILE: &str = "/sys/kernel/debug/lru_gen";

/// A cgroup's generations on a memory node.
#[derive(Debug, PartialEq)]
struct Shown {
    memcg: u64,
    node: u32,
    /// Numbers of the generations, oldest first.
    numbers: Vec<u64>,
}

/// The most generations that a cgroup has; none where MGLRU does not run.
pub fn most() -> Option<usize> {
    let caps = std::fs::read_to_string("/sys/kernel/mm/lru_gen/enabled").ok()?;
    let caps = u32::from_str_radix(caps.trim().strip_prefix("0x")?, 16).ok()?;
    (caps & 1 == 1).then_some(())?;
    let text = std::fs::read_to_string(FILE).ok()?;
    shown(&text).iter().map(|it| it.numbers.len()).max()
}

/// Makes new generations of the first cgroup, `times` times, and says how many it then has.
pub fn age(worker: &str, times: u32, channel: &Channel) -> Result<()> {
    let first = || {
        let text = std::fs::read_to_string(FILE).with_context(|| format!("reading {FILE}"))?;
        let first = shown(&text).into_iter().next();
        first.with_context(|| format!("{FILE} shows no generations"))
    };
    for _ in 0..times {
        let it = first()?;
        let youngest = it.numbers.last().context("a cgroup without generations")?;
        write(FILE, &format!("+ {} {} {youngest}", it.memcg, it.node))?;
    }
    let generations = first()?.numbers.len() as f64;
    channel.observe(format!("{worker}.generations"), now_ms(), generations);
    Ok(())
}

/// `memcg ID PATH`, below it ` node N`, below that a line for each generation: its number, its age
/// in milliseconds, and how many pages of each type it has.
fn shown(text: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let mut memcg = 0;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.next()) {
            (Some("memcg"), Some(id)) => memcg = id.parse().unwrap_or_default(),
            (Some("node"), Some(node)) => all.push(Shown {
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
        let it = |memcg, numbers: &[u64]| Shown {
            memcg,
            node: 0,
            numbers: numbers.to_vec(),
        };
        assert_eq!(shown(text), [it(1, &[7, 8]), it(23, &[2])]);
    }
}
