//! A table of a paper.

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Buffer size, in pages.
    pub size: u64,
    /// The column's heading.
    pub column: &'static str,
    /// The value beside, where its source has one.
    pub beside: Option<f64>,
    /// The simulator's value.
    pub ours: f64,
}

/// What the simulator's values stand beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// The values that the paper printed.
    Paper,
    /// Values of our own from another input.
    Reference,
}

/// A table of a paper, with both values of every cell.
pub struct Table {
    pub title: &'static str,
    pub beside: Beside,
    /// Where the values beside come from.
    pub source: &'static str,
    pub note: &'static str,
    pub cells: Vec<Cell>,
}
