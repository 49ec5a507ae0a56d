//! Spans of time, times of day, shortened paths. Sizes are formatted by crate `units`.
use crate::shell::COLUMNS;

/// A span of time in its two largest units; `?`: unknown.
pub fn span(seconds: Option<f64>) -> String {
    let Some(seconds) = seconds else {
        return "?".into();
    };
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        3600..86_400 => format!("{} h {} min", whole / 3600, whole / 60 % 60),
        _ => format!("{} d {} h", whole / 86_400, whole / 3600 % 24),
    }
}

/// The local time of day of seconds since 1970; `?`: no such time.
pub fn time_of_day(unix_s: f64) -> String {
    match jiff::Timestamp::from_second(unix_s as i64) {
        Ok(time) => {
            let local = time.to_zoned(jiff::tz::TimeZone::system());
            local.strftime("%H:%M:%S").to_string()
        }
        Err(_) => "?".into(),
    }
}

/// A path that leaves `others` columns of a line: its end, after `...`, where it is longer.
pub fn fitted(path: &str, others: usize) -> String {
    let room = COLUMNS.saturating_sub(others).max(20);
    let length = path.chars().count();
    match length > room {
        true => {
            let end: String = path.chars().skip(length - room + 3).collect();
            format!("...{end}")
        }
        false => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{fitted, span, time_of_day};

    #[test]
    fn a_span_has_its_two_largest_units() {
        assert_eq!(span(Some(12.34)), "12.3 s");
        assert_eq!(span(Some(3725.0)), "1 h 2 min");
        assert_eq!(span(Some(200_000.0)), "2 d 7 h");
        assert_eq!(span(None), "?");
    }

    #[test]
    fn a_long_path_keeps_its_end() {
        let path = format!("/usr/lib/{}/é.so", "x".repeat(100));
        let text = fitted(&path, 30);
        assert_eq!(text.chars().count(), 50);
        assert!(
            text.starts_with("...x") && text.ends_with("/é.so"),
            "{text}"
        );
        assert_eq!(fitted("/usr/lib/x.so", 30), "/usr/lib/x.so");
    }

    #[test]
    fn a_time_of_day_has_seconds_and_a_time_that_is_none_is_unknown() {
        // Zones differ by whole minutes.
        assert!(time_of_day(59.9).ends_with(":59"), "{}", time_of_day(59.9));
        assert_eq!(time_of_day(f64::MAX), "?");
    }
}
