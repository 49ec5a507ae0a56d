//! Colours and the form of sizes.
use ratatui::style::{Color, Modifier, Style};

/// The colours, or none.
#[derive(Clone, Copy)]
pub struct Palette {
    pub colors: bool,
}

impl Palette {
    pub fn of(self, color: Color) -> Style {
        match self.colors {
            true => Style::new().fg(color),
            false => Style::new(),
        }
    }

    /// A percentage or the like: calm, worth a look, bad.
    pub fn by(self, value: f64, look: f64, bad: f64) -> Style {
        match value {
            value if value >= bad => self.of(Color::Red).add_modifier(Modifier::BOLD),
            value if value >= look => self.of(Color::Yellow),
            _ => Style::new(),
        }
    }
}

/// What is most looked for.
pub const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);

/// A size of few letters.
pub fn size(bytes: f64) -> String {
    units::format_bytes(bytes)
}
