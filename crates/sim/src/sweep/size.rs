//! Cache sizes on the command line: objects, bytes, or a share of the footprint.

/// A size as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// `4096`, `10e3`
    Objects(u64),
    /// `64M`, `1GiB`: units are powers of 1024.
    Bytes(u64),
    /// `1%` of the trace's distinct objects
    Share(f64),
}

/// The largest number of objects or bytes: larger ones have no exact floating-point number.
const LARGEST: u64 = 1 << 53;

/// The most sizes that one range may stand for.
const MOST: usize = 10_000;

impl Size {
    /// Reads one size. A bare number counts objects. A number with K, M, G or T is in bytes. A number with
    /// % is a share of the footprint.
    ///
    /// # Errors
    /// `text` is no size, or a size of zero; the message says how to write it.
    pub fn parse(text: &str) -> Result<Size, String> {
        let size = match text.strip_suffix('%') {
            Some(percent) => Size::Share(parse_share(text, percent)?),
            None => parse_whole(text)?,
        };
        match size {
            Size::Objects(0) | Size::Bytes(0) | Size::Share(0.0) => {
                Err(format!("size {text:?}: a cache holds at least one object"))
            }
            Size::Objects(size) | Size::Bytes(size) if size > LARGEST => {
                Err(format!("size {text:?} is too large: at most {LARGEST}"))
            }
            size => Ok(size),
        }
    }

    /// Objects that fit: at least 1. A share is rounded down, and so are bytes.
    pub fn objects(self, footprint: u64, object_bytes: u64) -> u64 {
        let size = match self {
            Size::Objects(size) => size,
            Size::Bytes(bytes) => bytes / object_bytes.max(1),
            Size::Share(share) => (footprint as f64 * share) as u64,
        };
        size.max(1)
    }
}

fn parse_share(text: &str, percent: &str) -> Result<f64, String> {
    let plain = percent.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let number = percent.parse::<f64>().ok().filter(|_| plain);
    number
        .map(|number| number / 100.0)
        .ok_or_else(|| unknown(text))
}

fn parse_whole(text: &str) -> Result<Size, String> {
    let count = units::parse_count(text);
    if let Ok(objects) = count {
        return Ok(Size::Objects(objects));
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
        return count.map(Size::Objects);
    }
    // A small k alone is ambiguous: most users mean thousands of objects, some kibibytes.
    if let Some(number) = text.strip_suffix('k').filter(|n| n.parse::<f64>().is_ok()) {
        return Err(format!(
            "size {text:?} is ambiguous: write {number}e3 for objects or {number}K for bytes"
        ));
    }
    match units::parse_size(text) {
        Ok(bytes) => Ok(Size::Bytes(bytes)),
        Err(_) => Err(unknown(text)),
    }
}

fn unknown(text: &str) -> String {
    format!(
        "size {text:?}: expected objects (4096, 10e3), bytes (64M) or a share of the footprint (1%)"
    )
}

/// Reads sizes between commas. `LOW..HIGH:COUNT` stands for COUNT sizes, each the same factor above the
/// previous one.
///
/// # Errors
/// A part of `text` is no size or no range; the message quotes it.
pub fn parse_list(text: &str) -> Result<Vec<Size>, String> {
    let mut sizes = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let Some((low, rest)) = part.split_once("..") else {
            sizes.push(Size::parse(part)?);
            continue;
        };
        let (high, count) = rest
            .split_once(':')
            .ok_or_else(|| format!("{part:?}: expected LOW..HIGH:COUNT, such as 0.1%..50%:12"))?;
        let count: usize = count
            .parse()
            .ok()
            .filter(|count| (2..=MOST).contains(count))
            .ok_or_else(|| format!("{part:?}: {count:?} sizes; expected 2 to {MOST}"))?;
        let ends = (Size::parse(low)?, Size::parse(high)?);
        for step in 0..count {
            let between =
                |low: f64, high: f64| low * (high / low).powf(step as f64 / (count - 1) as f64);
            let number = |low: u64, high: u64| between(low as f64, high as f64).round() as u64;
            sizes.push(match ends {
                (Size::Objects(low), Size::Objects(high)) => Size::Objects(number(low, high)),
                (Size::Bytes(low), Size::Bytes(high)) => Size::Bytes(number(low, high)),
                (Size::Share(low), Size::Share(high)) => Size::Share(between(low, high)),
                _ => return Err(format!("{part:?}: both ends must be of one kind")),
            });
        }
    }
    if sizes.is_empty() {
        return Err("no size".to_string());
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_objects_bytes_and_percent() {
        assert_eq!(Size::parse("4096"), Ok(Size::Objects(4096)));
        assert_eq!(Size::parse("10e3"), Ok(Size::Objects(10_000)));
        assert_eq!(Size::parse("10_000"), Ok(Size::Objects(10_000)));
        assert_eq!(Size::parse("1.5%"), Ok(Size::Share(0.015)));
        for bytes in ["64M", "64MB", "64MiB", "65536K", "65536kB", "67108864B"] {
            assert_eq!(Size::parse(bytes), Ok(Size::Bytes(64 << 20)), "{bytes}");
        }
        for wrong in [
            "",
            "0",
            "-1",
            "x",
            "1%%",
            "1 parsec",
            "0%",
            "0M",
            "1.5",
            "inf%",
            "99999999999999999999999999999",
            "9e18",
            "9000000T",
        ] {
            assert!(Size::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Size::parse("1%").unwrap().objects(914_859, 4096), 9148);
        assert_eq!(Size::parse("1%").unwrap().objects(3, 4096), 1);
        assert_eq!(Size::parse("64MiB").unwrap().objects(9, 4096), 16384);
    }

    #[test]
    fn a_small_k_is_refused_with_both_ways_to_write_it() {
        let error = Size::parse("10k").unwrap_err();
        assert!(error.contains("10e3") && error.contains("10K"), "{error}");
    }

    #[test]
    fn a_range_has_its_count_of_sizes() {
        let sizes = parse_list("5,1..100:3,10%").unwrap();
        let five = [5, 1, 10, 100].map(Size::Objects);
        assert_eq!(sizes[..4], five);
        assert_eq!(sizes[4], Size::Share(0.1));
        for wrong in ["", "1..2", "1..2:1", "1..2%:4", "1..2:x", "0..5:3"] {
            assert!(parse_list(wrong).is_err(), "{wrong}");
        }
    }
}
