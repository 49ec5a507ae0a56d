//! A worker that writes kernel files and reads them back.
use anyhow::Result;
use protocol::work::KnobLoop;
use std::time::Duration;

use crate::channel::{now_ms, Channel};
use crate::kernel_files::{read, write};
use crate::work::stop::stopping;

/// Writes kernel files in turn and reads each back.
pub fn knobs(worker: &str, orders: &KnobLoop, channel: &Channel) -> Result<()> {
    let begin = now_ms();
    let (mut wrong, mut longest) = (0u64, 0f64);
    let mut written = 0;
    for (path, value) in { orders.writes.iter().cycle() }.take(orders.count as usize) {
        if stopping() {
            break;
        }
        let start = now_ms();
        write(path, value)?;
        longest = longest.max(now_ms() - start);
        written += 1;
        let back = read(path)?;
        if number(&back) != number(value) {
            wrong += 1;
            if wrong <= 10 {
                let back = back.trim();
                channel.event("wrong-knob", format!("{path}: {value:?} reads {back:?}"));
            }
        }
        std::thread::sleep(Duration::from_millis(orders.period_ms));
    }
    channel.observe(format!("{worker}.written"), begin, written as f64);
    channel.observe(format!("{worker}.wrong"), begin, wrong as f64);
    channel.observe(format!("{worker}.longest_ms"), begin, longest);
    Ok(())
}

/// The value as a number: lru_gen reads `0x0007` after 7 was written.
fn number(text: &str) -> Result<i64, &str> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).map_err(|_| text),
        None => text.parse().map_err(|_| text),
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn values_are_compared_as_numbers() {
        assert_eq!(number("0x0007\n"), number("7"));
        assert_eq!(number("15\n"), number(" 15"));
        assert_ne!(number("1"), number("15"));
        assert_ne!(number("always"), number("never"));
    }
}
