//! What is looked at, and the keys that change it.
use super::moment::{Event, Moment};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::collections::VecDeque;

/// Moments kept: an hour, one a second.
const KEPT: usize = 3600;
/// Moments that a page has.
const PAGE: usize = 60;

/// The moments, and the one that is shown.
#[derive(Default)]
pub struct App {
    pub release: String,
    /// The moments do not grow: they are a recording's.
    pub recording: Option<String>,
    moments: VecDeque<Moment>,
    /// Counted from the newest moment; `None`: the newest, whichever that is.
    back: Option<usize>,
    /// The event that is pointed at, counted from the newest.
    pub event: usize,
    /// The event is explained.
    pub explains: bool,
    pub over: bool,
    /// Ctrl-C ended it.
    pub interrupted: bool,
}

impl App {
    /// `recording`: the name of the file that all moments come from.
    pub fn new(release: &str, recording: Option<String>) -> App {
        App {
            release: release.to_owned(),
            recording,
            ..App::default()
        }
    }

    /// Adds a moment. The one that is looked at stays.
    pub fn push(&mut self, moment: Moment) {
        self.moments.push_back(moment);
        if let Some(back) = &mut self.back {
            *back += 1;
        }
        if self.moments.len() > KEPT && self.recording.is_none() {
            self.moments.pop_front();
        }
        self.back = self.back.map(|back| back.min(self.moments.len() - 1));
    }

    /// The moment that is shown. `None` before the first.
    pub fn shown(&self) -> Option<&Moment> {
        self.moments.get(self.index()?)
    }

    fn index(&self) -> Option<usize> {
        (self.moments.len().checked_sub(1)?).checked_sub(self.back.unwrap_or(0))
    }

    /// The moments up to the shown one that lie in its last `seconds`, the newest first.
    pub fn past(&self, seconds: f64) -> impl Iterator<Item = &Moment> {
        let end = self.index().map_or(0, |index| index + 1);
        let now = self.shown().map_or(0.0, |moment| moment.t);
        let past = self.moments.range(..end).rev();
        past.take_while(move |moment| now - moment.t <= seconds)
    }

    /// Seconds from the shown moment to the newest; `None`: it is the newest, and follows.
    pub fn seconds_back(&self) -> Option<f64> {
        self.back?;
        Some(self.moments.back()?.t - self.shown()?.t)
    }

    /// The event that is pointed at.
    pub fn event(&self) -> Option<&Event> {
        let events = &self.shown()?.events;
        events.get(events.len().checked_sub(self.event + 1)?)
    }

    pub fn key(&mut self, key: KeyEvent) {
        let last = self.moments.len().saturating_sub(1);
        let back = self.back.unwrap_or(0);
        match key.code {
            KeyCode::Char('c') if key.modifiers == KeyModifiers::CONTROL => {
                (self.over, self.interrupted) = (true, true);
            }
            KeyCode::Char('q') => self.over = true,
            KeyCode::Esc if self.explains => self.explains = false,
            KeyCode::Esc => self.over = true,
            KeyCode::Left | KeyCode::Char('h') => self.back = Some((back + 1).min(last)),
            KeyCode::Right | KeyCode::Char('l') => {
                self.back = back.checked_sub(1).filter(|back| *back > 0)
            }
            KeyCode::PageUp => self.back = Some((back + PAGE).min(last)),
            KeyCode::PageDown => self.back = back.checked_sub(PAGE).filter(|back| *back > 0),
            KeyCode::Home => self.back = Some(last),
            KeyCode::End => self.back = None,
            KeyCode::Char(' ') => self.back = if self.back.is_some() { None } else { Some(0) },
            KeyCode::Up | KeyCode::Char('k') => self.event = self.event.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.event += 1,
            KeyCode::Enter => self.explains = !self.explains && self.event().is_some(),
            _ => {}
        }
        let events = self.shown().map_or(0, |moment| moment.events.len());
        self.event = self.event.min(events.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(moments: usize) -> App {
        let mut app = App::default();
        for t in 0..moments {
            app.push(Moment {
                t: t as f64,
                ..Moment::default()
            });
        }
        app
    }

    fn press(app: &mut App, code: KeyCode) {
        app.key(KeyEvent::new(code, KeyModifiers::NONE));
    }

    #[test]
    fn the_moment_that_is_looked_at_stays_while_others_come() {
        let mut app = app(100);
        assert_eq!(app.shown().unwrap().t, 99.0);
        press(&mut app, KeyCode::Left);
        press(&mut app, KeyCode::PageUp);
        assert_eq!(app.shown().unwrap().t, 38.0);
        app.push(Moment {
            t: 100.0,
            ..Moment::default()
        });
        assert_eq!(
            (app.shown().unwrap().t, app.seconds_back()),
            (38.0, Some(62.0))
        );
        press(&mut app, KeyCode::Home);
        press(&mut app, KeyCode::Left);
        assert_eq!(app.shown().unwrap().t, 0.0);
        press(&mut app, KeyCode::End);
        assert_eq!((app.shown().unwrap().t, app.seconds_back()), (100.0, None));
    }

    #[test]
    fn an_hour_is_kept_and_the_oldest_goes() {
        let mut app = app(KEPT);
        press(&mut app, KeyCode::Home);
        app.push(Moment {
            t: KEPT as f64,
            ..Moment::default()
        });
        assert_eq!(app.shown().unwrap().t, 1.0);
        assert_eq!(app.past(1e9).count(), 1);
    }

    #[test]
    fn keys_without_a_moment_or_an_event_do_nothing() {
        let mut app = App::default();
        for code in [
            KeyCode::Left,
            KeyCode::Right,
            KeyCode::Down,
            KeyCode::Enter,
            KeyCode::Home,
        ] {
            press(&mut app, code);
            assert!(app.shown().is_none() && app.event().is_none() && !app.explains);
        }
        press(&mut app, KeyCode::Esc);
        assert!(app.over);
    }
}
