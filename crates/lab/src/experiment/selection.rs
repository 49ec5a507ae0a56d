//! Selects some of an experiment's arms.
use super::arm::Arm;
use super::definition::Experiment;
use super::text::source::there_are;
use protocol::plan::Relative;

impl Experiment {
    /// Removes all arms but those that are named, or whose series is named. Promises and comparisons
    /// that need other arms are removed too. Returns what the run then lacks, in sentences.
    ///
    /// # Errors
    /// When an arm is not known.
    pub fn only(&mut self, names: &[String]) -> anyhow::Result<Vec<String>> {
        let of_series = |name: &String| {
            let arms = self.arms.iter().filter(|arm| {
                let point = arm.point.as_ref();
                point.is_some_and(|point| point.series == *name)
            });
            let arms: Vec<String> = arms.map(|arm| arm.name.clone()).collect();
            match arms.is_empty() {
                true => vec![name.clone()],
                false => arms,
            }
        };
        let names: Vec<String> = names.iter().flat_map(of_series).collect();
        let known: Vec<&String> = self.arms.iter().map(|arm| &arm.name).collect();
        if let Some(name) = names.iter().find(|name| !known.contains(name)) {
            anyhow::bail!("no arm is called {name:?}; {}", there_are(name, &known));
        }
        let before = self.arms.clone();
        self.arms.retain(|arm| names.contains(&arm.name));
        let mut lost = Vec::new();
        for arm in &self.arms {
            let without = arm.baseline.as_ref().filter(|name| !names.contains(name));
            lost.extend(without.map(|baseline| {
                format!(
                    "{} runs without its baseline {baseline}, so it has no ratios",
                    arm.name
                )
            }));
        }
        for arm in &mut self.arms {
            arm.baseline = arm.baseline.take().filter(|name| names.contains(name));
        }
        for comparison in &mut self.plan.comparisons {
            comparison.to.retain(|name| names.contains(name));
        }
        self.plan
            .comparisons
            .retain(|comparison| names.contains(&comparison.from) && !comparison.to.is_empty());
        lost.extend(self.judge_only(&before));
        Ok(lost)
    }

    /// Removes promises about arms that are no longer there. `before` are all arms. Says how many were removed.
    fn judge_only(&mut self, before: &[Arm]) -> Option<String> {
        let promises = self.plan.promises.len();
        let arms = &self.arms;
        for promise in &mut self.plan.promises {
            let relative = promise.relative_to == Relative::Baseline;
            promise.arms.retain(|name| {
                let arm = arms.iter().find(|arm| arm.name == *name);
                arm.is_some_and(|arm| !relative || arm.baseline.is_some())
            });
        }
        // A promise about a series needs all points of the series.
        let whole = |series: &String| {
            let of = |arm: &&Arm| {
                arm.point
                    .as_ref()
                    .is_some_and(|point| point.series == *series)
            };
            before.iter().filter(of).count() == arms.iter().filter(of).count()
        };
        for promise in &mut self.plan.promises {
            promise.series.retain(whole);
            if promise.relative_to == Relative::Baseline {
                promise.series.retain(|series| {
                    let mut of = arms.iter().filter(|arm| {
                        let point = arm.point.as_ref();
                        point.is_some_and(|point| point.series == *series)
                    });
                    of.all(|arm| arm.baseline.is_some())
                });
            }
            if let Relative::Series(other) = &promise.relative_to {
                if !whole(other) {
                    promise.series.clear();
                    promise.arms.clear();
                }
            }
        }
        self.plan
            .promises
            .retain(|promise| !promise.arms.is_empty() || !promise.series.is_empty());
        match promises - self.plan.promises.len() {
            0 => None,
            left_out => Some(format!(
                "{left_out} of {promises} promises are about other arms, and are not judged"
            )),
        }
    }
}
