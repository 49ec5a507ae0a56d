//! Reclaim, memory, cgroups and events.
use super::super::app::App;
use super::super::moment::Moment;
use super::style::{size, Palette, BOLD};
use crate::status::format::time_of_day;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Row, Table};
use ratatui::Frame;

fn each(bytes: f64) -> String {
    format!("{}/s", size(bytes.max(0.0)))
}

/// Who reclaims, and what it costs.
pub fn reclaim(frame: &mut Frame, area: Rect, moment: &Moment, palette: Palette) {
    let rates = &moment.rates;
    let direct = palette.by(rates.direct, 1.0, 1e8);
    let lines = vec![
        Line::from(format!(
            "kswapd {}, ahead {}",
            each(rates.kswapd),
            each(rates.proactive)
        )),
        Line::from(vec![
            Span::styled(format!("direct {}", each(rates.direct)), direct),
            Span::styled(
                format!(", {:.1} stalls/s", rates.allocstall),
                palette.by(rates.allocstall, 1.0, 100.0),
            ),
        ]),
        Line::from(format!(
            "refaults {}, demand {}",
            each(rates.refaults),
            each(rates.demand)
        )),
    ];
    let block = Block::bordered().title(" Reclaim ");
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Page types with the floors under them, and swap.
pub fn memory(frame: &mut Frame, area: Rect, moment: &Moment) {
    let floor = |name: &str, bytes: f64| match bytes {
        0.0 => String::new(),
        bytes => format!(", {name} {}", size(bytes)),
    };
    let (file, anon) = match &moment.daemon {
        None => (String::new(), String::new()),
        Some(daemon) if daemon.clean_min > 0.0 => (
            floor("floor", daemon.clean_min),
            floor("floor", daemon.anon_min),
        ),
        Some(daemon) => (
            floor("soft floor", daemon.clean_low),
            floor("floor", daemon.anon_min),
        ),
    };
    let swap = match moment.swap_total {
        0.0 => "no swap".to_owned(),
        total => {
            let zswap = match moment.zswap {
                0.0 => String::new(),
                bytes => format!(", zswap {}", size(bytes)),
            };
            format!(
                "swap {}, {} free{zswap}",
                size(total),
                size(moment.swap_free)
            )
        }
    };
    let lines = vec![
        Line::from(format!("files {}{file}", size(moment.file))),
        Line::from(format!("anonymous {}{anon}", size(moment.anon))),
        Line::from(swap),
    ];
    let block = Block::bordered().title(" Memory ");
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// The cgroups, the largest first.
pub fn groups(frame: &mut Frame, area: Rect, moment: &Moment, palette: Palette) {
    let block = Block::bordered().title(" Cgroups ");
    if moment.groups.is_empty() {
        let none = "they need version 2, with memory";
        frame.render_widget(Paragraph::new(none).block(block), area);
        return;
    }
    let room = usize::from(area.width).saturating_sub(26).max(8);
    let rows = moment.groups.iter().map(|group| {
        let style = palette.by(group.refaults_per_s, 1e5, 1e7);
        Row::new([
            Span::raw(short(&group.name, room)),
            Span::raw(size(group.size() as f64)),
            Span::styled(each(group.refaults_per_s), style),
        ])
    });
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(10),
        Constraint::Length(12),
    ];
    let head = Row::new(["", "size", "refaults"]).style(BOLD);
    frame.render_widget(Table::new(rows, widths).header(head).block(block), area);
}

/// A group's name in `most` columns: its last part where all of it is too long, and of that the end.
fn short(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    let last = name.rsplit('/').next().unwrap_or(name);
    let last = last.strip_suffix(".service").unwrap_or(last);
    let length = last.chars().count();
    match length > most {
        true => format!(
            "..{}",
            last.chars().skip(length + 2 - most).collect::<String>()
        ),
        false => last.to_owned(),
    }
}

/// The events, the newest first.
pub fn events(frame: &mut Frame, area: Rect, app: &App, moment: &Moment, palette: Palette) {
    let title = match moment.daemon {
        Some(_) => " What the daemon did ",
        None => " What the daemon would do ",
    };
    let lines = usize::from(area.height.saturating_sub(2));
    let first = (app.event + 1).saturating_sub(lines);
    let events = moment
        .events
        .iter()
        .rev()
        .enumerate()
        .skip(first)
        .take(lines);
    let text: Vec<Line> = events
        .map(|(place, event)| {
            let time = match moment.at_unix_s {
                Some(_) => time_of_day(event.at_s),
                None => format!("{:.0} s", event.at_s),
            };
            let style = match place == app.event {
                true => Style::new().add_modifier(Modifier::REVERSED),
                false => Style::new(),
            };
            let kill = event.what.starts_with("killed");
            let what = if kill {
                palette.of(Color::Red)
            } else {
                Style::new()
            };
            Line::from(vec![
                format!("{time} ").into(),
                Span::styled(event.what.clone(), what),
            ])
            .style(style)
        })
        .collect();
    let text = if text.is_empty() {
        vec![Line::from("nothing yet")]
    } else {
        text
    };
    frame.render_widget(
        Paragraph::new(text).block(Block::bordered().title(title)),
        area,
    );
}
