//! Times as people write them.
use jiff::civil::{DateTime, Time};
use jiff::{Timestamp, Zoned};

/// Seconds since 1970 of `14:03`, `14:03:20` (the last such time), or a date with a time, of this machine's time zone.
pub fn parse(text: &str) -> Option<f64> {
    parse_at(text.trim(), &Zoned::now())
}

fn parse_at(text: &str, now: &Zoned) -> Option<f64> {
    let zone = now.time_zone();
    // First: jiff takes a date with a time for a time, too.
    if let Ok(at) = text.parse::<DateTime>() {
        return Some(seconds(at.to_zoned(zone.clone()).ok()?.timestamp()));
    }
    let time = text.parse::<Time>().ok()?;
    let on = |date: jiff::civil::Date| date.to_datetime(time).to_zoned(zone.clone()).ok();
    let today = on(now.date())?;
    let at = match today > *now {
        true => on(now.date().yesterday().ok()?)?,
        false => today,
    };
    Some(seconds(at.timestamp()))
}

fn seconds(at: Timestamp) -> f64 {
    at.as_millisecond() as f64 / 1e3
}

/// `14:03:20` of a time in seconds since 1970.
pub fn clock(unix_s: f64) -> String {
    format(unix_s, "%H:%M:%S")
}

/// `2026-11-27 14:03:20`.
pub fn date(unix_s: f64) -> String {
    format(unix_s, "%Y-%m-%d %H:%M:%S")
}

fn format(unix_s: f64, format: &str) -> String {
    let at = Timestamp::from_millisecond((unix_s * 1e3) as i64).unwrap_or_default();
    let zone = jiff::tz::TimeZone::system();
    at.to_zoned(zone).strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_heeded_at_each_time_of_the_day() {
        for hour in [10, 20] {
            let now = jiff::civil::date(2026, 11, 28).at(hour, 0, 0, 0);
            let now = now.to_zoned(jiff::tz::TimeZone::UTC).unwrap();
            let of = |text: &str| parse_at(text, &now).map(date_of);
            assert_eq!(of("2026-11-27 15:00").unwrap(), "2026-11-27T15:00:00Z");
            let day = if hour > 15 { 28 } else { 27 };
            assert_eq!(of("15:00").unwrap(), format!("2026-11-{day}T15:00:00Z"));
            assert_eq!(of("yesterday"), None);
        }
    }

    fn date_of(unix_s: f64) -> String {
        Timestamp::from_second(unix_s as i64).unwrap().to_string()
    }
}
