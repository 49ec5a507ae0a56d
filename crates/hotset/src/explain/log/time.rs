//! The times of a log.
use super::super::when::date;
use explain::klog::stamp::{At, Civil};
use explain::words::seconds;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::Timestamp;

/// A log may be written to for so long after its file was last changed. Seconds.
const SLACK_S: f64 = 86_400.0;

/// Seconds since 1970 of a time of this machine's zone. `last_s`: of the log's last change, for a year that is left out.
pub fn unix_s(civil: &Civil, last_s: f64) -> Option<f64> {
    let of_year = |year: i16| {
        let nanosecond = (civil.second.fract() * 1e9) as i32;
        let second = (civil.second as i8).min(59);
        let at = DateTime::new(
            year,
            civil.month,
            civil.day,
            civil.hour,
            civil.minute,
            second,
            nanosecond,
        );
        let at = at.ok()?.to_zoned(TimeZone::system()).ok()?;
        Some(at.timestamp().as_millisecond() as f64 / 1e3)
    };
    if let Some(year) = civil.year {
        return of_year(year);
    }
    let last = Timestamp::from_millisecond((last_s * 1e3) as i64).ok()?;
    let this_year = last.to_zoned(TimeZone::system()).year();
    // The 29th of February is in one year of four.
    let years = (0..8).map(|back| this_year - back);
    let mut times = years.filter_map(of_year);
    times.find(|at_s| *at_s <= last_s + SLACK_S)
}

/// `2026-11-27 14:03:20`, or the seconds since boot.
pub fn shown(at: &At) -> String {
    match (at.unix_s, at.boot_s) {
        (Some(unix_s), _) => date(unix_s),
        (None, Some(boot_s)) => format!("{} after the start", seconds(boot_s)),
        (None, None) => "at an unknown time".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_that_is_left_out_is_the_last_that_fits() {
        let civil = |month, day| Civil {
            year: None,
            month,
            day,
            hour: 12,
            minute: 0,
            second: 0.25,
        };
        // The 10th of January 2026.
        let last_s = 1_768_046_400.0;
        let day = |month, day| {
            ((last_s - unix_s(&civil(month, day), last_s).unwrap()) / 86_400.0).round()
        };
        assert_eq!((day(1, 10), day(1, 1), day(12, 31)), (0.0, 9.0, 10.0));
        // After the log's end: it was the year before.
        assert_eq!(day(1, 13), 362.0);
        assert!(unix_s(&civil(2, 29), last_s).is_some());
        assert_eq!(unix_s(&civil(2, 31), last_s), None);
    }
}
