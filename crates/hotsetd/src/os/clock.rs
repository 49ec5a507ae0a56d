//! The clock that the daemon reads: the system's, or one that a test moves by hand.
use super::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// The source of time. Cheap to clone; clones of a test's clock share its time.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The kernel's clocks.
    #[default]
    System,
    /// Time that stands still until the test moves it.
    Fake(FakeClock),
}

impl Clock {
    /// CLOCK_MONOTONIC in seconds.
    #[must_use]
    pub fn now_s(&self) -> f64 {
        match self {
            Clock::System => process::now_s(),
            Clock::Fake(clock) => clock.now_s(),
        }
    }

    /// CLOCK_BOOTTIME in seconds, in which processes' start times are counted.
    #[must_use]
    pub fn boot_s(&self) -> f64 {
        match self {
            Clock::System => process::boot_s(),
            Clock::Fake(clock) => clock.now_s(),
        }
    }

    /// Seconds since 1970.
    #[must_use]
    pub fn unix_s(&self) -> f64 {
        match self {
            Clock::System => process::unix_s(),
            Clock::Fake(clock) => FakeClock::UNIX_S + clock.now_s(),
        }
    }

    /// CPU seconds of this thread; 0 by a test's clock.
    #[must_use]
    pub fn thread_cpu_s(&self) -> f64 {
        match self {
            Clock::System => process::thread_cpu_s(),
            Clock::Fake(_) => 0.0,
        }
    }

    /// The time of a sample that the sampler took at `taken_s` of CLOCK_MONOTONIC.
    #[must_use]
    pub fn sample_s(&self, taken_s: f64) -> f64 {
        match self {
            Clock::System => taken_s,
            Clock::Fake(clock) => clock.now_s(),
        }
    }
}

/// A clock for tests.
#[derive(Clone, Debug)]
pub struct FakeClock(Arc<AtomicU64>);

impl FakeClock {
    /// Seconds since 1970 when a test's clock stands at 0.
    const UNIX_S: f64 = 1.0e9;

    /// A clock that stands at `now_s` seconds.
    #[must_use]
    pub fn at(now_s: f64) -> FakeClock {
        FakeClock(Arc::new(AtomicU64::new(nanoseconds(now_s))))
    }

    /// Moves the clock on by `seconds`.
    pub fn advance(&self, seconds: f64) {
        self.0.fetch_add(nanoseconds(seconds), Ordering::Relaxed);
    }

    /// Seconds that the clock stands at.
    #[must_use]
    pub fn now_s(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64 / 1e9
    }
}

/// Seconds in whole nanoseconds, so that many small steps add up to exactly one large one.
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_of_a_fake_clock_share_its_time() {
        let fake = FakeClock::at(100.0);
        let clock = Clock::Fake(fake.clone());
        for _ in 0..10 {
            fake.advance(0.1);
        }
        assert_eq!(clock.now_s(), 101.0);
        assert_eq!(clock.sample_s(7.0), 101.0);
        assert_eq!(clock.unix_s(), FakeClock::UNIX_S + 101.0);
    }

    #[test]
    fn the_system_clock_keeps_the_samplers_time() {
        assert_eq!(Clock::System.sample_s(7.0), 7.0);
    }
}
