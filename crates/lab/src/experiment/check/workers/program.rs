//! Checks workers that are programs, and their root.
use super::super::rule::{invalid, is_plain, Checked};
use crate::experiment::definition::Experiment;
use crate::experiment::text::source::{at, Step};
use protocol::work::Program;
use regex_lite::Regex;

/// Checks the root.
pub fn root(experiment: &Experiment) -> Checked {
    let Some(root) = &experiment.root else {
        return Ok(());
    };
    if root.packages.is_empty() {
        return invalid(at!["root", "packages"], "expected at least one package");
    }
    // Debian's policy on the names of packages and releases.
    let plain = |name: &str| {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c);
        name.len() > 1
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(fits)
    };
    for (i, name) in root.packages.iter().enumerate() {
        if !plain(name) {
            let message = "expected the name of one of Debian's packages: small letters, digits, '+', '-', '.'";
            return invalid(at!["root", "packages", i], message);
        }
    }
    if !plain(&root.suite) {
        return invalid(
            at!["root", "suite"],
            "expected the name of a release of Debian, \"bookworm\" for instance",
        );
    }
    if let Some(i) = root
        .prepare
        .iter()
        .position(|command| command.contains('\0'))
    {
        return invalid(at!["root", "prepare", i], "a command has no NUL");
    }
    if !(1..=65_536).contains(&root.free_mb) {
        return invalid(at!["root", "free_mb"], "expected 1 to 65536");
    }
    if experiment.machine.icount {
        let message = "a root cannot be used with `icount`: disk timing depends on the host; remove one of them";
        return invalid(at!["root"], message);
    }
    Ok(())
}

/// Checks a program's orders.
pub fn program(
    experiment: &Experiment,
    orders: &Program,
    here: &dyn Fn(&[&str]) -> Vec<Step>,
) -> Checked {
    let field = |rest: &[&str]| here(&[&["does", "program"], rest].concat());
    if experiment.root.is_none() {
        let message = "the experiment has no root with programs: add [root] with packages";
        return invalid(field(&[]), message);
    }
    if orders.command.first().is_none_or(String::is_empty) {
        return invalid(field(&["command"]), "expected a program and its arguments");
    }
    if !orders.cwd.starts_with('/') {
        return invalid(
            field(&["cwd"]),
            "expected a path from the top, \"/srv\" for instance",
        );
    }
    if orders.ready_s == 0 {
        return invalid(field(&["ready_s"]), "expected at least 1");
    }
    if let Some(ready) = &orders.ready {
        compiled(ready, field(&["ready"]))?;
    }
    for (metric, text) in &orders.measure {
        let here = field(&["measure", metric]);
        if !is_plain(metric) {
            let message = "a metric's name is made of letters, digits, '-', '_', '.'";
            return invalid(here, message);
        }
        if ["deaths", "done_ms", "failed"].contains(&metric.as_str()) {
            return invalid(
                here,
                "every program has a metric of this name: choose another",
            );
        }
        let groups = compiled(text, here.clone())?.captures_len() - 1;
        if groups != 1 {
            let message = format!(
                "expected one group, which matches the number, not {groups}: \"tps = ([0-9.]+)\" for \
                 instance; (?:...) groups without matching"
            );
            return invalid(here, message);
        }
    }
    Ok(())
}

fn compiled(text: &str, at: Vec<Step>) -> Result<Regex, crate::experiment::text::source::Error> {
    match Regex::new(text) {
        Ok(expression) => Ok(expression),
        Err(error) => invalid(at, format!("the expression does not compile: {error}")),
    }
}
