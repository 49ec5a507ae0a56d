use super::take;
use random::Pcg64;

pub fn fifo(ids: &[u32], size: usize) -> u64 {
    let (mut list, mut misses) = (vec![], 0);
    for &id in ids {
        if !list.contains(&id) {
            misses += 1;
            if list.len() == size {
                list.remove(0);
            }
            list.push(id);
        }
    }
    misses
}

pub fn lru(ids: &[u32], size: usize) -> u64 {
    let (mut list, mut misses) = (vec![], 0);
    for &id in ids {
        if !take(&mut list, id) {
            misses += 1;
            if list.len() == size {
                list.remove(0);
            }
        }
        list.push(id);
    }
    misses
}

pub fn mru(ids: &[u32], size: usize) -> u64 {
    let (mut list, mut misses) = (vec![], 0);
    for &id in ids {
        if !take(&mut list, id) {
            misses += 1;
            if list.len() == size {
                list.pop();
            }
        }
        list.push(id);
    }
    misses
}

pub fn random(ids: &[u32], size: usize) -> u64 {
    let (mut list, mut misses) = (vec![], 0);
    let mut random = Pcg64::new(1);
    for &id in ids {
        if list.contains(&id) {
            continue;
        }
        misses += 1;
        if list.len() < size {
            list.push(id);
        } else {
            list[random.up_to(size as u32 - 1) as usize] = id;
        }
    }
    misses
}

/// Evicts the object whose next access is farthest. With `bypass`, that may be the new object.
pub fn opt(ids: &[u32], size: usize, bypass: bool) -> u64 {
    let (mut list, mut misses) = (vec![], 0);
    for (at, &id) in ids.iter().enumerate() {
        if list.contains(&id) {
            continue;
        }
        misses += 1;
        let next = |id: u32| {
            let rest = &ids[at + 1..];
            rest.iter()
                .position(|&other| other == id)
                .unwrap_or(usize::MAX)
        };
        if list.len() == size {
            let victim = (0..size).max_by_key(|&place| next(list[place])).unwrap();
            if bypass && next(id) > next(list[victim]) {
                continue;
            }
            list.remove(victim);
        }
        list.push(id);
    }
    misses
}
