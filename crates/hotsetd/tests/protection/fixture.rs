//! A daemon on a machine of files, with memory and a clock of the test's own.
use crate::common::FakeMachine;
use crate::memory::Memory;
use hotsetd::config::settings::Config;
use hotsetd::os::clock::{Clock, FakeClock};
use hotsetd::runtime::daemon::Daemon;
use hotsetd::telemetry::log::Log;
use policy::floors::Size;
use status::{Protection, Status};

pub const SWAPPINESS: &str = "proc/sys/vm/swappiness";
pub const BOOST: &str = "proc/sys/vm/watermark_boost_factor";
/// Seconds between two steps.
pub const STEP_S: f64 = 0.01;
/// Steps within which a kill that is due comes: five seconds.
const DUE: u32 = 500;
/// The clock's start, in seconds. A process that started before half of it is not young.
const BEGIN_S: f64 = 1e6;

/// The configuration with hard floors of 15%.
pub fn config() -> Config {
    let mut config = Config::default();
    let floors = &mut config.protect.policy.floors;
    (floors.anon_min, floors.clean_min) = (Size::Percent(15.0), Size::Percent(15.0));
    config
}

pub struct Fixture {
    pub machine: FakeMachine,
    pub memory: Memory,
    pub clock: FakeClock,
    pub daemon: Daemon,
}

impl Fixture {
    /// Starts a daemon on `machine`, whose memory is `memory`.
    pub fn new(machine: FakeMachine, memory: Memory, config: Config) -> Fixture {
        Fixture::with_log(machine, memory, config, Log::to_memory(4))
    }

    pub fn with_log(machine: FakeMachine, memory: Memory, config: Config, log: Log) -> Fixture {
        memory.write(&machine);
        let clock = FakeClock::at(BEGIN_S);
        let daemon = start(&machine, config, log, &clock);
        Fixture {
            machine,
            memory,
            clock,
            daemon,
        }
    }

    /// Starts another daemon in place of the present one, which ends as a SIGKILL ends it.
    pub fn restart(&mut self, config: Config) {
        self.daemon = start(&self.machine, config, Log::to_memory(4), &self.clock);
    }

    /// Writes the memory that the test has changed.
    pub fn write_memory(&self) {
        self.memory.write(&self.machine);
    }

    /// One step of protection, 10 ms after the last. Returns the seconds until the next.
    pub fn step(&mut self) -> f64 {
        self.clock.advance(STEP_S);
        self.daemon.step_protection().unwrap()
    }

    pub fn steps(&mut self, count: u32) {
        for _ in 0..count {
            self.step();
        }
    }

    /// Steps while a task takes memory.
    pub fn take(&mut self, steps: u32) {
        for _ in 0..steps {
            self.memory.take(&self.machine);
            self.step();
        }
    }

    /// Takes memory until a victim is chosen.
    pub fn take_until_kill(&mut self) {
        for _ in 0..DUE {
            self.take(1);
            if self.kills() > 0 {
                return;
            }
        }
        panic!("nobody is chosen in {} s", f64::from(DUE) * STEP_S);
    }

    pub fn swappiness(&self) -> String {
        self.machine.read(SWAPPINESS).trim().to_owned()
    }

    pub fn boost(&self) -> String {
        self.machine.read(BOOST).trim().to_owned()
    }

    pub fn status(&self) -> Status {
        serde_json::from_slice(&self.daemon.status()).unwrap()
    }

    pub fn protection(&self) -> Protection {
        self.status().protect.unwrap()
    }

    /// Victims so far. On a machine of files they live on.
    pub fn kills(&self) -> u64 {
        let counts = self.protection().counts;
        assert_eq!(counts.kills, 0);
        counts.kills_dry_run
    }
}

fn start(machine: &FakeMachine, config: Config, log: Log, clock: &FakeClock) -> Daemon {
    let clock = Clock::Fake(clock.clone());
    Daemon::with_clock(machine.root(), config, log, clock).unwrap()
}
