//! The sizes of each app, its place in the file, and its turn.
use protocol::work::apps::AppCycle;

use crate::boot::cgroups::cgroup_of;
use crate::xorshift::Random;

/// The place of an app's files, and its memory, in bytes.
pub struct Place {
    pub memory: u64,
    pub code: u64,
    pub code_bytes: u64,
    pub data: u64,
}

/// The plan of a cycle, the same in all arms of a repetition.
pub struct Plan {
    pub files: String,
    pub framework: String,
    pub media: String,
    /// Bytes of an app's own data.
    pub data: u64,
    pub file_bytes: u64,
    memories: Vec<u64>,
    codes: Vec<u64>,
    seed: u64,
}

impl Plan {
    pub fn new(spec: &AppCycle, seed: u64) -> Plan {
        let mut random = Random::new(seed ^ 0xa995);
        let (mut memories, mut codes) = (spec.memories(), spec.codes());
        shuffle(&mut memories, &mut random);
        shuffle(&mut codes, &mut random);
        Plan {
            files: spec.files.clone(),
            framework: spec.framework.clone(),
            media: spec.media.clone(),
            data: protocol::work::apps::pages(spec.data.bytes() as f64),
            file_bytes: spec.file_bytes(),
            memories,
            codes,
            seed,
        }
    }

    pub fn place(&self, app: usize) -> Place {
        let before: u64 = self.codes[..app].iter().sum();
        let code = before + self.data * app as u64;
        Place {
            memory: self.memories[app],
            code,
            code_bytes: self.codes[app],
            data: code + self.codes[app],
        }
    }

    /// The order of one iteration.
    pub fn order(&self, iteration: u32) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.memories.len()).collect();
        shuffle(&mut order, &mut self.drawn(iteration));
        order
    }

    /// The random numbers that an iteration draws beside its order.
    pub fn drawn(&self, iteration: u32) -> Random {
        Random::new(self.seed.wrapping_add(u64::from(iteration) << 32))
    }

    pub fn cgroup(&self, app: usize) -> String {
        format!("{}-{app}", cgroup_of("app", true))
    }
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for last in (1..items.len()).rev() {
        items.swap(last, (random.next() % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::size::Size;

    fn plan(seed: u64) -> Plan {
        let spec = AppCycle {
            apps: 30,
            iterations: 1,
            settle: 0,
            memory: Size::Bytes(8 << 20),
            code: Size::Bytes(4 << 20),
            data: Size::Bytes(750_000),
            stream: Size::Bytes(1 << 20),
            system: Size::Bytes(1 << 20),
            files: "apps".into(),
            framework: "framework".into(),
            media: "media".into(),
            cached_cap: 24,
            warm_share: 0.1,
            rest_ms: 0,
            killer: None,
        };
        Plan::new(&spec, seed)
    }

    #[test]
    fn places_do_not_overlap_and_fill_the_file() {
        let plan = plan(7);
        for app in 0..29 {
            let place = plan.place(app);
            assert_eq!(place.data, place.code + place.code_bytes);
            assert_eq!(plan.place(app + 1).code, place.data + plan.data);
            assert_eq!(place.code % 4096, 0);
        }
        assert_eq!(plan.place(29).data + plan.data, plan.file_bytes);
    }

    #[test]
    fn an_order_is_a_permutation_that_differs_by_seed() {
        let mut sorted = plan(7).order(3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..30).collect::<Vec<_>>());
        assert_eq!(plan(7).order(3), plan(7).order(3));
        assert_ne!(plan(7).order(3), plan(7).order(4));
        assert_ne!(plan(7).order(3), plan(8).order(3));
        let (a, b) = (plan(7).memories, plan(8).memories);
        assert_ne!(a, b);
        assert_eq!(a.iter().sum::<u64>(), b.iter().sum::<u64>());
    }
}
