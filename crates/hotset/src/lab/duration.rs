//! Durations and counts of runs, as text.

/// A duration in hours and minutes, rounded up: "2 h 5 min". From ten hours on, minutes do not matter.
pub fn duration(seconds: f64) -> String {
    let minutes = minutes(seconds);
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} min"),
        (10.., _) => format!("{} h", minutes.div_ceil(60)),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// Minutes, rounded up.
pub fn minutes(seconds: f64) -> u64 {
    (seconds / 60.0).ceil() as u64
}

/// A number of things: "1 trial", "2 trials".
pub fn counted(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_are_in_hours_and_minutes() {
        assert_eq!(duration(1.0), "1 min");
        assert_eq!(duration(59.0 * 60.0 + 1.0), "1 h");
        assert_eq!(duration(4054.0 * 60.0), "68 h");
    }
}
