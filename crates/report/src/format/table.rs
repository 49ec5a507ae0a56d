//! A table before it is HTML, Markdown or text.

/// What a piece of text says of the result; formats colour it, and the words say it too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Good,
    Bad,
    Faint,
    /// A sentence on what is missing: as bad as `Bad`, but long.
    Gap,
}

#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub main: String,
    pub tone: Tone,
    /// Second and further lines, smaller.
    pub small: Vec<(String, Tone)>,
    pub numeric: bool,
}

impl Cell {
    pub fn text(main: impl Into<String>) -> Cell {
        Cell {
            main: main.into(),
            ..Cell::default()
        }
    }

    pub fn number(main: impl Into<String>) -> Cell {
        Cell {
            numeric: true,
            ..Cell::text(main)
        }
    }

    pub fn toned(mut self, tone: Tone) -> Cell {
        self.tone = tone;
        self
    }

    pub fn with(mut self, text: impl Into<String>, tone: Tone) -> Cell {
        self.small.push((text.into(), tone));
        self
    }
}

/// The first cell of a row is its header.
#[derive(Clone, Debug)]
pub struct Row {
    /// Place of the arm among the run's, for its colour.
    pub arm: Option<usize>,
    pub cells: Vec<Cell>,
}

#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Heads the group's rows; none in a table of one group.
    pub title: Option<String>,
    pub rows: Vec<Row>,
}

#[derive(Clone, Debug, Default)]
pub struct Table {
    pub caption: String,
    /// Column heads; the second string is small print, such as "higher is better".
    pub head: Vec<(String, String)>,
    pub groups: Vec<Group>,
}
