//! The knobs that a dry run would have written. The policy is shown its own values, so that a dry run
//! goes on as the real one would.
use super::policy_knobs;
use kernfs::Sample;
use policy::Action;

/// A write that was not made.
#[derive(Clone, Copy)]
struct Pretended {
    to: u32,
    /// The knob's value at that time.
    was: Option<u32>,
}

/// All writes that were not made.
#[derive(Clone, Copy, Default)]
pub struct PretendedKnobs([Option<Pretended>; policy_knobs::COUNT]);

impl PretendedKnobs {
    /// Takes note that an action was not carried out.
    pub fn pretend(&mut self, action: &Action, sample: &Sample) {
        if let Some((place, to)) = policy_knobs::set_by(action) {
            let was = policy_knobs::sampled(sample, place);
            self.0[place] = Some(Pretended { to, was });
        }
    }

    /// Lays the pretended values over the knobs that the policy is shown. A knob that somebody wrote since is
    /// shown as it is.
    pub fn show(&mut self, sample: &Sample, shown: &mut policy::Knobs) {
        for (place, value) in policy_knobs::shown(shown).into_iter().enumerate() {
            let is = policy_knobs::sampled(sample, place);
            match self.0[place] {
                Some(pretended) if pretended.was == is => *value = Some(pretended.to),
                _ => self.0[place] = None,
            }
        }
    }
}
