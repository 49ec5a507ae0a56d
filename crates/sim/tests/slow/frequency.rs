use super::take;
use random::Pcg64;
use sim::policies::frequency::w_tinylfu::Sketch;
use std::collections::HashMap;

pub fn lfu(ids: &[u32], size: usize) -> u64 {
    // Count, last access, id.
    let mut list: Vec<(u32, usize, u32)> = vec![];
    let mut misses = 0;
    for (at, &id) in ids.iter().enumerate() {
        if let Some(entry) = list.iter_mut().find(|entry| entry.2 == id) {
            *entry = (entry.0 + 1, at, id);
            continue;
        }
        misses += 1;
        if list.len() == size {
            let least = *list.iter().min().unwrap();
            list.retain(|&entry| entry != least);
        }
        list.push((1, at, id));
    }
    misses
}

/// LRU-K after the paper's figure 2.1, with times from 1 and a period that may be 0.
pub fn lru_k(ids: &[u32], size: usize, k: usize, crp: u32, retain: bool) -> u64 {
    let mut history: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut last: HashMap<u32, u32> = HashMap::new();
    let (mut list, mut misses) = (vec![], 0);
    for (at, &id) in ids.iter().enumerate() {
        let now = at as u32 + 1;
        let hit = list.contains(&id);
        if !hit {
            misses += 1;
            if list.len() == size {
                let key = |id: &u32| (history[id][k - 1], last[id]);
                let eligible = list.iter().filter(|id| now - last[id] > crp);
                let victim = *eligible
                    .min_by_key(|id| key(id))
                    .unwrap_or_else(|| list.iter().min_by_key(|id| key(id)).unwrap());
                take(&mut list, victim);
                if !retain {
                    history.remove(&victim);
                }
            }
            list.push(id);
        }
        let hist = history.entry(id).or_insert_with(|| vec![0; k]);
        if !hit {
            hist.insert(0, now);
            hist.pop();
        } else if now - last[&id] > crp {
            let burst = last[&id] - hist[0];
            let moved = |&h: &u32| if h == 0 { 0 } else { h + burst };
            let before: Vec<u32> = hist[..k - 1].iter().map(moved).collect();
            *hist = std::iter::once(now).chain(before).collect();
        }
        last.insert(id, now);
    }
    misses
}

/// W-TinyLFU with the policy's own sketch, whose errors are random, and with segments of its own.
pub fn w_tinylfu(ids: &[u32], size: usize) -> u64 {
    let window_most = (size / 100).max(1);
    let main_most = size - window_most;
    let protected_most = (main_most as f64 * 0.8) as usize;
    let mut sketch = Sketch::new(size as u32, 10 * size as u64);
    let (mut window, mut probation, mut protected) = (vec![], vec![], vec![]);
    let mut misses = 0;
    for &id in ids {
        sketch.add(id);
        if take(&mut window, id) {
            window.push(id);
        } else if take(&mut probation, id) || take(&mut protected, id) {
            protected.push(id);
            if protected.len() > protected_most {
                probation.push(protected.remove(0));
            }
        } else {
            misses += 1;
            window.push(id);
            if window.len() > window_most {
                let candidate = window.remove(0);
                if probation.len() + protected.len() < main_most {
                    probation.push(candidate);
                } else if main_most > 0 {
                    let from = if probation.is_empty() {
                        &mut protected
                    } else {
                        &mut probation
                    };
                    if sketch.count(candidate) > sketch.count(from[0]) {
                        from.remove(0);
                        probation.push(candidate);
                    }
                }
            }
        }
    }
    misses
}

pub fn lecar(ids: &[u32], size: usize) -> u64 {
    let mut random = Pcg64::new(1);
    let discount = 0.005f64.powf(1.0 / size as f64);
    let mut weight = 0.5;
    // Resident: id, count, last access. Evicted, by LRU and by LFU: id, count, time.
    let mut resident: Vec<(u32, u32, u32)> = vec![];
    let mut gone: [Vec<(u32, u32, u32)>; 2] = [vec![], vec![]];
    let mut misses = 0;
    for (at, &id) in ids.iter().enumerate() {
        let now = at as u32 + 1;
        if let Some(entry) = resident.iter_mut().find(|entry| entry.0 == id) {
            *entry = (id, entry.1 + 1, now);
            continue;
        }
        misses += 1;
        let mut count = 0;
        for (list, gone) in gone.iter_mut().enumerate() {
            let Some(place) = gone.iter().position(|entry| entry.0 == id) else {
                continue;
            };
            let (_, before, when) = gone.remove(place);
            count = before;
            let grown = (0.45 * discount.powi((now - when) as i32)).exp();
            let (mut lru, mut lfu): (f64, f64) = (weight, 1.0 - weight);
            if list == 0 {
                lfu *= grown;
            } else {
                lru *= grown;
            }
            weight = (lru / (lru + lfu)).clamp(0.01, 0.99);
        }
        if resident.len() == size {
            let by_lru = random.unit() < weight;
            let victim = if by_lru {
                *resident.iter().min_by_key(|entry| entry.2).unwrap()
            } else {
                *resident
                    .iter()
                    .min_by_key(|entry| (entry.1, entry.2))
                    .unwrap()
            };
            resident.retain(|&entry| entry != victim);
            let list = &mut gone[usize::from(!by_lru)];
            list.push((victim.0, victim.1, now));
            if list.len() > size {
                list.remove(0);
            }
        }
        resident.push((id, count + 1, now));
    }
    misses
}
