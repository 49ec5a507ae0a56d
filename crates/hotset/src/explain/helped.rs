//! What would have helped, as a table.
use crate::shell::write_wrapped;
use explain::remedies::course::Course;
use explain::remedies::remedy::Remedy;
use explain::words::seconds;
use explain::Story;
use names::escaped;
use std::fmt::{Result, Write};

/// The longest name of a change in the table; longer ones are cut.
const NAME: usize = 43;

/// The table, under its heading.
pub fn text(story: &Story, remedies: &[Remedy]) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut text, story, remedies);
    escaped(&text)
}

fn write(to: &mut String, story: &Story, remedies: &[Remedy]) -> Result {
    let course = Course::new(story);
    let head = format!(
        "What would have helped: (as it was, {} for {})",
        course.measure(),
        seconds(course.was_s)
    );
    writeln!(to, "\n{head}")?;
    for remedy in remedies {
        let name: String = remedy.name.chars().take(NAME).collect();
        let row = format!(
            "  {name:<NAME$}  {:<13}  {}",
            remedy.answer.name(),
            range(remedy)
        );
        writeln!(to, "{}", row.trim_end())?;
        write_wrapped(to, "      ", &format!("{}.", remedy.why))?;
    }
    Ok(())
}

/// "0.0-1.2 s", or one value where the bounds are alike.
pub fn range(remedy: &Remedy) -> String {
    let Some(estimate) = remedy.estimate else {
        return String::new();
    };
    match estimate.high_s - estimate.low_s < 0.05 {
        true => seconds(estimate.lost_s),
        false if estimate.high_s < 99.5 => {
            format!("{:.1}-{:.1} s", estimate.low_s, estimate.high_s)
        }
        false => format!("{:.0}-{:.0} s", estimate.low_s, estimate.high_s),
    }
}
