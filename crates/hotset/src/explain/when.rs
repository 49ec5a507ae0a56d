//! Times as people write them.
use jiff::civil::{DateTime, Time};
use jiff::{Timestamp, Zoned};

/// Seconds since 1970 of `14:03`, `14:03:20` (the last such time), or a date with a time, of this machine's time zone.
pub fn parse(text: &str) -> Option<f64> {
    let now = Zoned::now();
    let text = text.trim();
    if let Ok(time) = text.parse::<Time>() {
        let today = now
            .date()
            .to_datetime(time)
            .to_zoned(now.time_zone().clone())
            .ok()?;
        let at = match today > now {
            true => today
                .yesterday()
                .ok()?
                .date()
                .to_datetime(time)
                .to_zoned(now.time_zone().clone())
                .ok()?,
            false => today,
        };
        return Some(seconds(at.timestamp()));
    }
    let at = text.parse::<DateTime>().ok()?;
    let at = at.to_zoned(now.time_zone().clone()).ok()?;
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
