//! Generated traces of an experiment, and hit ratios over them.
use crate::curve::Curve;
use crate::registry::Choice;
use crate::{Error, Input};
use random::Pcg64;

/// Hot pages (N1) and others (N2) of the two-pool experiment.
pub(super) const POOLS: (u32, u32) = (100, 10_000);

/// Traces of one experiment, and the measured part of each.
pub(super) struct Runs {
    pub(super) traces: Vec<(Vec<u32>, u32)>,
    pub(super) warm: usize,
}

impl Runs {
    pub(super) fn new(
        runs: u32,
        objects: u32,
        warm: usize,
        len: usize,
        draw: impl Fn(&mut Pcg64, usize) -> u32,
    ) -> Runs {
        let traces = (0..runs).map(|run| {
            let mut random = Pcg64::new(u64::from(1000 + run));
            let ids = (0..len).map(|at| draw(&mut random, at)).collect();
            (ids, objects)
        });
        Runs {
            traces: traces.collect(),
            warm,
        }
    }

    /// One of the hot pages and one of the others in turn.
    pub(super) fn two_pools(runs: u32, warm: usize, len: usize) -> Runs {
        let (hot, cold) = POOLS;
        Runs::new(runs, hot + cold, warm, len, |random, at| match at % 2 {
            0 => random.up_to(hot - 1),
            _ => hot + random.up_to(cold - 1),
        })
    }

    fn measured(&self) -> f64 {
        self.traces
            .iter()
            .map(|(ids, _)| (ids.len() - self.warm) as f64)
            .sum()
    }

    /// Hits of requests, the warm-up left out.
    pub(super) fn hit_ratio(&self, policy: &str, size: u64) -> Result<f64, Error> {
        let choice = Choice::parse(policy)?;
        let mut misses = 0;
        for (ids, objects) in &self.traces {
            let input = Input::new(ids, *objects as usize)?;
            let mut policy = choice.build(&input, size)?;
            policy.stretch(&input, 0, self.warm);
            misses += policy.stretch(&input, self.warm, ids.len());
        }
        Ok(1.0 - misses as f64 / self.measured())
    }

    /// LRU's hits at every size from 0 on, the warm-up left out.
    pub(super) fn lru_curve(&self) -> Result<Vec<f64>, Error> {
        let most = self.traces.iter().map(|(_, objects)| *objects).max();
        let mut hits = vec![0.0; most.unwrap_or(0) as usize + 1];
        for (ids, objects) in &self.traces {
            let all = Curve::lru(&Input::new(ids, *objects as usize)?, &mut |_| {});
            let warm = Curve::lru(
                &Input::new(&ids[..self.warm], *objects as usize)?,
                &mut |_| {},
            );
            for (size, sum) in hits.iter_mut().enumerate() {
                let of = |curve: &Curve| curve.requests() - curve.misses(size as u64);
                *sum += (of(&all) - of(&warm)) as f64;
            }
        }
        let measured = self.measured();
        Ok(hits.into_iter().map(|hits| hits / measured).collect())
    }
}

/// The size, with a fraction, at which a rising curve reaches `ratio`.
pub(super) fn size_for(curve: &[f64], ratio: f64) -> Option<f64> {
    let above = curve.iter().position(|&here| here >= ratio)?;
    let below = above.checked_sub(1)?;
    let rise = curve[above] - curve[below];
    Some(below as f64 + (ratio - curve[below]) / rise)
}
