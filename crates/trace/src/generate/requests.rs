//! The requests of a rule, given slice by slice or as a whole trace.
use super::mix;
use super::spec::Spec;
use crate::{advise_huge, Trace};
use random::Pcg64;

impl Spec {
    /// Gives requests to `take`, a slice at a time, objects from 0.
    ///
    /// # Errors
    /// As [`Spec::check`], before the first request.
    pub fn requests(
        &self,
        requests: u64,
        seed: u64,
        mut take: impl FnMut(&[u32]),
    ) -> Result<(), String> {
        self.check()?;
        mix::draw(self, requests, &mut Pcg64::new(seed), &mut take);
        Ok(())
    }

    /// All requests in memory, renumbered.
    ///
    /// # Errors
    /// As [`Spec::check`].
    pub fn trace(&self, name: &str, requests: u64, seed: u64) -> Result<Trace, String> {
        let mut ids: Vec<u32> = Vec::with_capacity(requests as usize);
        advise_huge(&mut ids);
        let mut dense: Vec<u32> = vec![u32::MAX; self.objects() as usize];
        let mut objects = 0;
        self.requests(requests, seed, |drawn| {
            ids.extend(drawn.iter().map(|&object| {
                let id = &mut dense[object as usize];
                if *id == u32::MAX {
                    *id = objects;
                    objects += 1;
                }
                *id
            }));
        })?;
        Ok(Trace {
            name: name.to_string(),
            ids,
            objects,
            ..Trace::default()
        })
    }
}
