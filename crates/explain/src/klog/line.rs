//! A line of a log without what stands before its text: the time, the host, the program.
use super::stamp::{self, Stamp};

/// One line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line<'a> {
    pub stamp: Option<Stamp>,
    /// The program that wrote it; empty for the kernel.
    pub program: &'a str,
    pub text: &'a str,
}

/// The facilities that `dmesg -x` writes before a time.
const FACILITIES: [&str; 4] = ["kern", "user", "daemon", "syslog"];

/// Takes a line apart. Whatever has no known beginning is all text.
#[must_use]
pub fn read(line: &str) -> Line<'_> {
    let line = decoded(priority(line.trim_end_matches(['\r', '\n'])));
    if let Some((inner, rest)) = bracket(line) {
        if let Some(stamp) = stamp::inside_brackets(inner) {
            let rest = without_caller(rest);
            let text = after_host(rest).map_or(rest, |(program, text)| match program {
                "kernel" => text,
                _ => rest,
            });
            return kernel(Some(stamp), text);
        }
        // `dmesg -T` in another language.
        if inner.split(' ').any(stamp::is_time) {
            return kernel(None, rest);
        }
    }
    if let Some((stamp, text)) = stamp::of_kmsg(line) {
        return kernel(Some(stamp), text);
    }
    let Some((stamp, rest)) = stamp::before_host(line) else {
        let text = line.trim_start();
        return kernel(None, text.strip_prefix("kernel: ").unwrap_or(text));
    };
    match after_host(rest) {
        Some(("kernel", text)) => kernel(Some(stamp), without_time(text)),
        Some((program, text)) => Line {
            stamp: Some(stamp),
            program,
            text,
        },
        // dmesg names no host.
        None => kernel(Some(stamp), rest),
    }
}

fn kernel(stamp: Option<Stamp>, text: &str) -> Line<'_> {
    Line {
        stamp,
        program: "",
        text: text.trim(),
    }
}

/// Without `<4>`.
fn priority(line: &str) -> &str {
    let inner = line.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    match inner {
        Some((digits, rest)) if is_number(digits) && digits.len() <= 3 => rest,
        _ => line,
    }
}

/// Without `kern  :warn  : `.
fn decoded(line: &str) -> &str {
    let mut parts = line.splitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(facility), Some(level), Some(rest))
            if FACILITIES.contains(&facility.trim()) && !level.trim().contains(' ') =>
        {
            rest.trim_start()
        }
        _ => line,
    }
}

/// What stands in the brackets at the begin, and what follows them.
fn bracket(line: &str) -> Option<(&str, &str)> {
    let (inner, rest) = line.strip_prefix('[')?.split_once(']')?;
    Some((inner.trim(), rest))
}

/// Without the `[ T123]` of CONFIG_PRINTK_CALLER.
fn without_caller(rest: &str) -> &str {
    let rest = rest.trim_start();
    match bracket(rest) {
        Some((inner, after)) if is_number(inner.trim_start_matches(['T', 'C'])) => {
            match inner.starts_with(['T', 'C']) {
                true => after.trim_start(),
                false => rest,
            }
        }
        _ => rest,
    }
}

/// Without the kernel's own time, which a syslog leaves in the text.
fn without_time(text: &str) -> &str {
    match bracket(text) {
        Some((inner, rest)) if stamp::inside_brackets(inner).is_some() => without_caller(rest),
        _ => text,
    }
}

/// The program and its text, of `host program[pid]: text`.
fn after_host(rest: &str) -> Option<(&str, &str)> {
    let (_, rest) = rest.trim_start().split_once(' ')?;
    let rest = rest.trim_start();
    let (program, text) = match rest.split_once(": ") {
        Some(found) => found,
        None => (rest.strip_suffix(':')?, ""),
    };
    let name = program.split('[').next().unwrap_or_default();
    let named = !name.is_empty() && !program.contains(' ');
    named.then_some((name, text.trim()))
}

/// Whether it is digits alone.
pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::klog::stamp::Civil;

    #[test]
    fn every_writer_of_logs_is_understood() {
        let text = "hog invoked oom-killer: gfp_mask=0x0, order=0, oom_score_adj=0";
        let boot = Some(Stamp::Boot(6.5));
        let civil = |year| {
            Some(Stamp::Civil(Civil {
                year,
                month: 11,
                day: 27,
                hour: 15,
                minute: 45,
                second: 19.0,
            }))
        };
        let unix = Some(Stamp::Unix(1_795_794_319.5));
        let cases = [
            ("[    6.500000] ", boot),
            ("[    6.500000][  T123] ", boot),
            ("[    6.500000] [    C0] ", boot),
            ("<4>[    6.500000] ", boot),
            ("kern  :warn  : [    6.500000] ", boot),
            ("4,1234,6500000,-;", boot),
            ("4,1234,6500000,-,caller=T12;", boot),
            ("[    6.500000] host kernel: ", boot),
            ("[Fri Nov 27 15:45:19 2026] ", civil(Some(2026))),
            ("Nov 27 15:45:19 host kernel: ", civil(None)),
            ("Nov 27 15:45:19 host kernel: [    6.500000] ", civil(None)),
            (
                "Fri 2026-11-27 15:45:19 CET host kernel: ",
                civil(Some(2026)),
            ),
            (
                "Tue 2026-11-27 15:45:19 CET host kernel: ",
                civil(Some(2026)),
            ),
            ("1795794319.500000 host kernel: ", unix),
            ("2026-11-27T15:45:19.500000+00:00 host kernel: ", unix),
            (
                "2026-11-27T16:45:19.500000+0100 host kernel: [    6.5] ",
                unix,
            ),
            ("2026-11-27T15:45:19,500000+00:00 ", unix),
            ("[Fr 27. Nov 15:45:19 2026] ", None),
            ("kernel: ", None),
            ("", None),
        ];
        for (before, stamp) in cases {
            let line = format!("{before}{text}\r");
            let found = read(&line);
            assert_eq!(
                (found.stamp, found.program, found.text),
                (stamp, "", text),
                "{line}"
            );
        }
    }

    #[test]
    fn rows_of_the_table_stay_whole() {
        let row = "[    123]     0   123      764      589    36864       11             0 flip";
        for before in ["[    6.426814] ", "[    6.4][  T9] ", ""] {
            assert_eq!(read(&format!("{before}{row}")).text, row);
        }
    }

    #[test]
    fn other_programs_are_named() {
        let found = read("Nov 27 15:45:19 host systemd-oomd[432]: Killed /user.slice due to x");
        assert_eq!(found.program, "systemd-oomd");
        assert_eq!(found.text, "Killed /user.slice due to x");
    }
}
