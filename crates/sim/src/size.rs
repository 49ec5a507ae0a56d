//! Cache sizes as people write them: objects, bytes, or a share of the footprint.

/// A size as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// `4096`, `10k`
    Objects(u64),
    /// `64MiB`, `1GB`
    Bytes(u64),
    /// `1%` of the trace's distinct objects
    Share(f64),
}

/// Most sizes that one range may stand for.
const MOST: usize = 10_000;

impl Size {
    /// Reads one size.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<Size, String> {
        let wrong = || {
            format!("size {text:?}: expected objects (4096, 10k), bytes (64MiB) or a share of the footprint (1%)")
        };
        let digits = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let of = |factor: u64| (number * factor as f64).round() as u64;
        let size = match unit.trim_start() {
            "" => Size::Objects(of(1)),
            "%" => Size::Share(number / 100.0),
            "k" => Size::Objects(of(1000)),
            "M" => Size::Objects(of(1_000_000)),
            "B" => Size::Bytes(of(1)),
            "kB" | "KB" => Size::Bytes(of(1000)),
            "MB" => Size::Bytes(of(1_000_000)),
            "GB" => Size::Bytes(of(1_000_000_000)),
            "KiB" | "kiB" => Size::Bytes(of(1 << 10)),
            "MiB" => Size::Bytes(of(1 << 20)),
            "GiB" => Size::Bytes(of(1 << 30)),
            "TiB" => Size::Bytes(of(1 << 40)),
            _ => return Err(wrong()),
        };
        if number > 0.0 {
            Ok(size)
        } else {
            Err(format!("size {text:?}: a cache holds at least one object"))
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

/// Reads sizes between commas; `LOW..HIGH:COUNT` stands for so many, each the same factor above the
/// one before.
///
/// # Errors
/// What is wrong, in words.
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
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(Size::parse("4096"), Ok(Size::Objects(4096)));
        assert_eq!(Size::parse("10k"), Ok(Size::Objects(10_000)));
        assert_eq!(Size::parse("1.5%"), Ok(Size::Share(0.015)));
        assert_eq!(Size::parse("64MiB"), Ok(Size::Bytes(64 << 20)));
        for wrong in ["", "0", "-1", "x", "1%%", "1 parsec", "0%", "1e3"] {
            assert!(Size::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Size::parse("1%").unwrap().objects(914_859, 4096), 9148);
        assert_eq!(Size::parse("1%").unwrap().objects(3, 4096), 1);
        assert_eq!(Size::parse("64MiB").unwrap().objects(9, 4096), 16384);
    }

    #[test]
    fn a_range_is_so_many_sizes() {
        let sizes = parse_list("5,1..100:3,10%").unwrap();
        let five = [5, 1, 10, 100].map(Size::Objects);
        assert_eq!(sizes[..4], five);
        assert_eq!(sizes[4], Size::Share(0.1));
        for wrong in ["", "1..2", "1..2:1", "1..2%:4", "1..2:x", "0..5:3"] {
            assert!(parse_list(wrong).is_err(), "{wrong}");
        }
    }
}
