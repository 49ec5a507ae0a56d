//! /proc/pressure/* and a cgroup's *.pressure (kernel/sched/psi.c, `psi_show`).
use crate::parse::text;
use crate::ErrorKind;

/// Shares of time in which tasks waited for one resource.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pressure {
    /// Some task waited. Absent for `irq`.
    pub some: Option<Stall>,
    /// All tasks that were not idle waited. Absent for `cpu` before 5.13.
    pub full: Option<Stall>,
}

/// One line of a pressure file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stall {
    /// Percent of the last 10 s, decaying.
    pub avg10: f64,
    /// Percent of the last 60 s, decaying.
    pub avg60: f64,
    /// Percent of the last 300 s, decaying.
    pub avg300: f64,
    /// Microseconds since boot.
    pub total_us: u64,
}

impl Pressure {
    /// Reads the text of a pressure file.
    ///
    /// # Errors
    /// Malformed text, or a text that has neither line.
    pub fn parse(&mut self, text: &[u8]) -> Result<(), ErrorKind> {
        let mut found = Self::default();
        for (line, bytes) in text::lines(text)? {
            let problem = "not `some` or `full` with avg10, avg60, avg300 and total";
            let malformed = ErrorKind::Malformed { line, problem };
            let (kind, rest) = text::word(bytes);
            let stall = Stall::parse(rest).ok_or(malformed)?;
            match kind {
                b"some" => found.some = Some(stall),
                b"full" => found.full = Some(stall),
                _ => return Err(malformed),
            }
        }
        *self = found;
        Ok(())
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Stall {
    fn parse(mut rest: &[u8]) -> Option<Self> {
        let (mut stall, mut total) = (Self::default(), None);
        loop {
            let (pair, after) = text::word(rest);
            rest = after;
            if pair.is_empty() {
                break;
            }
            let equals = pair.iter().position(|&byte| byte == b'=')?;
            let (name, value) = (&pair[..equals], &pair[equals + 1..]);
            match name {
                b"avg10" => stall.avg10 = text::decimal(value)?,
                b"avg60" => stall.avg60 = text::decimal(value)?,
                b"avg300" => stall.avg300 = text::decimal(value)?,
                b"total" => total = Some(text::number(value)?),
                // A later kernel may have more fields.
                _ => (),
            }
        }
        stall.total_us = total?;
        Some(stall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lines_are_read_and_either_may_be_absent() {
        let mut pressure = Pressure::default();
        let text = b"some avg10=1.53 avg60=0.00 avg300=0.10 total=77\n\
                     full avg10=0.25 avg60=0.00 avg300=0.00 total=9\n";
        pressure.parse(text).unwrap();
        assert_eq!(pressure.some.unwrap().avg10, 1.53);
        assert_eq!(pressure.full.unwrap().total_us, 9);
        // The files of cpu before 5.13 lack `full`, those of irq lack `some`.
        pressure
            .parse(b"some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n")
            .unwrap();
        assert!(pressure.full.is_none());
        pressure
            .parse(b"full avg10=0.00 avg60=0.00 avg300=0.00 total=1\n")
            .unwrap();
        assert!(pressure.some.is_none());
    }

    #[test]
    fn garbage_leaves_the_last_values() {
        let mut pressure = Pressure::default();
        let good = b"some avg10=1.00 avg60=0.00 avg300=0.00 total=5\n";
        pressure.parse(good).unwrap();
        let before = pressure;
        for text in [
            &b"some avg10=1.00 avg60=0.00 avg300=0.00 total=5"[..],
            b"some avg10=x avg60=0.00 avg300=0.00 total=5\n",
            b"some avg10=1.00\n",
            b"most avg10=1.00 avg60=0.00 avg300=0.00 total=5\n",
            b"",
        ] {
            assert!(pressure.parse(text).is_err());
            assert_eq!(pressure, before);
        }
    }
}
