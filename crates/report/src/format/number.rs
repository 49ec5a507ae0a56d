//! Numbers and dates as text.

/// A number with three significant digits, or four from 1,000 up, and separated thousands. A few
/// repetitions cannot give more precision. Whole numbers below 1,000 stay whole.
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

/// A count with all its digits and separated thousands.
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

/// The factor from a recorded value to the value that is shown with the unit's [`name`].
pub fn factor(unit: &str) -> f64 {
    match unit {
        "%" => 100.0,
        "us" | "us/s" => 1e-3,
        _ => 1.0,
    }
}

/// The name of the unit that is shown. Pressure totals of the kernel are in microseconds; the
/// report shows milliseconds, since a machine under pressure waits for seconds.
pub fn name(unit: &str) -> &str {
    match unit {
        "us" => "ms",
        "us/s" => "ms/s",
        _ => unit,
    }
}

/// A value with its unit, such as `97.1 %` or `1,234 ms`. No line breaks between the two.
pub fn value(x: f64, unit: &str) -> String {
    let number = plain(x * factor(unit));
    if unit.is_empty() {
        number
    } else {
        format!("{number}\u{a0}{}", name(unit))
    }
}

/// A value as [`value`] writes it, without the unit.
pub fn plain_in(x: f64, unit: &str) -> String {
    plain(x * factor(unit))
}

/// Two ends, such as `0.95–0.98`. Negative ends have “to” between them, since a dash would look like
/// a minus sign.
pub fn range(low: f64, high: f64, unit: &str) -> String {
    let (low, high) = (plain(low * factor(unit)), plain(high * factor(unit)));
    if low.starts_with('−') || high.starts_with('−') {
        format!("{low} to {high}")
    } else {
        format!("{low}–{high}")
    }
}

/// A ratio, such as `1.98×`.
pub fn times(x: f64) -> String {
    format!("{}×", plain(x))
}

/// The ratio of a promise, with as many places as tell it from its bounds: up to four.
pub fn times_promised(x: f64, bounds: &[f64]) -> String {
    // Where three digits do not tell them apart, four places may.
    let close = |&bound: &f64| (x - bound).abs() < 0.005 * bound.abs();
    match bounds.iter().any(close) {
        true => bound_times(x),
        false => times(x),
    }
}

/// The bound of a ratio, to four places and without their zeros: `0.25×`.
pub fn bound_times(x: f64) -> String {
    let exact = format!("{x:.4}");
    let short = exact.trim_end_matches('0').trim_end_matches('.');
    format!("{short}×")
}

/// The date of a time in seconds since the epoch, such as `2026-11-21 02:28 UTC`.
pub fn date(epoch_s: u64) -> String {
    formatted(epoch_s, "%Y-%m-%d %H:%M UTC")
}

/// The same time as a name of a folder, in UTC: `20261121-022803`.
pub fn stamp(epoch_s: u64) -> String {
    formatted(epoch_s, "%Y%m%d-%H%M%S")
}

/// A time beyond the year 9999 becomes the epoch.
fn formatted(epoch_s: u64, format: &str) -> String {
    let second = i64::try_from(epoch_s).unwrap_or(i64::MAX);
    let time = jiff::Timestamp::from_second(second).unwrap_or_default();
    time.strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_three_or_four_significant_digits() {
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
    fn units_ranges_and_ratios_read_as_expected() {
        assert_eq!(value(0.9712, "%"), "97.1\u{a0}%");
        assert_eq!(value(12.0, "ms"), "12\u{a0}ms");
        assert_eq!(value(13_230_000.0, "us"), "13,230\u{a0}ms");
        assert_eq!(value(0.5, ""), "0.500");
        assert_eq!(range(0.9, 0.98, "%"), "90–98");
        assert_eq!(range(-1.5, 2.0, ""), "−1.50 to 2");
        assert_eq!(times(1.983), "1.98×");
        assert_eq!(times_promised(1.0006, &[1.001]), "1.0006×");
        assert_eq!(times_promised(1.001, &[1.001]), "1.001×");
        assert_eq!(times_promised(1.0, &[1.001]), "1×");
        assert_eq!(times_promised(0.988, &[1.001]), "0.988×");
        assert_eq!(times_promised(1.01126, &[1.01]), "1.0113×");
        assert_eq!(times_promised(2.0049, &[0.5, 2.0]), "2.0049×");
        assert_eq!(times_promised(2.82, &[2.0]), "2.82×");
    }

    #[test]
    fn dates_are_in_utc() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(stamp(951_827_696), "20000229-123456");
        assert_eq!(date(1_000_000_000), "2001-09-09 01:46 UTC");
        assert_eq!(date(1_798_761_599), "2026-12-31 23:59 UTC");
    }
}
