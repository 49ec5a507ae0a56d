//! The score of the forecasts on a recording, for each node.
use crate::shell::{line, outln};
use anyhow::Result;
use kernfs::Sample;
use lab::model::score::{Course, Score, HZ};
use policy::Decision;
use serde::Serialize;

/// The nodes' courses so far.
#[derive(Default)]
pub struct Courses(Vec<Node>);

struct Node {
    id: u32,
    course: Course,
    /// The last sample: free pages above high, and the forecast that stands.
    above: f64,
    predicted: bool,
}

/// A line of `--json`.
#[derive(Serialize)]
struct Row {
    node: u32,
    #[serde(flatten)]
    score: Score,
}

impl Courses {
    /// Takes a sample, `at_s` seconds after the first, and the decision that stands. Between two samples the earlier
    /// one holds.
    pub fn take(&mut self, at_s: f64, sample: &Sample, decision: &Decision) {
        for seen in &sample.nodes {
            let place = self.0.iter().position(|node| node.id == seen.id);
            let place = place.unwrap_or_else(|| {
                self.0.push(Node {
                    id: seen.id,
                    course: Course::new(seen.managed as f64),
                    above: 0.0,
                    predicted: false,
                });
                self.0.len() - 1
            });
            let node = &mut self.0[place];
            node.fill(at_s);
            let high = seen.watermarks.high.saturating_sub(seen.boost);
            node.above = seen.free.saturating_sub(seen.reserved) as f64 - high as f64;
            let mut forecasts = decision.summary.nodes.iter();
            node.predicted = forecasts.any(|forecast| forecast.id == seen.id && forecast.predicted);
        }
    }

    /// Shows the scores of a recording that is `end_s` seconds long.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn show(&mut self, end_s: f64, json: bool) -> Result<()> {
        for node in &mut self.0 {
            node.fill(end_s + 1.0 / HZ as f64);
            let (node, score) = (node.id, node.course.score());
            if json {
                outln!("{}", line("replay.score", 1, &Row { node, score })?)?;
                continue;
            }
            let lead = score.lead_s_median;
            let lead = lead.map_or(String::new(), |lead| format!(", {lead:.0} s ahead"));
            let exhaustions = units::counted(score.exhaustions as u64, "exhaustion");
            outln!(
                "node {node}: {exhaustions}, {} foreseeable, {} of these foretold{lead}; false in {:.2}% of the other \
                 seconds",
                score.reclaim_episodes,
                score.predicted,
                score.false_positive_pct
            )?;
        }
        Ok(())
    }
}

impl Node {
    /// Repeats the last sample up to a time.
    fn fill(&mut self, until_s: f64) {
        while (self.course.points() as f64) < (until_s * HZ as f64).floor() {
            self.course.push(self.above, false, self.predicted);
        }
    }
}
