//! The steps that long work reports.

/// One report from long work. Between a `Begin` and its `End`, work sends at least two `Advance` a
/// second, so that a renderer can show that time passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A phase begins. `total` is in `unit`, where it is known or can be guessed.
    Begin {
        title: String,
        total: Option<u64>,
        unit: Unit,
    },
    /// `done` units of the phase's total are done. `detail` is the current item ("CC mm/vmscan.o").
    Advance { done: u64, detail: String },
    /// The phase is over; `text` is a line about it.
    End { text: String },
    /// A line of its own.
    Note { text: String },
}

/// The unit that a phase counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    /// Commands of a build, files copied.
    Steps,
    /// Things of this name, in the plural.
    Of(&'static str),
}

/// The callback that receives the steps.
pub type Progress<'a> = dyn FnMut(Step) + 'a;
