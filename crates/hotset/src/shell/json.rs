//! What `--json` promises, in the same words in each help text.

pub const JSON: &str = "Print one JSON object";
pub const JSON_LINES: &str = "Print JSON Lines: one object a line";
pub const JSON_SUMMARY: &str =
    "Print a summary as one JSON object: on standard output, or on standard error where OUTPUT is -";
