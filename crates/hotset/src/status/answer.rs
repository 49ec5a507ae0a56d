//! The daemon's answer, as text that cannot control a terminal.
use names::escaped;
use serde_json::{Map, Value};
use std::fmt::Write;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Most bytes of a document. hotsetd writes some thousands.
const MOST: u64 = 16 << 20;

/// The text that the daemon sends.
///
/// # Errors
/// Nobody listens, or the answer does not come.
pub fn ask(socket: &Path) -> io::Result<String> {
    let stream = UnixStream::connect(socket)?;
    // The daemon answers at once or not at all.
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut document = String::new();
    stream.take(MOST).read_to_string(&mut document)?;
    Ok(document)
}

/// The document without control characters in its names and reasons.
///
/// # Errors
/// The reason why the text is not the status of a daemon that this version understands.
pub fn parse(document: &str) -> Result<status::Status, String> {
    let foreign = |_| FOREIGN.to_owned();
    // A list would do for serde: its entries would be the fields.
    let fields: Map<String, Value> = serde_json::from_str(document).map_err(foreign)?;
    check(&fields)?;
    let mut value = Value::Object(fields);
    clean(&mut value);
    serde_json::from_value(value).map_err(foreign)
}

/// The answer of another program.
pub const FOREIGN: &str = "the answer is not from hotsetd; name its socket by --socket";

/// The reader of the document gives defaults to fields that are missing. A page of defaults would look like an idle
/// daemon, so the fields that every daemon sends must be there.
fn check(fields: &Map<String, Value>) -> Result<(), String> {
    match fields.get("schema").and_then(Value::as_str) {
        Some(status::SCHEMA) => {}
        Some(other) if other.starts_with("hotset.status.") => {
            return Err(format!(
                "the daemon answers in {other}, and this hotset reads {}; use the hotset that was installed with \
                 the daemon",
                status::SCHEMA
            ));
        }
        _ => return Err(FOREIGN.to_owned()),
    }
    match status::REQUIRED
        .iter()
        .find(|name| fields.get(**name).is_none_or(Value::is_null))
    {
        Some(missing) => Err(format!("`{missing}` is missing: {FOREIGN}")),
        None => Ok(()),
    }
}

fn clean(value: &mut Value) {
    match value {
        Value::String(text) => *text = escaped(text).replace('\n', "\\n"),
        Value::Array(values) => values.iter_mut().for_each(clean),
        Value::Object(fields) => fields.values_mut().for_each(clean),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The document as one line, for programs. JSON has its own escapes for control characters, and its strings
/// hold none of ASCII's unescaped.
pub fn one_line(document: &str) -> String {
    let mut line = String::with_capacity(document.len());
    for letter in document.trim().chars() {
        match letter {
            '\n' | '\r' | '\t' => line.push(' '),
            control if control.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(line, "\\u{:04x}", u32::from(control));
            }
            other => line.push(other),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_is_the_same_document_without_control_characters() {
        let document = "{\n\t\"a\":\r\n \"\u{9b}1m\u{7f}\\u001b\\n\"}\n";
        let line = one_line(document);
        assert!(!line.contains(char::is_control), "{line:?}");
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(read(&line), read(document));
    }
}
