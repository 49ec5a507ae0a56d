//! Files of a machine in, the text that a bug report needs out. Nothing is written.
//!
//! * [`Section`]: one piece of the text, with the file or command that it comes from.
//! * [`machine`]: the kernel, memory, swap, settings, cgroups and the largest processes.
//! * [`daemon`]: hotsetd's configuration, its journal of originals, and what the system's journal has of it.
//! * [`Names`]: the machine's name and those of its users, which a report does not need.
pub mod daemon;
mod files;
pub mod machine;
mod private;
mod processes;

pub use private::Names;

use std::fmt::Write;

/// Most lines of a section. Where a file has more, its end counts in a log and its begin elsewhere.
const MOST_LINES: usize = 400;

/// One piece of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The file or command.
    pub source: String,
    /// The text, or why there is none.
    pub text: String,
    /// The last lines count more than the first.
    pub is_log: bool,
}

impl Section {
    /// A section whose first lines count most.
    #[must_use]
    pub fn new(source: impl Into<String>, text: impl Into<String>) -> Section {
        Section {
            source: source.into(),
            text: text.into(),
            is_log: false,
        }
    }

    /// A section whose last lines count most.
    #[must_use]
    pub fn log(source: impl Into<String>, text: impl Into<String>) -> Section {
        Section {
            is_log: true,
            ..Section::new(source, text)
        }
    }
}

/// The whole text. Names of `names` are replaced, and no control character is left.
#[must_use]
pub fn text(sections: &[Section], names: &Names) -> String {
    let mut all = String::new();
    for section in sections {
        // Writing to a String cannot fail.
        let _ = writeln!(all, "==== {}", section.source);
        all.push_str(&shortened(section));
        all.push('\n');
    }
    names::escaped(&names.replaced(&all))
}

fn shortened(section: &Section) -> String {
    let lines: Vec<&str> = section.text.trim_end().lines().collect();
    let left_out = lines.len().saturating_sub(MOST_LINES);
    let kept = match section.is_log {
        true => &lines[left_out..],
        false => &lines[..lines.len() - left_out],
    };
    let mut text = kept.join("\n");
    if left_out > 0 {
        let note = format!("({left_out} more lines)");
        match section.is_log {
            true => text = format!("{note}\n{text}"),
            false => text = format!("{text}\n{note}"),
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_section_keeps_the_end_that_counts() {
        let lines: Vec<String> = (0..500).map(|line| line.to_string()).collect();
        let lines = lines.join("\n");
        let first = text(&[Section::new("file", lines.clone())], &Names::default());
        assert!(first.contains("\n0\n1\n") && first.ends_with("\n399\n(100 more lines)\n\n"));
        let last = text(&[Section::log("log", lines)], &Names::default());
        assert!(last.starts_with("==== log\n(100 more lines)\n100\n") && last.contains("\n499\n"));
    }
}
