//! Sizes in bytes: `67108864`, `64M`, `64MB` and `64MiB` are the same size.

/// Unit letters, each 1024 times the one before.
const LETTERS: [char; 4] = ['K', 'M', 'G', 'T'];

/// Bytes of a size that has a unit: `512B`, `64K`, `64M`, `1.5GiB`. A fraction is rounded down to a
/// whole byte.
///
/// # Errors
/// `text` has no unit, an unknown unit, no number, or is more than `u64` holds.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong =
        || format!("{text:?} is no size: expected a number with K, M, G or T, such as \"64M\"");
    let text = text.trim();
    let unit_at = text
        .find(|c: char| c.is_ascii_alphabetic())
        .ok_or_else(wrong)?;
    let (number, unit) = text.split_at(unit_at);
    let factor = factor(unit).ok_or_else(|| match upper(unit) {
        Some(upper) => format!("{text:?} is no size: write {upper}, not {unit}"),
        None => wrong(),
    })?;
    let number = number.trim();
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || !digits(whole) || !digits(fraction) {
        return Err(wrong());
    }
    let too_large = || format!("{text:?} is too large: at most 16777215T");
    let whole: u64 = whole.parse().map_err(|_| too_large())?;
    let part: f64 = format!("0.{fraction}").parse().map_err(|_| wrong())?;
    whole
        .checked_mul(factor)
        .and_then(|bytes| bytes.checked_add((part * factor as f64) as u64))
        .ok_or_else(too_large)
}

/// Bytes of a size with or without a unit: [`parse_size`], and `4096` is 4096 bytes.
///
/// # Errors
/// As [`parse_size`].
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    match text.trim().parse() {
        Ok(bytes) => Ok(bytes),
        Err(_) => parse_size(text),
    }
}

/// The factor of `B`, `K`, `KB`, `KiB` and so on; `k` is `K`.
fn factor(unit: &str) -> Option<u64> {
    if unit == "B" {
        return Some(1);
    }
    let mut letters = unit.chars();
    let first = letters.next()?;
    let first = if first == 'k' { 'K' } else { first };
    let power = LETTERS.iter().position(|&letter| letter == first)? as u32 + 1;
    matches!(letters.as_str(), "" | "B" | "iB").then(|| 1024_u64.pow(power))
}

/// The unit that was meant, where its letter is a small one.
fn upper(unit: &str) -> Option<String> {
    let letter = unit.chars().next()?.to_ascii_uppercase();
    let rest = match unit[1..].to_ascii_lowercase().as_str() {
        "" => "",
        "b" => "B",
        "ib" => "iB",
        _ => return None,
    };
    let upper = format!("{letter}{rest}");
    factor(&upper).is_some().then_some(upper)
}

/// A size as text with a unit: `0 B`, `4.0 MiB`, `-2.0 KiB`.
pub fn format_bytes(bytes: f64) -> String {
    let mut value = bytes;
    let mut unit = "";
    for letter in ["K", "M", "G", "T"] {
        if value.abs() < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = letter;
    }
    match unit {
        "" => format!("{value:.0} B"),
        letter => format!("{value:.1} {letter}iB"),
    }
}

#[cfg(test)]
mod tests {
    use super::{format_bytes, parse_bytes, parse_size};

    #[test]
    fn a_unit_has_one_meaning_with_and_without_b() {
        for text in [
            "64M", "64MB", "64MiB", "64 MiB", "65536K", "65536kB", "0.0625G",
        ] {
            assert_eq!(parse_size(text), Ok(64 << 20), "{text}");
        }
        assert_eq!(parse_size("512B"), Ok(512));
        assert_eq!(parse_size("2T"), Ok(2 << 40));
    }

    #[test]
    fn only_bytes_may_stand_without_a_unit() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert!(parse_size("4096").is_err());
    }

    #[test]
    fn a_text_that_is_no_size_is_refused() {
        for text in [
            "",
            "M",
            "-1M",
            "1.M",
            ".5M",
            "1e6M",
            "10 parsecs",
            "nanM",
            "infM",
            "1.5.5M",
            "5%",
            "1MM",
            "64Mi",
            "99999999999999T",
        ] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_small_letter_is_answered_with_the_large_one() {
        for (text, named) in [
            ("512m", "write M, not m"),
            ("2gb", "write GB"),
            ("1 tiB", "TiB"),
        ] {
            let error = parse_size(text).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
        assert_eq!(parse_size("64k"), parse_size("64K"));
    }

    #[test]
    fn sizes_are_written_with_one_decimal_and_a_binary_unit() {
        assert_eq!(format_bytes(0.0), "0 B");
        assert_eq!(format_bytes(1023.0), "1023 B");
        assert_eq!(format_bytes(4096.0 * 1024.0), "4.0 MiB");
        assert_eq!(format_bytes(-2048.0), "-2.0 KiB");
        assert_eq!(format_bytes(5e15), "4547.5 TiB");
    }
}
