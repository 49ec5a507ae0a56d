use super::take;

/// `before`: an object that comes back leaves A1out before room is made.
pub fn two_q(ids: &[u32], size: usize, before: bool) -> u64 {
    let (kin, kout) = (size / 4, size / 2);
    let (mut a1in, mut a1out, mut am) = (vec![], vec![], vec![]);
    let mut misses = 0;
    for &id in ids {
        if take(&mut am, id) {
            am.push(id);
            continue;
        }
        if a1in.contains(&id) {
            continue;
        }
        misses += 1;
        let known = a1out.contains(&id);
        if before {
            take(&mut a1out, id);
        }
        if a1in.len() + am.len() == size {
            if a1in.len() > kin || am.is_empty() {
                a1out.push(a1in.remove(0));
                if a1out.len() > kout {
                    a1out.remove(0);
                }
            } else {
                am.remove(0);
            }
        }
        take(&mut a1out, id);
        if known {
            am.push(id);
        } else {
            a1in.push(id);
        }
    }
    misses
}

pub fn arc(ids: &[u32], size: usize) -> u64 {
    let (mut t1, mut t2, mut b1, mut b2) = (vec![], vec![], vec![], vec![]);
    let mut p = 0.0f64;
    let mut misses = 0;
    let replace = |t1: &mut Vec<u32>,
                   t2: &mut Vec<u32>,
                   b1: &mut Vec<u32>,
                   b2: &mut Vec<u32>,
                   p: f64,
                   in_b2: bool| {
        let len = t1.len() as f64;
        if !t1.is_empty() && (len > p || in_b2 && len == p) || t2.is_empty() {
            b1.push(t1.remove(0));
        } else {
            b2.push(t2.remove(0));
        }
    };
    for &id in ids {
        if take(&mut t1, id) || take(&mut t2, id) {
            t2.push(id);
            continue;
        }
        misses += 1;
        let (n1, n2) = (b1.len() as f64, b2.len() as f64);
        if b1.contains(&id) {
            p = (p + (n2 / n1).max(1.0)).min(size as f64);
            replace(&mut t1, &mut t2, &mut b1, &mut b2, p, false);
            take(&mut b1, id);
            t2.push(id);
        } else if b2.contains(&id) {
            p = (p - (n1 / n2).max(1.0)).max(0.0);
            replace(&mut t1, &mut t2, &mut b1, &mut b2, p, true);
            take(&mut b2, id);
            t2.push(id);
        } else {
            if t1.len() + b1.len() == size {
                if t1.len() < size {
                    b1.remove(0);
                    replace(&mut t1, &mut t2, &mut b1, &mut b2, p, false);
                } else {
                    t1.remove(0);
                }
            } else if t1.len() + t2.len() + b1.len() + b2.len() >= size {
                if t1.len() + t2.len() + b1.len() + b2.len() == 2 * size {
                    b2.remove(0);
                }
                replace(&mut t1, &mut t2, &mut b1, &mut b2, p, false);
            }
            t1.push(id);
        }
    }
    misses
}

pub fn car(ids: &[u32], size: usize) -> u64 {
    let mut t1: Vec<(u32, bool)> = vec![];
    let mut t2: Vec<(u32, bool)> = vec![];
    let (mut b1, mut b2): (Vec<u32>, Vec<u32>) = (vec![], vec![]);
    let mut p = 0.0f64;
    let mut misses = 0;
    for &id in ids {
        if let Some(entry) = t1.iter_mut().chain(&mut t2).find(|entry| entry.0 == id) {
            entry.1 = true;
            continue;
        }
        misses += 1;
        let (in_b1, in_b2) = (b1.contains(&id), b2.contains(&id));
        if t1.len() + t2.len() == size {
            loop {
                let first = t1.len() as f64 >= p.max(1.0);
                let (page, referenced) = if first { t1.remove(0) } else { t2.remove(0) };
                if referenced {
                    t2.push((page, false));
                } else if first {
                    b1.push(page);
                    break;
                } else {
                    b2.push(page);
                    break;
                }
            }
            if !in_b1 && !in_b2 {
                if t1.len() + b1.len() == size {
                    b1.remove(0);
                } else if t1.len() + t2.len() + b1.len() + b2.len() == 2 * size {
                    b2.remove(0);
                }
            }
        }
        let (n1, n2) = (b1.len() as f64, b2.len() as f64);
        if in_b1 {
            p = (p + (n2 / n1).max(1.0)).min(size as f64);
            take(&mut b1, id);
            t2.push((id, false));
        } else if in_b2 {
            p = (p - (n1 / n2).max(1.0)).max(0.0);
            take(&mut b2, id);
            t2.push((id, false));
        } else {
            t1.push((id, false));
        }
    }
    misses
}
