//! A column in memory.

/// The values of a column, none of them missing.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    Text(Vec<String>),
    Count(Vec<u64>),
    Real(Vec<f64>),
}

impl Column {
    /// The type as Parquet's schemas name it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Column::Text(_) => "BYTE_ARRAY",
            Column::Count(_) => "INT64",
            Column::Real(_) => "DOUBLE",
        }
    }

    /// What the values mean, beyond the type.
    pub(super) fn meaning(&self) -> &'static str {
        match self {
            Column::Text(_) => " (UTF8)",
            Column::Count(_) | Column::Real(_) => "",
        }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Column::Text(values) => values.len(),
            Column::Count(values) => values.len(),
            Column::Real(values) => values.len(),
        }
    }

    /// Is there no value?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
