//! What the configuration files set, for `--check-config`.
use crate::config::check::Problem;
use crate::config::file::Layer;
use std::fmt::{Result, Write};

/// A line for each file, and below it one for each of its settings; the notes at the end.
pub fn summary(layers: &[Layer], notes: &[Problem]) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut text, layers);
    if !notes.is_empty() {
        text.push_str("Notes:\n");
    }
    for note in notes {
        let _ = writeln!(text, "  {note}");
    }
    names::escaped(&text)
}

fn write(to: &mut String, layers: &[Layer]) -> Result {
    for (number, layer) in layers.iter().enumerate() {
        let file = names::shown(&layer.file);
        match (layer.found, layer.settings.len()) {
            (false, _) => writeln!(to, "{file}: no such file")?,
            (true, 0) => writeln!(to, "{file}: sets nothing")?,
            (true, 1) => writeln!(to, "{file}: 1 setting")?,
            (true, count) => writeln!(to, "{file}: {count} settings")?,
        }
        for line in &layer.settings {
            // A value may have several lines, and comments in them.
            let value = line.value.split_whitespace().collect::<Vec<_>>().join(" ");
            write!(to, "  line {}: {} = {value}", line.line, line.name)?;
            let later = layers[number + 1..]
                .iter()
                .rfind(|later| later.settings.iter().any(|other| other.name == line.name));
            match later {
                Some(later) => writeln!(to, " (replaced by {})", names::shown(&later.file))?,
                None => writeln!(to)?,
            }
        }
    }
    writeln!(
        to,
        "The configuration is valid. Other settings have their defaults."
    )
}
