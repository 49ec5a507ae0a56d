//! A daemon on a machine of files, with a clock that the test moves.
#![allow(dead_code)] // Each test file uses its own part of it.
use crate::common::FakeMachine;
use hotsetd::config::settings::Config;
use hotsetd::os::clock::{Clock, FakeClock};
use hotsetd::runtime::daemon::Daemon;
use hotsetd::telemetry::log::Log;
use status::{Knob, Status};

/// Seconds between two samples of a burst.
pub const NEAR_S: f64 = 0.01;

pub struct Running {
    pub machine: FakeMachine,
    pub clock: FakeClock,
    pub daemon: Daemon,
}

impl Running {
    pub fn new(machine: FakeMachine) -> Running {
        Running::with(machine, Log::to_memory(3), |_| {})
    }

    pub fn with(machine: FakeMachine, log: Log, change: impl FnOnce(&mut Config)) -> Running {
        let mut config = Config::default();
        config.policy.sample_near_s = 0.1;
        change(&mut config);
        let clock = FakeClock::at(1000.0);
        let fake = Clock::Fake(clock.clone());
        let daemon = Daemon::with_clock(machine.root(), config, log, fake).unwrap();
        Running {
            machine,
            clock,
            daemon,
        }
    }

    /// A sample, `seconds` after the last.
    pub fn step_after(&mut self, seconds: f64) -> f64 {
        self.clock.advance(seconds);
        self.daemon.step()
    }

    /// One sample of a burst that takes free pages faster than kswapd frees them.
    pub fn burst_step(&mut self) {
        self.machine.allocate(15_000, 3_000);
        self.step_after(NEAR_S);
    }

    /// Bursts until the daemon has raised vm.watermark_scale_factor.
    pub fn burst(&mut self) {
        for _ in 0..400 {
            self.burst_step();
            if self.machine.wsf() > 10 {
                return;
            }
        }
        let lines = self.daemon.log().lines();
        panic!("400 samples of a burst and no knob was written:\n{lines:#?}");
    }

    pub fn status(&self) -> Status {
        serde_json::from_slice(&self.daemon.status()).unwrap()
    }

    /// A knob in the status.
    pub fn knob(&self, name: &str) -> Knob {
        let knobs = self.status().knobs;
        knobs.into_iter().find(|knob| knob.name == name).unwrap()
    }

    /// Lines of the log that contain `part`.
    pub fn lines_with(&mut self, part: &str) -> usize {
        let lines = self.daemon.log().lines();
        lines.iter().filter(|line| line.contains(part)).count()
    }
}
