//! Observations and gauges over the time of a scene.
use super::measure;
use super::stats;
use super::Context;
use protocol::plan::Chart;
use protocol::record::Outcome;

#[derive(Clone, Debug)]
pub struct ChartStudy {
    pub chart: Chart,
    /// One for each arm, in the run's order.
    pub arms: Vec<ArmLines>,
}

#[derive(Clone, Debug)]
pub struct ArmLines {
    pub arm: String,
    /// The lines by repetition. A trial that never reached the scene, or recorded nothing, has none.
    pub lines: Vec<Line>,
    /// The place in `lines` of the trial whose mean is the lower median, among those that ended `ok`.
    pub typical: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct Line {
    pub repetition: u32,
    /// Whether the trial ended `ok`.
    pub ok: bool,
    /// The seconds since the scene began, and the value.
    pub points: Vec<(f64, f64)>,
    /// The time of each OOM kill, in seconds since the scene began.
    pub kills: Vec<f64>,
}

pub(crate) fn study(charts: &[Chart], context: &Context) -> Vec<ChartStudy> {
    charts
        .iter()
        .map(|chart| ChartStudy {
            chart: chart.clone(),
            arms: context
                .arms
                .iter()
                .map(|arm| arm_lines(&arm.name, chart, context))
                .collect(),
        })
        .collect()
}

fn arm_lines(arm: &str, chart: &Chart, context: &Context) -> ArmLines {
    let lines: Vec<Line> = context
        .trials
        .iter()
        .filter(|t| t.arm == arm)
        .filter_map(|trial| {
            let scene = measure::scene(trial, &chart.scene)?;
            let points = measure::series(trial, scene, &chart.metric)?;
            let since = |t: f64| (t - scene.begin_ms) / 1000.0;
            let inside = |t: f64| scene.begin_ms <= t && t <= scene.end_ms;
            Some(Line {
                repetition: trial.repetition,
                ok: trial.outcome == Outcome::Ok,
                points: points.into_iter().map(|(t, v)| (since(t), v)).collect(),
                kills: trial
                    .events
                    .iter()
                    .filter(|e| e.name == "oom-kill" && inside(e.t_ms))
                    .map(|e| since(e.t_ms))
                    .collect(),
            })
        })
        .filter(|line| !line.points.is_empty())
        .collect();
    ArmLines {
        arm: arm.to_string(),
        typical: typical(&lines),
        lines,
    }
}

fn typical(lines: &[Line]) -> Option<usize> {
    let mut means: Vec<(f64, usize)> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.ok)
        .filter_map(|(place, line)| {
            let values: Vec<f64> = line.points.iter().map(|&(_, v)| v).collect();
            Some((stats::mean(&values)?, place))
        })
        .collect();
    means.sort_by(|a, b| a.0.total_cmp(&b.0));
    let middle = means.len().checked_sub(1)? / 2;
    Some(means[middle].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(ok: bool, value: f64) -> Line {
        Line {
            repetition: 0,
            ok,
            points: vec![(0.0, value)],
            kills: vec![],
        }
    }

    #[test]
    fn the_typical_line_is_the_middle_of_those_that_ended_well() {
        let lines = [line(true, 9.0), line(true, 1.0), line(true, 5.0)];
        assert_eq!(typical(&lines), Some(2));
        let lines = [line(false, 5.0), line(true, 9.0), line(true, 1.0)];
        assert_eq!(typical(&lines), Some(2));
        assert_eq!(typical(&[line(false, 1.0)]), None);
        assert_eq!(typical(&[]), None);
    }
}
