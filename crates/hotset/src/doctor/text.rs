//! The findings as text for a person.
use crate::shell::write_wrapped;
use anstyle::{AnsiColor, Style};
use doctor::{Finding, Machine, State};
use std::fmt::{Result, Write};
use units::counted;

/// The columns in which a finding's text begins.
const INDENT: &str = "                            ";

pub fn text(machine: &Machine, findings: &[Finding]) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut text, machine, findings);
    text
}

fn write(to: &mut String, machine: &Machine, findings: &[Finding]) -> Result {
    writeln!(to, "{machine}\n")?;
    // What needs somebody comes last, where a terminal shows it.
    for state in [State::Good, State::Better, State::Wrong] {
        for finding in findings.iter().filter(|one| one.state == state) {
            write_finding(to, finding)?;
        }
    }
    writeln!(to, "\n{}", summary(findings))
}

fn write_finding(to: &mut String, finding: &Finding) -> Result {
    let (word, color) = match finding.state {
        State::Good => ("good", AnsiColor::Green),
        State::Better => ("better", AnsiColor::Yellow),
        State::Wrong => ("wrong", AnsiColor::Red),
    };
    let style = Style::new().fg_color(Some(color.into()));
    let mut seen = String::new();
    write_wrapped(&mut seen, INDENT, &finding.seen)?;
    let seen = seen.trim_start();
    write!(to, "{style}{word:<8}{style:#}{:<20}{seen}", finding.subject)?;
    if !finding.advice.is_empty() {
        let advice = format!("{}.", sentence(&finding.advice));
        write_wrapped(to, INDENT, &advice)?;
    }
    for command in &finding.commands {
        // Never wrapped, so that it can be copied.
        writeln!(to, "    {command}")?;
    }
    Ok(())
}

/// The text with a capital at its begin, but for names of sysctls and the like.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if !text.starts_with("hotsetd") => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

fn summary(findings: &[Finding]) -> String {
    let count = |state| findings.iter().filter(|one| one.state == state).count() as u64;
    match (count(State::Wrong), count(State::Better)) {
        (0, 0) => "All is well.".to_owned(),
        (0, better) => format!(
            "Nothing is wrong; {} could be better.",
            counted(better, "thing")
        ),
        (wrong, 0) => format!("{} wrong.", is(wrong)),
        (wrong, better) => format!("{} wrong, {better} could be better.", is(wrong)),
    }
}

fn is(count: u64) -> String {
    match count {
        1 => "1 thing is".to_owned(),
        more => format!("{more} things are"),
    }
}
