//! The charts of the story.
use super::when::clock;
use explain::points::{Memory, Point};
use explain::words::name_of;
use explain::Story;
use report::format::charts::line_chart::{Axis, Line, LineChart};
use report::format::charts::marks::{Kind, Mark};
use report::format::charts::scale::thin;

/// Seconds before the event that a chart shows at most, and after it.
const BEFORE_S: f64 = 120.0;
const AFTER_S: f64 = 20.0;
/// A line is thinned to so many pixels.
const PIXELS: usize = 300;

const GIB: f64 = (1_u64 << 30) as f64;
const MIB: f64 = (1_u64 << 20) as f64;

/// A part of memory: its name and its bytes.
type Of = (&'static str, fn(&Memory) -> u64);

/// Where the memory was, as a stack. `None`: too few records for a chart.
pub fn memory(story: &Story) -> Option<LineChart> {
    let parts: [Of; 6] = [
        ("programs", |m| m.anon),
        ("tmpfs and shared memory", |m| m.shmem),
        ("huge pages", |m| m.hugetlb),
        ("kernel", |m| m.slab + m.page_tables + m.kernel_stack),
        ("file pages", |m| m.file),
        ("free", |m| m.free),
    ];
    let shown = fewer(&shown(story));
    if shown.len() < 2 {
        return None;
    }
    let unit = Unit::of(shown.iter().map(|point| point.memory.total));
    let used = |of: fn(&Memory) -> u64| shown.iter().any(|point| of(&point.memory) > 0);
    let lines = parts.into_iter().filter(|(_, of)| used(*of));
    let lines = lines.map(|(name, of)| {
        let value = |point: &&Point| (at(story, point), of(&point.memory) as f64 / unit.bytes);
        Line::exact(name, shown.iter().map(value).collect())
    });
    let lines = lines.collect();
    Some(chart(story, "Where the memory was", unit.name, lines, true))
}

/// As many points as a chart has pixels: the ones with least free memory.
fn fewer<'a>(shown: &[&'a Point]) -> Vec<&'a Point> {
    let (Some(first), Some(last)) = (shown.first(), shown.last()) else {
        return Vec::new();
    };
    let step_s = (last.unix_s - first.unix_s).max(1.0) / PIXELS as f64;
    let bucket = |point: &Point| ((point.unix_s - first.unix_s) / step_s) as u64;
    let buckets = shown.chunk_by(|a, b| bucket(a) == bucket(b));
    let least = buckets.filter_map(|some| some.iter().min_by_key(|point| point.memory.free));
    least.copied().collect()
}

/// What was left, who took it, who waited, and what was read again.
pub fn beside(story: &Story) -> Vec<LineChart> {
    let shown = shown(story);
    if shown.len() < 2 {
        return Vec::new();
    }
    let mut charts = vec![left(story, &shown)];
    charts.extend(takers(story));
    let rate = |name: &str, of: fn(&Point) -> f64| {
        // A first record has no rates.
        let points = shown.iter().filter(|point| point.dt_s > 0.0);
        let points: Vec<_> = points.map(|point| (at(story, point), of(point))).collect();
        Line::exact(name, thin(&points, PIXELS))
    };
    let waiting = vec![
        rate("some task", |point| 100.0 * point.some),
        rate("every task", |point| 100.0 * point.full),
    ];
    let title = "Waiting for memory (pressure)";
    charts.push(chart(story, title, "% of the time", waiting, false));
    let again = vec![
        rate("file pages read again", |point| point.rates.refault_file),
        rate("program pages read again", |point| point.rates.refault_anon),
        rate("pages from swap", |point| point.rates.swap_in),
    ];
    charts.push(chart(story, "Read again", "pages a second", again, false));
    charts
}

fn left(story: &Story, shown: &[&Point]) -> LineChart {
    let unit = Unit::of(shown.iter().map(|point| point.memory.left()));
    let parts: [Of; 4] = [
        ("all that programs could take", Memory::left),
        ("available memory", |m| m.available),
        ("free memory", |m| m.free),
        ("free swap", |m| m.swap_free),
    ];
    let swap = shown.iter().any(|point| point.memory.swap > 0);
    let parts = parts.into_iter().filter(|(name, _)| {
        // Without swap all that is left is the available memory.
        swap || !["all that programs could take", "free swap"].contains(name)
    });
    let lines = parts.map(|(name, of)| {
        let value = |point: &&Point| (at(story, point), of(&point.memory) as f64 / unit.bytes);
        let points: Vec<_> = shown.iter().map(value).collect();
        Line::exact(name, thin(&points, PIXELS))
    });
    let lines = lines.collect();
    chart(story, "What was left", unit.name, lines, false)
}

fn takers(story: &Story) -> Option<LineChart> {
    let (from_s, to_s) = ends(story);
    let values = story.courses.iter().flat_map(|one| &one.points);
    let unit = Unit::of(values.map(|(_, bytes)| *bytes));
    let lines = story.courses.iter().map(|one| {
        let points = one.points.iter();
        let points = points.filter(|(at_s, _)| (from_s..=to_s).contains(at_s));
        let points: Vec<_> = points
            .map(|(at_s, bytes)| (at_s - story.episode.begin_s, *bytes as f64 / unit.bytes))
            .collect();
        Line::exact(name_of(&one.who), thin(&points, PIXELS))
    });
    let lines: Vec<Line> = lines.collect();
    let some = lines.iter().any(|line| line.points.len() > 1);
    some.then(|| chart(story, "Who took it", unit.name, lines, false))
}

fn chart(story: &Story, title: &str, unit: &str, lines: Vec<Line>, stacked: bool) -> LineChart {
    LineChart {
        title: title.into(),
        x: Axis::linear(format!("seconds from {}", clock(story.episode.begin_s))),
        y: Axis::linear(unit),
        lines,
        marks: marks(story),
        stacked,
    }
}

fn marks(story: &Story) -> Vec<Mark> {
    let begin_s = story.episode.begin_s;
    let mark = |name: &str, kind, from_s: f64, to_s: f64| Mark {
        name: name.into(),
        kind,
        from: from_s - begin_s,
        to: to_s - begin_s,
    };
    let event = mark("the event", Kind::Stretch, begin_s, story.episode.end_s);
    let mut marks = vec![event];
    let shown = shown(story);
    for point in shown.iter().filter(|point| point.kills > 0) {
        marks.push(mark("a kill", Kind::End, point.unix_s, point.unix_s));
    }
    if let Some(found) = &story.foresight {
        let (from_s, _) = ends(story);
        if found.at_s >= from_s {
            marks.push(mark("foreseeable", Kind::Hint, found.at_s, found.at_s));
        }
    }
    marks
}

/// Seconds since 1970 of a chart's ends.
fn ends(story: &Story) -> (f64, f64) {
    let foreseen_s = story.foresight.map_or(f64::INFINITY, |found| found.at_s);
    let begin_s = story.episode.begin_s;
    let calm_s = story.growth.calm_s.max(begin_s - BEFORE_S);
    // Some calm before the first sign.
    let from_s = calm_s.min(foreseen_s).min(begin_s - 10.0) - 5.0;
    (from_s, story.episode.end_s + AFTER_S)
}

fn shown(story: &Story) -> Vec<&Point> {
    let (from_s, to_s) = ends(story);
    let points = story.points.iter();
    points
        .filter(|point| (from_s..=to_s).contains(&point.unix_s))
        .collect()
}

/// Seconds from the event's begin.
fn at(story: &Story, point: &Point) -> f64 {
    point.unix_s - story.episode.begin_s
}

/// The unit of an axis.
struct Unit {
    name: &'static str,
    bytes: f64,
}

impl Unit {
    fn of(values: impl Iterator<Item = u64>) -> Unit {
        match values.max().unwrap_or(0) as f64 >= 2.0 * GIB {
            true => Unit {
                name: "GiB",
                bytes: GIB,
            },
            false => Unit {
                name: "MiB",
                bytes: MIB,
            },
        }
    }
}
