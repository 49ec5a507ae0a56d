//! Errors of the crates as Python's exceptions.
use pyo3::exceptions::PyValueError;
use pyo3::PyErr;
use std::fmt::Display;
use std::io;

/// A `ValueError`.
pub fn value(problem: impl Display) -> PyErr {
    PyValueError::new_err(problem.to_string())
}

/// What a trace's file has done wrong: an `OSError` where the file system refuses, else a `ValueError`.
pub fn trace(error: &trace::Error) -> PyErr {
    match error {
        trace::Error::Io { cause, .. } => io::Error::new(cause.kind(), error.to_string()).into(),
        _ => value(in_python(error.to_string())),
    }
}

/// Options of the command line that messages name, and those of Python.
const OPTIONS: [(&str, &str); 7] = [
    ("--format oracleGeneral", "format=\"oracleGeneral\""),
    ("--format text", "format=\"text\""),
    ("--names strings", "names=\"strings\""),
    ("--no-header", "header=False"),
    ("--id-column N", "id_column=N"),
    ("--id-column", "id_column"),
    ("--skip-bad", "skip_bad=True"),
];

/// A message with the options as Python has them.
pub fn in_python(message: String) -> String {
    let replace = |text: String, (command, python): &(&str, &str)| text.replace(command, python);
    OPTIONS.iter().fold(message, replace)
}
