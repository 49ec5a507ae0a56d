//! The screen: from 80 columns and 24 lines on, and larger.
mod free;
mod panels;
mod style;

use super::app::App;
use super::moment::Moment;
use crate::status::format::{span, time_of_day};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Wrap};
use ratatui::Frame;
pub use style::Palette;
use style::{size, BOLD};

/// Draws what `app` shows.
pub fn draw(frame: &mut Frame, app: &App, palette: Palette) {
    let area = frame.area();
    let Some(moment) = app.shown() else {
        frame.render_widget(Paragraph::new("reading the machine ..."), area);
        return;
    };
    let [head, chart, middle, lists, keys] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Fill(2),
        Constraint::Length(5),
        Constraint::Fill(2),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(head_lines(app, moment, palette)), head);
    free::draw(frame, chart, app, moment, palette);
    let halves = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]);
    let [left, right] = halves.areas(middle);
    panels::reclaim(frame, left, moment, palette);
    panels::memory(frame, right, moment);
    let [left, right] = halves.areas(lists);
    panels::groups(frame, left, moment, palette);
    panels::events(frame, right, app, moment, palette);
    frame.render_widget(Paragraph::new(key_line()), keys);
    if app.explains {
        explain(frame, area, app);
    }
}

fn head_lines(app: &App, moment: &Moment, palette: Palette) -> Vec<Line<'static>> {
    let when = match (app.seconds_back(), &app.recording) {
        (Some(seconds), None) if seconds > 0.0 => format!("{} ago", span(Some(seconds))),
        (Some(_), None) => "held".to_owned(),
        (_, Some(name)) => format!("{name} at {:.0} s", moment.t),
        (None, None) => "live".to_owned(),
    };
    let clock = moment
        .at_unix_s
        .map_or(String::new(), |at| format!("  {}", time_of_day(at)));
    let first = Line::from(vec![
        Span::styled("hotset top", BOLD),
        format!("  Linux {}, {}  ", app.release, size(moment.total)).into(),
        Span::styled(when, palette.of(Color::Cyan)),
        clock.into(),
    ]);
    let mut second = vec!["stalled in the last 10 s: ".into()];
    match moment.stalled {
        None => second.push("? (no PSI)".into()),
        Some((some, full)) => second.extend([
            Span::styled(format!("some {some:.1}%"), palette.by(some, 5.0, 20.0)),
            ", ".into(),
            Span::styled(format!("all {full:.1}%"), palette.by(full, 2.0, 10.0)),
        ]),
    }
    second.push("   ".into());
    second.push(match &moment.daemon {
        Some(status) if status.dry_run => "hotsetd runs dry".into(),
        Some(status) => Span::styled(
            format!("hotsetd {} acts", status.version),
            palette.of(Color::Green),
        ),
        None if moment.denied => {
            Span::styled("to see hotsetd: sudo hotset top", palette.of(Color::Yellow))
        }
        None if app.recording.is_some() => "what hotsetd would do".into(),
        None => Span::styled(
            "no daemon: what hotsetd would do",
            palette.of(Color::Yellow),
        ),
    });
    vec![first, Line::from(second)]
}

fn key_line() -> Line<'static> {
    Line::from("q quit  left/right time  PgUp/PgDn page  Home/End  up/down event  Enter why")
        .style(Style::new().add_modifier(Modifier::DIM))
}

/// The event that is pointed at, with its whole reason.
fn explain(frame: &mut Frame, area: Rect, app: &App) {
    let Some(event) = app.event() else { return };
    let width = area.width.saturating_sub(8).clamp(20, 76);
    let height = area.height.saturating_sub(4).clamp(5, 12);
    let place = Rect {
        x: area.x + (area.width.saturating_sub(width)) / 2,
        y: area.y + (area.height.saturating_sub(height)) / 2,
        width: width.min(area.width),
        height: height.min(area.height),
    };
    let text = vec![
        Line::styled(event.what.clone(), BOLD),
        Line::default(),
        Line::from(format!("Why: {}", event.why)),
        Line::from(format!("Outcome: {}", event.outcome)),
    ];
    let block = Block::bordered().title(" Why  (Enter or Esc closes) ");
    frame.render_widget(Clear, place);
    let text = Paragraph::new(text).wrap(Wrap { trim: true });
    frame.render_widget(text.block(block), place);
}

#[cfg(test)]
mod tests {
    use super::super::moment::{Event, Rates};
    use super::*;
    use ratatui::backend::TestBackend;
    use ratatui::Terminal;
    use std::rc::Rc;

    const GIB: f64 = (1 << 30) as f64;

    fn moment(t: f64) -> Moment {
        Moment {
            t,
            at_unix_s: Some(1.7e9 + t),
            total: 16.0 * GIB,
            free: (8.0 - t / 20.0) * GIB,
            min: 0.1 * GIB,
            low: 0.2 * GIB,
            high: 0.3 * GIB,
            anon: 5.0 * GIB,
            file: 2.0 * GIB,
            swap_total: GIB,
            swap_free: 0.5 * GIB,
            stalled: Some((12.5, 1.0)),
            rates: Rates {
                kswapd: 0.02 * GIB,
                allocstall: 3.0,
                ..Rates::default()
            },
            low_in_s: Some(40.0),
            low_earliest_s: Some(20.0),
            groups: vec![super::super::cgroups::Group {
                name: "system.slice/database.service".to_owned(),
                anon: 1 << 30,
                file: 1 << 29,
                ..Default::default()
            }],
            events: Rc::new(vec![Event {
                at_s: 1.7e9,
                what: "vm.watermark_scale_factor = 120".to_owned(),
                why: "a burst of a long kind takes more than the gap holds".to_owned(),
                outcome: "written".to_owned(),
            }]),
            ..Moment::default()
        }
    }

    fn screen(width: u16, height: u16, app: &App) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let palette = Palette { colors: false };
        terminal.draw(|frame| draw(frame, app, palette)).unwrap();
        let buffer = terminal.backend().buffer();
        let cells = buffer.content().chunks(usize::from(width));
        cells
            .map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>())
            .collect()
    }

    fn app() -> App {
        let mut app = App::new("6.12.8", None);
        for t in 0..100 {
            app.push(moment(f64::from(t)));
        }
        app
    }

    #[test]
    fn everything_is_on_a_screen_of_80_columns_and_24_lines() {
        let text = screen(80, 24, &app()).join("\n");
        for part in [
            "Linux 6.12.8, 16.0 GiB",
            "some 12.5%",
            "no daemon",
            "at low in 40.0 s",
            "kswapd",
            "20.5 MiB/s",
            "database ",
            "1.5 GiB",
            "watermark_scale_factor",
            "swap",
            "512.0 MiB free",
            "q quit",
        ] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
    }

    #[test]
    fn an_event_is_explained_with_its_whole_reason() {
        let mut app = app();
        app.explains = true;
        let text = screen(80, 24, &app).join("\n");
        assert!(text.contains("takes more than the gap holds"), "{text}");
        assert!(text.contains("Outcome: written"), "{text}");
    }

    #[test]
    fn no_size_of_the_terminal_ends_the_program() {
        for (width, height) in [(1, 1), (10, 3), (40, 10), (80, 24), (200, 50)] {
            let mut app = app();
            screen(width, height, &app);
            app.explains = true;
            screen(width, height, &app);
            screen(width, height, &App::default());
        }
    }
}
