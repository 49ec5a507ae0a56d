//! The times before the lines of a log.
use serde::Serialize;

/// The time of a line, as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stamp {
    /// Seconds since boot.
    Boot(f64),
    /// Seconds since 1970.
    Unix(f64),
    Civil(Civil),
}

/// A date and a time of a zone that is not written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Civil {
    /// Syslog leaves it out.
    pub year: Option<i16>,
    pub month: i8,
    pub day: i8,
    pub hour: i8,
    pub minute: i8,
    pub second: f64,
}

/// A moment of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct At {
    /// Seconds since 1970.
    pub unix_s: Option<f64>,
    /// Seconds since boot.
    pub boot_s: Option<f64>,
    /// Boots are counted from the begin of the log, from 0.
    pub boot: u32,
}

impl At {
    /// Seconds from an earlier moment; `None` where they cannot be told.
    #[must_use]
    pub fn since(&self, earlier: &At) -> Option<f64> {
        match (self.unix_s, earlier.unix_s, self.boot_s, earlier.boot_s) {
            (Some(now), Some(then), ..) => Some(now - then),
            (_, _, Some(now), Some(then)) if self.boot == earlier.boot => Some(now - then),
            _ => None,
        }
    }
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// `6.403578`, or `Fri Nov 27 15:45:19 2026` as `dmesg -T` has it.
pub(super) fn inside_brackets(inner: &str) -> Option<Stamp> {
    // A row of the table of tasks begins with a pid in brackets.
    if inner.contains('.') && is_decimal(inner) {
        return Some(Stamp::Boot(inner.parse().ok()?));
    }
    let mut words = inner.split_whitespace();
    words.next()?;
    let (month, day, time, year) = (words.next()?, words.next()?, words.next()?, words.next()?);
    civil(Some(year.parse().ok()?), month_of(month)?, day, time)
}

/// `4,1234,6403578,-;text`: a line of /dev/kmsg.
pub(super) fn of_kmsg(line: &str) -> Option<(Stamp, &str)> {
    let (head, text) = line.split_once(';')?;
    let mut fields = head.split(',');
    let (level, number, at_us) = (fields.next()?, fields.next()?, fields.next()?);
    let numbers = [level, number, at_us];
    let whole = |text: &&str| text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.iter().all(whole).then_some(())?;
    Some((Stamp::Boot(at_us.parse::<u64>().ok()? as f64 / 1e6), text))
}

/// The time of a journal or a syslog, and what follows.
pub(super) fn before_host(line: &str) -> Option<(Stamp, &str)> {
    let (first, rest) = line.split_once(' ')?;
    let rest = rest.trim_start();
    // Before 2001 nobody had this; a shorter number is no time.
    if first.len() >= 12 && first.contains('.') && is_decimal(first) {
        return Some((Stamp::Unix(first.parse().ok()?), rest));
    }
    if let Some(month) = month_of(first) {
        let (day, rest) = rest.split_once(' ')?;
        let (time, rest) = rest.trim_start().split_once(' ')?;
        return Some((civil(None, month, day, time)?, rest));
    }
    let iso = first.split_once('T').filter(|(date, _)| date.len() == 10);
    if let Some((date, time)) = iso {
        return Some((of_iso(date, time)?, rest));
    }
    // `Fri 2026-11-27 15:45:19 UTC`: journalctl -o short-full.
    let (date, after) = rest.split_once(' ')?;
    let (time, after) = after.split_once(' ')?;
    let (zone, after) = after.split_once(' ')?;
    if zone == "UTC" {
        return Some((of_iso(date, &format!("{time}Z"))?, after));
    }
    let [year, month, day] = date_of(date)?;
    let stamp = civil(
        Some(year),
        i8::try_from(month).ok()?,
        &day.to_string(),
        time,
    )?;
    Some((stamp, after))
}

fn is_decimal(text: &str) -> bool {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole) && digits(part) && text.len() <= 24
}

fn month_of(name: &str) -> Option<i8> {
    let at = MONTHS.iter().position(|month| *month == name)?;
    i8::try_from(at + 1).ok()
}

fn civil(year: Option<i16>, month: i8, day: &str, time: &str) -> Option<Stamp> {
    let [hour, minute, second] = time_of(time)?;
    let day: i8 = day.parse().ok()?;
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(())?;
    Some(Stamp::Civil(Civil {
        year,
        month,
        day,
        hour: hour as i8,
        minute: minute as i8,
        second,
    }))
}

/// Hours, minutes and seconds of `15:45:19`, `15:45:19.5` or `15:45:19,5`.
fn time_of(text: &str) -> Option<[f64; 3]> {
    let text = text.replace(',', ".");
    let mut parts = text.split(':');
    let mut next = |most: f64| {
        let part = parts.next()?;
        is_decimal(part).then_some(())?;
        let number: f64 = part.parse().ok()?;
        (number < most).then_some(number)
    };
    Some([next(24.0)?.trunc(), next(60.0)?.trunc(), next(61.0)?])
}

/// Whether it is a time of day.
pub(super) fn is_time(text: &str) -> bool {
    time_of(text).is_some()
}

fn date_of(text: &str) -> Option<[i16; 3]> {
    let mut parts = text.splitn(3, '-').map(str::parse::<i16>);
    let date = [
        parts.next()?.ok()?,
        parts.next()?.ok()?,
        parts.next()?.ok()?,
    ];
    let fits = (1970..3000).contains(&date[0])
        && (1..=12).contains(&date[1])
        && (1..=31).contains(&date[2]);
    fits.then_some(date)
}

/// `2026-11-27` and `15:45:19.403578+00:00`. Without a zone it is a civil time.
fn of_iso(date: &str, time: &str) -> Option<Stamp> {
    let [year, month, day] = date_of(date)?;
    let (clock, zone) = match time.find(['+', '-', 'Z']) {
        Some(at) => time.split_at(at),
        None => (time, ""),
    };
    if zone.is_empty() {
        return civil(
            Some(year),
            i8::try_from(month).ok()?,
            &day.to_string(),
            clock,
        );
    }
    let [hour, minute, second] = time_of(clock)?;
    let days = days_since_1970(i64::from(year), i64::from(month), i64::from(day));
    let seconds = days as f64 * 86_400.0 + hour * 3600.0 + minute * 60.0 + second;
    Some(Stamp::Unix(seconds - zone_s(zone)?))
}

/// Seconds east of `+01:00`, `-0530` or `Z`.
fn zone_s(zone: &str) -> Option<f64> {
    let digits: String = zone.chars().filter(char::is_ascii_digit).collect();
    let number: f64 = match digits.len() {
        0 => return Some(0.0),
        2 => digits.parse::<f64>().ok()? * 100.0,
        4 => digits.parse().ok()?,
        _ => return None,
    };
    let seconds = (number / 100.0).trunc() * 3600.0 + number % 100.0 * 60.0;
    Some(match zone.starts_with('-') {
        true => -seconds,
        false => seconds,
    })
}

/// Of the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that a leap day is the last.
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    365 * year + year / 4 - year / 100 + year / 400 + of_year - 719_468
}
