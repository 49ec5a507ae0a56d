//! Processes of one name and user together: none of a fork storm is large by itself.
use crate::os::fixed_string::Text;
use policy::victim::Candidate;

/// Groups that a record names.
pub const MOST: usize = 3;
/// Names that are told apart. Where there are more, the smallest that came last are left out.
const NAMES: usize = 128;

/// One group.
#[derive(Clone, Copy, Debug, Default)]
pub struct Group {
    pub name: Text<16>,
    pub uid: u32,
    pub count: u64,
    pub kib: u64,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    name: [u8; 16],
    uid: u32,
    count: u64,
    pages: u64,
}

/// The groups of two or more that have most, most first. Returns their number.
pub fn find(list: &[Candidate], page_kib: u64, found: &mut [Group; MOST]) -> usize {
    let mut sums = [Sum::default(); NAMES];
    for one in list.iter().filter(|one| !one.fallen && one.memory > 0) {
        let begin = random::fnv1a(one.name) as usize;
        // Open addressing: the next free place.
        let place = (0..NAMES).map(|step| (begin + step) % NAMES).find(|at| {
            let sum = &sums[*at];
            sum.count == 0 || (sum.name, sum.uid) == (one.name, one.uid)
        });
        let Some(place) = place else { continue };
        let sum = &mut sums[place];
        (sum.name, sum.uid) = (one.name, one.uid);
        sum.count += 1;
        sum.pages += one.memory;
    }
    sums.sort_unstable_by_key(|sum| std::cmp::Reverse(if sum.count > 1 { sum.pages } else { 0 }));
    let count = sums.iter().take(MOST).filter(|sum| sum.count > 1).count();
    for (into, sum) in found.iter_mut().zip(&sums[..count]) {
        let named = Candidate {
            name: sum.name,
            ..Candidate::default()
        };
        *into = Group {
            name: Text::of(format_args!("{}", named.name())),
            uid: sum.uid,
            count: sum.count,
            kib: sum.pages * page_kib,
        };
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, memory: u64) -> Candidate {
        let mut one = Candidate {
            memory,
            ..Candidate::default()
        };
        one.name[..name.len()].copy_from_slice(name.as_bytes());
        one
    }

    #[test]
    fn many_small_ones_are_one_large_group() {
        let mut list = vec![named("browser", 500)];
        list.extend((0..100).map(|_| named("cc1", 10)));
        list.extend((0..200).map(|number| named(&format!("x{number}"), 1)));
        list.extend([named("sh", 20), named("sh", 30)]);
        let mut found = [Group::default(); MOST];
        let count = find(&list, 4, &mut found);
        let shown = found[..count]
            .iter()
            .map(|group| (group.name.as_str(), group.count, group.kib));
        assert_eq!(shown.collect::<Vec<_>>()[..1], [("cc1", 100, 4000)]);
        assert_eq!(find(&list[..1], 4, &mut found), 0);
    }
}
