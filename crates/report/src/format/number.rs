//! Numbers as people read them.

/// Three significant digits, four from 1,000 up, thousands separated: more would be precision that
/// a handful of repetitions cannot give. Whole numbers below 1,000 stay whole.
pub fn plain(x: f64) -> String {
    if !x.is_finite() {
        return if x.is_nan() {
            "n/a"
        } else if x > 0.0 {
            "∞"
        } else {
            "−∞"
        }
        .to_string();
    }
    let size = x.abs();
    if size == 0.0 {
        return "0".into();
    }
    let sign = if x < 0.0 { "−" } else { "" };
    if size < 1e-4 {
        return format!("{sign}{size:.1e}");
    }
    if size < 1000.0 && x.fract() == 0.0 {
        return format!("{sign}{size}");
    }
    let digits = if size < 1000.0 { 3 } else { 4 };
    let scale = 10f64.powi(size.log10().floor() as i32 + 1 - digits);
    // Rounding may carry into a new digit: 9.999 becomes 10.0, with one decimal fewer.
    let rounded = (size / scale).round() * scale;
    let decimals = (digits - 1 - (rounded * (1.0 + 1e-12)).log10().floor() as i32).max(0) as usize;
    format!("{sign}{}", thousands(&format!("{rounded:.decimals$}")))
}

/// Every digit of it, thousands separated.
pub fn count(x: u64) -> String {
    thousands(&x.to_string())
}

fn thousands(digits: &str) -> String {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut out = String::new();
    for (place, c) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place) % 3 == 0 {
            out.push(',');
        }
        out.push(c);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// What a value is multiplied by to be shown in its unit's [`name`].
pub fn factor(unit: &str) -> f64 {
    match unit {
        "%" => 100.0,
        "us" => 1e-3,
        _ => 1.0,
    }
}

/// The unit that is shown. The kernel's totals of pressure are microseconds, which nobody can read
/// where a machine waited for seconds.
pub fn name(unit: &str) -> &str {
    match unit {
        "us" => "ms",
        _ => unit,
    }
}

/// With its unit: `97.1 %`, `1,234 ms`. No line breaks between the two.
pub fn value(x: f64, unit: &str) -> String {
    let number = plain(x * factor(unit));
    if unit.is_empty() {
        number
    } else {
        format!("{number}\u{a0}{}", name(unit))
    }
}

/// `0.95–0.98`; with a word between where a minus sign would mislead.
pub fn range(low: f64, high: f64, unit: &str) -> String {
    let (low, high) = (plain(low * factor(unit)), plain(high * factor(unit)));
    if low.starts_with('−') || high.starts_with('−') {
        format!("{low} to {high}")
    } else {
        format!("{low}–{high}")
    }
}

/// `1.98×`.
pub fn times(x: f64) -> String {
    format!("{}×", plain(x))
}

/// The same of what is promised: close to 1 to four places, for a bound can be a thousandth away.
pub fn times_promised(x: f64) -> String {
    if (x - 1.0).abs() >= 0.01 {
        return times(x);
    }
    let exact = format!("{x:.4}");
    let short = exact.trim_end_matches('0').trim_end_matches('.');
    format!("{short}×")
}

/// `2026-11-21 02:28 UTC` of seconds since the epoch.
pub fn date(epoch_s: u64) -> String {
    let [year, month, day, hour, minute, _] = civil(epoch_s);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC")
}

/// `20261121-022803` of seconds since the epoch, in UTC, for names of folders.
pub fn stamp(epoch_s: u64) -> String {
    let [year, month, day, hour, minute, second] = civil(epoch_s);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

/// Year, month, day, hour, minute and second in UTC.
fn civil(epoch_s: u64) -> [u64; 6] {
    let (mut day, second) = (epoch_s / 86_400, epoch_s % 86_400);
    let leap = |y: u64| (y.is_multiple_of(4) && !y.is_multiple_of(100)) || y.is_multiple_of(400);
    let mut year = 1970;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    [
        year,
        month,
        day + 1,
        second / 3600,
        second % 3600 / 60,
        second % 60,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensible_digits() {
        for (x, known) in [
            (0.0, "0"),
            (5.0, "5"),
            (100.0, "100"),
            (0.97123, "0.971"),
            (9.996, "10.0"),
            (99.96, "100"),
            (12.345, "12.3"),
            (999.4, "999"),
            (999.7, "1,000"),
            (1234.0, "1,234"),
            (1_234_567.0, "1,235,000"),
            (-3.5, "−3.50"),
            (0.001234, "0.00123"),
            (0.0000123, "1.2e-5"),
            (0.1, "0.100"),
            (0.9999, "1.00"),
            (f64::INFINITY, "∞"),
        ] {
            assert_eq!(plain(x), known, "{x}");
        }
    }

    #[test]
    fn units_ranges_and_ratios() {
        assert_eq!(value(0.9712, "%"), "97.1\u{a0}%");
        assert_eq!(value(12.0, "ms"), "12\u{a0}ms");
        assert_eq!(value(13_230_000.0, "us"), "13,230\u{a0}ms");
        assert_eq!(value(0.5, ""), "0.500");
        assert_eq!(range(0.9, 0.98, "%"), "90–98");
        assert_eq!(range(-1.5, 2.0, ""), "−1.50 to 2");
        assert_eq!(times(1.983), "1.98×");
        assert_eq!(times_promised(1.0006), "1.0006×");
        assert_eq!(times_promised(1.001), "1.001×");
        assert_eq!(times_promised(1.0), "1×");
        assert_eq!(times_promised(0.988), "0.988×");
    }

    #[test]
    fn dates() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(stamp(951_827_696), "20000229-123456");
        assert_eq!(date(1_000_000_000), "2001-09-09 01:46 UTC");
        assert_eq!(date(1_798_761_599), "2026-12-31 23:59 UTC");
    }
}
