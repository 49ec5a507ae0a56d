use super::take;
use std::collections::HashMap;

pub fn clock(ids: &[u32], size: usize) -> u64 {
    let mut list: Vec<(u32, bool)> = vec![];
    let mut misses = 0;
    for &id in ids {
        if let Some(entry) = list.iter_mut().find(|entry| entry.0 == id) {
            entry.1 = true;
            continue;
        }
        misses += 1;
        while list.len() == size {
            let (oldest, referenced) = list.remove(0);
            if referenced {
                list.push((oldest, false));
            }
        }
        list.push((id, false));
    }
    misses
}

pub fn sieve(ids: &[u32], size: usize) -> u64 {
    let mut list: Vec<(u32, bool)> = vec![];
    // Without a position the hand begins with the oldest.
    let mut hand: Option<u32> = None;
    let mut misses = 0;
    for &id in ids {
        if let Some(entry) = list.iter_mut().find(|entry| entry.0 == id) {
            entry.1 = true;
            continue;
        }
        misses += 1;
        if list.len() == size {
            let mut at = hand.map_or(0, |hand| {
                list.iter().position(|entry| entry.0 == hand).unwrap()
            });
            while list[at].1 {
                list[at].1 = false;
                at = (at + 1) % size;
            }
            list.remove(at);
            hand = list.get(at).map(|entry| entry.0);
        }
        list.push((id, false));
    }
    misses
}

/// `form`: figure, v0 or s3fifo.
pub fn s3_fifo(ids: &[u32], size: usize, threshold: u32, form: &str) -> u64 {
    let small_most = size / 10;
    let main_most = size - small_most;
    let ghost_most = (size as f64 * 0.9) as usize;
    let (mut small, mut main, mut ghost) = (vec![], vec![], vec![]);
    let mut hits: HashMap<u32, u32> = HashMap::new();
    let (mut misses, mut evicted) = (0, false);
    for &id in ids {
        if small.contains(&id) || main.contains(&id) {
            let hits = hits.get_mut(&id).unwrap();
            *hits = (*hits + 1).min(3);
            continue;
        }
        misses += 1;
        let known = take(&mut ghost, id);
        while small.len() + main.len() == size {
            evicted = true;
            let from_small = match form {
                "figure" => small.len() > small_most || main.is_empty(),
                _ => !(main.len() > main_most || small.is_empty()),
            };
            let mut from_main = !from_small;
            if from_small {
                while !small.is_empty() {
                    let oldest = small.remove(0);
                    if hits[&oldest] < threshold {
                        ghost.push(oldest);
                        if ghost.len() > ghost_most {
                            ghost.remove(0);
                        }
                        break;
                    }
                    hits.insert(oldest, 0);
                    main.push(oldest);
                    if form == "figure" && main.len() > main_most {
                        from_main = true;
                        break;
                    }
                }
            }
            while from_main {
                let oldest = main.remove(0);
                let left = hits[&oldest];
                if left == 0 {
                    from_main = false;
                } else {
                    hits.insert(oldest, left - 1);
                    main.push(oldest);
                }
            }
        }
        let filling = form == "s3fifo" && !evicted && small.len() >= small_most;
        if known || filling {
            main.push(id);
        } else {
            small.push(id);
        }
        hits.insert(id, 0);
    }
    misses
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Page {
    id: u32,
    resident: bool,
    hot: bool,
    test: bool,
    referenced: bool,
}

/// The ring as a vector that begins where the hot hand stands; the other hands are places in it.
struct Ring {
    size: usize,
    cold_target: usize,
    pages: Vec<Page>,
    cold_hand: usize,
    test_hand: usize,
}

impl Ring {
    fn count(&self, which: impl Fn(&Page) -> bool) -> usize {
        self.pages.iter().filter(|page| which(page)).count()
    }

    fn hot(&self) -> usize {
        self.count(|page| page.hot)
    }

    fn remove(&mut self, at: usize) -> Page {
        let page = self.pages.remove(at);
        for hand in [&mut self.cold_hand, &mut self.test_hand] {
            if *hand > at {
                *hand -= 1;
            }
            if *hand == self.pages.len() {
                *hand = 0;
            }
        }
        page
    }

    /// Puts a page behind the hot hand: at the vector's end. A hand that has come round is at the vector's
    /// beginning, with the hot hand.
    fn push(&mut self, page: Page) {
        self.pages.push(page);
    }

    /// Moves the hot hand on by one. The other hands keep their page.
    fn turn(&mut self) {
        let len = self.pages.len();
        self.pages.rotate_left(1);
        self.cold_hand = (self.cold_hand + len - 1) % len;
        self.test_hand = (self.test_hand + len - 1) % len;
    }

    fn end_test(&mut self, at: usize) -> bool {
        self.cold_target = (self.cold_target - 1).max(1);
        self.pages[at].test = false;
        if !self.pages[at].resident {
            self.remove(at);
            return true;
        }
        false
    }

    fn run_hot(&mut self) {
        while self.hot() > 0 {
            let page = self.pages[0];
            if page.hot {
                self.pages[0].referenced = false;
                self.pages[0].hot = page.referenced;
                self.turn();
                if !page.referenced {
                    return;
                }
            } else if !(page.test && !page.referenced && self.end_test(0)) {
                self.turn();
            }
        }
    }

    fn run_test(&mut self) {
        loop {
            let at = self.test_hand;
            let page = self.pages[at];
            let gone = page.test && !page.referenced && self.end_test(at);
            if gone {
                return;
            }
            self.test_hand = (at + 1) % self.pages.len();
        }
    }

    fn limit_hot(&mut self) {
        while self.hot() > self.size - self.cold_target {
            self.run_hot();
        }
    }

    fn run_cold(&mut self) {
        loop {
            while self.count(|page| page.resident && !page.hot) == 0 {
                self.run_hot();
            }
            let at = self.cold_hand;
            let page = self.pages[at];
            if !page.resident || page.hot {
                self.cold_hand = (at + 1) % self.pages.len();
                continue;
            }
            if !page.referenced && page.test {
                self.pages[at].resident = false;
                self.cold_hand = (at + 1) % self.pages.len();
                if self.count(|page| !page.resident) > self.size {
                    self.run_test();
                }
                return;
            }
            self.remove(at);
            if !page.referenced {
                return;
            }
            let again = Page {
                referenced: false,
                hot: page.test,
                test: !page.test,
                ..page
            };
            self.push(again);
            if page.test {
                self.cold_target = (self.cold_target + 1).min(self.size);
                self.limit_hot();
            }
        }
    }
}

pub fn clock_pro(ids: &[u32], size: usize) -> u64 {
    let mut ring = Ring {
        size,
        cold_target: size,
        pages: vec![],
        cold_hand: 0,
        test_hand: 0,
    };
    let mut misses = 0;
    for &id in ids {
        let known = ring.pages.iter_mut().find(|page| page.id == id);
        if let Some(page) = known.filter(|page| page.resident) {
            page.referenced = true;
            continue;
        }
        misses += 1;
        if ring.count(|page| page.resident) == size {
            ring.run_cold();
        }
        let ghost = ring.pages.iter().position(|page| page.id == id);
        if let Some(at) = ghost {
            ring.cold_target = (ring.cold_target + 1).min(size);
            ring.remove(at);
        }
        ring.push(Page {
            id,
            resident: true,
            hot: ghost.is_some(),
            test: ghost.is_none(),
            referenced: false,
        });
        ring.limit_hot();
    }
    misses
}
