//! Counts as people write them: `10k`, `1.5M`, `2Gi`.

/// A whole number with an optional unit: k, M, G, T are powers of 1000, Ki, Mi, Gi, Ti of 1024.
/// Underscores between digits are allowed.
///
/// # Errors
/// What is wrong with it, in words.
pub fn parse_count(text: &str) -> Result<u64, String> {
    let wrong = || format!("\"{text}\": a count such as 4096, 10k, 1.5M or 2Gi is expected");
    let unit_at = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(unit_at);
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1_000,
        "m" => 1_000_000,
        "g" => 1_000_000_000,
        "t" => 1_000_000_000_000,
        "ki" => 1 << 10,
        "mi" => 1 << 20,
        "gi" => 1 << 30,
        "ti" => 1 << 40,
        _ => return Err(wrong()),
    };
    let digits = digits.replace('_', "");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let plain = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let long = fraction.len() > 15 || (digits.contains('.') && fraction.is_empty());
    if whole.is_empty() || !plain(whole) || !plain(fraction) || long {
        return Err(wrong());
    }
    let too_large = || format!("\"{text}\": too large");
    let whole: u64 = whole.parse().map_err(|_| too_large())?;
    let mut value = whole.checked_mul(factor).ok_or_else(too_large)?;
    if !fraction.is_empty() {
        let parts: u64 = fraction.parse().map_err(|_| wrong())?;
        let scaled = u128::from(parts) * u128::from(factor);
        let power = 10u128.pow(fraction.len() as u32);
        if scaled % power != 0 {
            return Err(format!("\"{text}\": not a whole number"));
        }
        value = value
            .checked_add((scaled / power) as u64)
            .ok_or_else(too_large)?;
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::parse_count;

    #[test]
    fn counts() {
        let good = [
            ("0", 0),
            ("4096", 4096),
            ("10k", 10_000),
            ("10K", 10_000),
            ("1.5M", 1_500_000),
            ("20_000_000", 20_000_000),
            ("1G", 1_000_000_000),
            ("2Gi", 2 << 30),
            ("0.5Ki", 512),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, count) in good {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        let bad = [
            "",
            "k",
            "-1",
            "1.5",
            "1.",
            ".5k",
            "1kk",
            "1e6",
            "1 k",
            "x",
            "1.0001k",
            "1%",
            "18446744073709551616",
            "18446744073709551615k",
            "20000000T",
            "1.5.5M",
        ];
        for text in bad {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }
}
