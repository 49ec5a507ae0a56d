use super::take;
use std::collections::HashSet;

/// `history`: non-resident objects in S, in sizes of the cache; 0 is no bound.
pub fn lirs(ids: &[u32], size: usize, history: usize) -> u64 {
    let hir_most = (size / 100).max(1);
    let lir_most = size - hir_most;
    // S from the bottom up.
    let (mut s, mut q): (Vec<u32>, Vec<u32>) = (vec![], vec![]);
    let mut lir: HashSet<u32> = HashSet::new();
    let mut misses = 0;
    fn prune(s: &mut Vec<u32>, lir: &HashSet<u32>) {
        while !lir.is_empty() && !lir.contains(&s[0]) {
            s.remove(0);
        }
    }
    for &id in ids {
        let in_s = take(&mut s, id);
        s.push(id);
        if lir.contains(&id) {
            prune(&mut s, &lir);
            continue;
        }
        let hit = take(&mut q, id);
        if !hit {
            misses += 1;
            if lir.len() + q.len() == size {
                q.remove(0);
            }
        }
        let promoted = if hit {
            in_s
        } else {
            in_s && lir_most > 0 || lir.len() < lir_most
        };
        if promoted {
            lir.insert(id);
            if lir.len() > lir_most {
                prune(&mut s, &lir);
                let bottom = s.remove(0);
                lir.remove(&bottom);
                q.push(bottom);
            }
            prune(&mut s, &lir);
        } else {
            q.push(id);
        }
        let gone: Vec<u32> = s
            .iter()
            .copied()
            .filter(|id| !lir.contains(id) && !q.contains(id))
            .collect();
        if history > 0 && gone.len() > history * size {
            for &oldest in &gone[..gone.len() - history * size] {
                take(&mut s, oldest);
            }
        }
    }
    misses
}
