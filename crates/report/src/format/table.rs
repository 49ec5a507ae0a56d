//! A table, before it becomes HTML, Markdown or text.

/// The meaning of a text for the result. Formats show the tone as a colour. The text has the same meaning,
/// so the colour never stands alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Good,
    Bad,
    Faint,
}

/// One cell: a text, and smaller ones below it.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub main: String,
    pub tone: Tone,
    /// Further lines, in smaller print.
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

/// A row of a table; its first cell is its header.
#[derive(Clone, Debug)]
pub struct Row {
    /// The arm's place among the arms of the run, which gives its colour and marker.
    pub arm: Option<usize>,
    pub cells: Vec<Cell>,
}

/// Rows that belong together.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The heading above the group's rows; none in a table of one group.
    pub title: Option<String>,
    pub rows: Vec<Row>,
}

/// A table with a caption, heads, groups of rows and notes.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub caption: String,
    /// The head of each column, and its small print, such as "higher is better".
    pub head: Vec<(String, String)>,
    pub groups: Vec<Group>,
    /// Reasons for missing numbers, to which cells refer as `note 1`.
    pub notes: Vec<String>,
}

impl Table {
    /// A table of one group, whose heads have no small print.
    pub fn plain(caption: &str, head: &[&str], rows: impl Iterator<Item = Row>) -> Table {
        Table {
            caption: caption.into(),
            head: head
                .iter()
                .map(|h| (h.to_string(), String::new()))
                .collect(),
            groups: vec![Group {
                title: None,
                rows: rows.collect(),
            }],
            notes: Vec::new(),
        }
    }
}

/// The reasons for the missing numbers of a table, each once.
#[derive(Debug, Default)]
pub struct Notes(Vec<String>);

impl Notes {
    /// The text by which a cell refers to this reason, such as `note 1`.
    pub fn mark(&mut self, reason: &str) -> String {
        let place = match self.0.iter().position(|known| known == reason) {
            Some(place) => place,
            None => {
                self.0.push(reason.to_string());
                self.0.len() - 1
            }
        };
        format!("note {}", place + 1)
    }

    /// A dash in the place of a number, with its reason.
    pub fn dash(&mut self, reason: &str) -> Cell {
        Cell::number("–").with(self.mark(reason), Tone::Faint)
    }

    /// All reasons in order, as `Note 1: …`.
    pub fn lines(self) -> Vec<String> {
        let numbered = self.0.into_iter().enumerate();
        numbered
            .map(|(place, reason)| format!("Note {}: {reason}.", place + 1))
            .collect()
    }
}
