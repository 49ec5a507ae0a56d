//! Free memory of the last minutes, the watermarks, and the forecast ahead of now.
use super::super::app::App;
use super::super::moment::Moment;
use super::style::{size, Palette};
use crate::status::format::span;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::symbols::Marker;
use ratatui::widgets::{Axis, Block, Chart, Dataset, GraphType};
use ratatui::Frame;

/// Seconds that are drawn of the past.
const PAST_S: f64 = 120.0;
/// Seconds that are drawn ahead of now.
const AHEAD_S: f64 = 60.0;

type Points = Vec<(f64, f64)>;

pub fn draw(frame: &mut Frame, area: Rect, app: &App, now: &Moment, palette: Palette) {
    let since = |moment: &Moment| moment.t - now.t;
    let free: Points = app
        .past(PAST_S)
        .map(|moment| (since(moment), moment.free))
        .collect();
    let ahead = forecast(now);
    let level = |value: f64| vec![(-PAST_S, value), (AHEAD_S, value)];
    let (low, min) = (level(now.low), level(now.min));
    let most = free
        .iter()
        .map(|point| point.1)
        .fold(now.high * 2.0, f64::max)
        * 1.05;
    let set = |style: Style, marker: Marker| {
        Dataset::default()
            .style(style)
            .marker(marker)
            .graph_type(GraphType::Line)
    };
    let mut sets = vec![
        set(palette.of(Color::Yellow), Marker::Dot).data(&low),
        set(palette.of(Color::Red), Marker::Dot).data(&min),
        set(palette.of(Color::Green), Marker::Braille).data(&free),
    ];
    if let Some(ahead) = &ahead {
        sets.push(set(palette.of(Color::Magenta), Marker::Dot).data(ahead));
    }
    let x = Axis::default()
        .bounds([-PAST_S, AHEAD_S])
        .labels(["-2 min", "-1 min", "now", "+1 min"]);
    let y = Axis::default()
        .bounds([0.0, most.max(1.0)])
        .labels(["0".to_owned(), size(most)]);
    let chart = Chart::new(sets)
        .block(Block::bordered().title(title(now)))
        .x_axis(x)
        .y_axis(y);
    frame.render_widget(chart, area);
}

/// The line from now to the low watermark, as far as it is drawn.
fn forecast(now: &Moment) -> Option<Points> {
    let seconds = now.low_in_s?;
    if seconds <= 0.0 {
        return None;
    }
    let end = seconds.min(AHEAD_S);
    let fall = (now.free - now.low) / seconds * end;
    Some(vec![(0.0, now.free), (end, now.free - fall)])
}

fn title(now: &Moment) -> String {
    let ahead = match (now.low_in_s, now.low_earliest_s) {
        (Some(at), Some(earliest)) => {
            format!(
                "at low in {}, earliest {}",
                span(Some(at)),
                span(Some(earliest))
            )
        }
        (Some(at), None) => format!("at low in {}", span(Some(at))),
        (None, _) => "not falling".to_owned(),
    };
    format!(" Free {}, low {}, {ahead} ", size(now.free), size(now.low))
}
