//! The search: which candidate is next, and which step broke the promise. Pure.
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// What is known of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Kept,
    Broken,
    /// The trials do not decide, or the kernel does not build or boot.
    Unsure,
}

/// The next step of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Test(usize),
    /// One of these steps broke the promise; more than one where those between are unsure. Step `n` leads from candidate
    /// `n - 1` to candidate `n`.
    Found(RangeInclusive<usize>),
    /// The first candidate does not keep the promise.
    FirstIsBroken,
    /// The last candidate keeps it.
    LastIsKept,
    /// The first or the last candidate is unsure.
    EndsUnsure(usize),
}

/// The candidate to test next, or the end. The first candidate is to keep the promise and the last to break it; both are
/// tested first, since a search between wrong ends finds nothing.
pub fn next(verdicts: &[Option<Verdict>]) -> Next {
    let last = verdicts.len() - 1;
    for (end, wrong) in [(last, Verdict::Kept), (0, Verdict::Broken)] {
        match verdicts[end] {
            None => return Next::Test(end),
            Some(Verdict::Unsure) => return Next::EndsUnsure(end),
            Some(found) if found == wrong && end == 0 => return Next::FirstIsBroken,
            Some(found) if found == wrong => return Next::LastIsKept,
            Some(_) => {}
        }
    }
    // A promise may be broken, mended and broken again: the first break behind the last candidate that keeps it is
    // sought.
    let first_broken = (0..=last).find(|at| verdicts[*at] == Some(Verdict::Broken));
    let first_broken = first_broken.unwrap_or(last);
    let kept = (0..first_broken).rfind(|at| verdicts[*at] == Some(Verdict::Kept));
    let kept = kept.unwrap_or(0);
    let middle = (kept + first_broken) / 2;
    let untested = (kept + 1..first_broken).filter(|at| verdicts[*at].is_none());
    match untested.min_by_key(|at| at.abs_diff(middle)) {
        Some(at) => Next::Test(at),
        None => Next::Found(kept + 1..=first_broken),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs the search; `broken` is the first candidate that breaks the promise. Returns what was found, and the tests.
    fn search(count: usize, broken: usize, unsure: &[usize]) -> (Next, usize) {
        let mut verdicts = vec![None; count];
        let mut tests = 0;
        loop {
            match next(&verdicts) {
                Next::Test(at) => {
                    assert_eq!(verdicts[at], None);
                    tests += 1;
                    verdicts[at] = Some(match at {
                        at if unsure.contains(&at) => Verdict::Unsure,
                        at if at >= broken => Verdict::Broken,
                        _ => Verdict::Kept,
                    });
                }
                end => return (end, tests),
            }
        }
    }

    #[test]
    fn sixteen_steps_take_six_tests() {
        for broken in 1..=16 {
            let (found, tests) = search(17, broken, &[]);
            assert_eq!(found, Next::Found(broken..=broken));
            assert!(tests <= 6, "{tests}");
        }
    }

    #[test]
    fn wrong_ends_are_told() {
        assert_eq!(search(9, 0, &[]).0, Next::FirstIsBroken);
        assert_eq!(search(9, 9, &[]).0, Next::LastIsKept);
        assert_eq!(search(9, 4, &[8]).0, Next::EndsUnsure(8));
        assert_eq!(search(9, 4, &[0]).0, Next::EndsUnsure(0));
    }

    #[test]
    fn unsure_candidates_are_passed_over() {
        assert_eq!(search(9, 4, &[2, 6]).0, Next::Found(4..=4));
        assert_eq!(search(9, 4, &[3, 4]).0, Next::Found(3..=5));
    }

    proptest! {
        #[test]
        fn the_step_is_always_among_those_found(
            count in 2usize..40,
            broken in 1usize..39,
            unsure in proptest::collection::vec(1usize..38, 0..6),
        ) {
            let broken = 1 + broken % (count - 1);
            let unsure: Vec<usize> = unsure.into_iter().filter(|at| *at < count - 1).collect();
            let (found, _) = search(count, broken, &unsure);
            let Next::Found(range) = found else { panic!("{found:?}") };
            prop_assert!(range.contains(&broken));
            let between = *range.start()..*range.end();
            prop_assert!(between.into_iter().all(|at| unsure.contains(&at)));
        }
    }
}
