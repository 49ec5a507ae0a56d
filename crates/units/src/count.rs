//! Counts of requests, objects and trials: `20000000`, `20_000_000`, `20e6`.

/// A whole number, in digits that underscores may part, or with a decimal exponent: `1.5e6`.
///
/// A count has no unit: `20M` is a size in bytes everywhere, so it is refused here.
///
/// # Errors
/// `text` is no whole number from 0 to `u64::MAX`; the message shows the right form.
pub fn parse_count(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!("{text:?} is no count: expected a whole number such as 4096, 20_000_000 or 20e6")
    };
    let digits = text.replace('_', "");
    if digits.ends_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(with_unit(text, &digits).unwrap_or_else(wrong));
    }
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((&digits, "0"));
    let (whole, fraction) = match mantissa.split_once('.') {
        // A fraction is only of use together with an exponent.
        Some((_, "")) => return Err(wrong()),
        Some(parts) => parts,
        None => (mantissa, ""),
    };
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty()
        || exponent.is_empty()
        || !plain(whole)
        || !plain(fraction)
        || !plain(exponent)
    {
        return Err(wrong());
    }
    let too_large = || format!("{text:?} is too large: at most {}", u64::MAX);
    let fraction = fraction.trim_end_matches('0');
    let exponent: usize = exponent.parse().map_err(|_| too_large())?;
    if fraction.len() > exponent {
        return Err(format!("{text:?} is not a whole number"));
    }
    let significant = format!("{whole}{fraction}");
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return Ok(0);
    }
    let zeros = exponent - fraction.len();
    if significant.len() + zeros > 20 {
        return Err(too_large());
    }
    format!("{significant}{}", "0".repeat(zeros))
        .parse()
        .map_err(|_| too_large())
}

/// The message for a count with a unit of bytes; `None` where the rest of `text` is no number.
fn with_unit(text: &str, digits: &str) -> Option<String> {
    let number = digits.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    number.parse::<f64>().ok()?;
    let exponent = match digits[number.len()..].chars().next()?.to_ascii_uppercase() {
        'K' => 3,
        'M' => 6,
        'G' => 9,
        'T' => 12,
        _ => return None,
    };
    Some(format!(
        "{text:?} is no count: K, M, G and T are units of bytes; write {number}e{exponent}"
    ))
}

/// A count with the name of its things: `1 sample`, `2 samples`.
pub fn counted(count: u64, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::{counted, parse_count};

    #[test]
    fn counts_are_read_exactly() {
        for (text, count) in [
            ("0", 0),
            ("4096", 4096),
            ("10e3", 10_000),
            ("1.5e6", 1_500_000),
            ("1.50E6", 1_500_000),
            ("20_000_000", 20_000_000),
            ("0e99", 0),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
    }

    #[test]
    fn a_text_that_is_no_whole_number_is_refused() {
        for text in [
            "",
            "k",
            "-1",
            "1.5",
            "1.",
            ".5e3",
            "1ee6",
            "1 k",
            "x",
            "1.0001e3",
            "1%",
            "e6",
            "1e",
            "18446744073709551616",
            "2e19",
            "1e999999999999999999999",
        ] {
            assert!(parse_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_count_with_a_unit_of_bytes_is_refused_with_the_way_to_write_it() {
        for (text, instead) in [("10k", "10e3"), ("20M", "20e6"), ("1.5Gi", "1.5e9")] {
            let error = parse_count(text).unwrap_err();
            assert!(error.ends_with(&format!("write {instead}")), "{error}");
        }
    }

    #[test]
    fn one_thing_has_no_plural() {
        assert_eq!(counted(1, "sample"), "1 sample");
        assert_eq!(counted(0, "sample"), "0 samples");
        assert_eq!(counted(2, "sample"), "2 samples");
    }
}
