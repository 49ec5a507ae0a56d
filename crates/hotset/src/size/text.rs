//! The answer on a terminal.
use super::watch::Watched;
use crate::shell::write_wrapped;
use anstyle::Style;
use size::{Curve, Estimate};
use std::fmt::{Result, Write};
use units::format_bytes;

/// More memory is worth while as long as it avoids a share of what can be avoided: nine of ten.
const ENOUGH: f64 = 0.9;
/// Pages read again a second below which nobody notices.
const FEW: f64 = 1.0;

pub fn page(watched: &Watched, curve: &Curve) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut text, watched, curve);
    text
}

fn write(to: &mut String, watched: &Watched, curve: &Curve) -> Result {
    let bold = Style::new().bold();
    let mut head = String::new();
    write_wrapped(&mut head, "", &headline(watched, curve))?;
    write!(to, "{bold}{head}{bold:#}")?;
    writeln!(to)?;
    let seconds = watched.seconds.max(1e-9);
    let facts = format!(
        "Watched for {seconds:.0} s: {} of files read, {} of them again; {} of programs swapped out. Least available: {}.",
        format_bytes((curve.came * watched.page_size) as f64),
        format_bytes(watched.refaults as f64 * watched.page_size as f64),
        format_bytes((watched.swapped_out * watched.page_size) as f64),
        format_bytes(watched.least_available as f64),
    );
    write_wrapped(to, "", &facts)?;
    if !curve.estimates.is_empty() {
        table(to, watched, curve)?;
    }
    if watched.ended > 0 {
        let threads = units::counted(watched.ended, "thread");
        let text = format!(
            "Pages came for {threads} that ended before it was known whose they were: they are not counted."
        );
        write_wrapped(to, "", &text)?;
    }
    if watched.lost > 0 {
        let events = units::counted(watched.lost, "event");
        let text = format!(
            "The kernel dropped {events} for want of room: the figures are too low by their share."
        );
        write_wrapped(to, "", &text)?;
    }
    Ok(())
}

fn headline(watched: &Watched, curve: &Curve) -> String {
    let now = format_bytes(watched.memory as f64);
    let rate = watched.refaults as f64 / watched.seconds.max(1e-9);
    if curve.evicted == 0 {
        return format!("{now} are enough: no page was evicted.");
    }
    if rate < FEW {
        return format!("{now} are enough: hardly any page was read again.");
    }
    let enough = curve.estimates.iter().find(|one| one.share <= 1.0 - ENOUGH);
    match (enough, curve.estimates.last()) {
        (Some(one), _) => format!(
            "{} would do: nine of ten pages that are read again would stay in memory.",
            size_of(watched, one)
        ),
        (None, Some(last)) => format!(
            "{} would not do: {:.0}% of the pages that are read again would still be.",
            size_of(watched, last),
            100.0 * last.share
        ),
        (None, None) => "The time was too short to tell: watch for longer (--for).".into(),
    }
}

fn size_of(watched: &Watched, one: &Estimate) -> String {
    format_bytes((watched.memory + one.more * watched.page_size) as f64)
}

fn table(to: &mut String, watched: &Watched, curve: &Curve) -> Result {
    let rate = watched.refaults as f64 / watched.seconds.max(1e-9);
    writeln!(
        to,
        "\n{:>10} {:>14} {:>8} {:>13} {:>10}",
        "memory", "read again /s", "of now", "90% interval", "time lost"
    )?;
    let waited = |share: f64| {
        watched.waited_s.map_or("-".into(), |waited_s| {
            format!(
                "{:.1}%",
                100.0 * share * waited_s / watched.seconds.max(1e-9)
            )
        })
    };
    let now = format_bytes(watched.memory as f64);
    writeln!(
        to,
        "{now:>10} {rate:>14.1} {:>8} {:>13} {:>10}",
        "100%",
        "",
        waited(1.0)
    )?;
    for one in &curve.estimates {
        let percent = |share: f64| 100.0 * share;
        writeln!(
            to,
            "{:>10} {:>14.1} {:>7.0}% {:>13} {:>10}",
            size_of(watched, one),
            rate * one.share,
            percent(one.share),
            format!("{:.0}-{:.0}%", percent(one.low), percent(one.high)),
            waited(one.share)
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(refaults: u64) -> Watched {
        Watched {
            cgroup: None,
            ended: 0,
            seconds: 100.0,
            memory: 8 << 30,
            page_size: 4096,
            least_available: 1 << 30,
            refaults,
            refaults_anon: 0,
            swapped_out: 0,
            waited_s: Some(20.0),
            every: 1,
            lost: 0,
        }
    }

    fn curve(evicted: u64, shares: &[(u64, f64)]) -> Curve {
        let estimate = |(gib, share): &(u64, f64)| Estimate {
            more: gib << 18,
            share: *share,
            low: share / 1.2,
            high: (share * 1.2).min(1.0),
        };
        Curve {
            evicted,
            came: evicted,
            refaults: evicted,
            unknown: 0,
            estimates: shares.iter().map(estimate).collect(),
        }
    }

    #[test]
    fn the_first_line_says_how_much() {
        let first = |watched: &Watched, curve: &Curve| headline(watched, curve);
        let enough = first(&watched(0), &curve(0, &[]));
        assert_eq!(enough, "8.0 GiB are enough: no page was evicted.");
        let calm = first(&watched(50), &curve(9000, &[(8, 0.5)]));
        assert!(calm.contains("hardly any page"), "{calm}");
        let shares = [(1, 0.7), (4, 0.08), (8, 0.0)];
        let more = first(&watched(500_000), &curve(500_000, &shares));
        assert!(more.starts_with("12.0 GiB would do"), "{more}");
        let never = first(&watched(500_000), &curve(500_000, &[(1, 0.9), (8, 0.4)]));
        assert!(never.starts_with("16.0 GiB would not do: 40%"), "{never}");
        let short = first(&watched(500_000), &curve(500_000, &[]));
        assert!(short.contains("too short"), "{short}");
    }

    #[test]
    fn the_table_fits_a_terminal_and_tells_the_time_lost() {
        let text = page(
            &watched(500_000),
            &curve(500_000, &[(1, 0.5), (32, 0.000_4)]),
        );
        assert!(
            text.contains("   9.0 GiB         2500.0      50%        42-60%      10.0%"),
            "{text}"
        );
        // The first line has the codes of bold print.
        assert!(text.lines().skip(1).all(|line| line.chars().count() <= 80));
    }
}
