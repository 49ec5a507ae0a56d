//! Moments and stretches of time on a chart.
use super::scale::Scale;
use super::svg::segment;
use crate::format::text;
use maud::{html as markup, Markup};

/// A moment or a stretch.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// For the key, which has each name once.
    pub name: String,
    pub kind: Kind,
    /// Where it begins and ends; the same for a moment.
    pub from: f64,
    pub to: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A shade behind the lines.
    Stretch,
    /// A line where something ended.
    End,
    /// A dashed line where something could be known.
    Hint,
}

impl Kind {
    fn class(self) -> &'static str {
        match self {
            Kind::Stretch => "span",
            Kind::End => "mark end",
            Kind::Hint => "mark hint",
        }
    }
}

/// A stretch is at least so wide, in the drawing's units.
const LEAST: f64 = 2.0;

/// The stretches. `ends`: the plot's upper and lower edge.
pub(super) fn behind(marks: &[Mark], x: Scale, ends: (f64, f64)) -> Markup {
    markup! {
        @for mark in marks.iter().filter(|mark| mark.kind == Kind::Stretch) {
            @let wide = (x.at(mark.to) - x.at(mark.from)).max(LEAST);
            rect class=(mark.kind.class()) x=(format!("{:.1}", x.at(mark.from))) y=(ends.0)
                width=(format!("{wide:.1}")) height=(ends.1 - ends.0) {}
        }
    }
}

/// The moments.
pub(super) fn before(marks: &[Mark], x: Scale, ends: (f64, f64)) -> Markup {
    markup! {
        @for mark in marks.iter().filter(|mark| mark.kind != Kind::Stretch) {
            (segment(mark.kind.class(), (x.at(mark.from), ends.0), (x.at(mark.from), ends.1)))
        }
    }
}

/// Each name beside its sign.
pub(super) fn keys(marks: &[Mark]) -> Markup {
    let mut named: Vec<&Mark> = Vec::new();
    for mark in marks {
        if !named.iter().any(|known| known.name == mark.name) {
            named.push(mark);
        }
    }
    markup! {
        @for mark in named {
            span class="one-key" {
                svg class="key" viewBox="0 0 12 12" aria-hidden="true" {
                    @if mark.kind == Kind::Stretch {
                        rect class=(mark.kind.class()) width="12" height="12" {}
                    } @else {
                        (segment(mark.kind.class(), (6.0, 0.0), (6.0, 12.0)))
                    }
                }
                (text::line(&mark.name))
            } " "
        }
    }
}
