//! Warnings to programs: the D-Bus signal of low-memory-monitor, which GLib's GMemoryMonitor hands to programs.
//!
//! [`Warnings`] decides in the daemon when one is due. [`LowMemoryMonitor`] is the notifier's connection to the
//! system's bus.
use crate::os::dbus::Bus;
use std::path::{Path, PathBuf};

const NAME: &str = "org.freedesktop.LowMemoryMonitor";
const OBJECT: &str = "/org/freedesktop/LowMemoryMonitor";
/// Seconds until a bus is looked for again where there was none, or another program had the name.
const AGAIN_S: i64 = 60;
/// Seconds between two warnings of a level.
const PAUSE_S: f64 = 15.0;

/// The levels of low-memory-monitor that hotsetd gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Memory is short, and reclaim is steered.
    Medium = 100,
    /// A kill may be due any moment.
    Critical = 255,
}

/// When a level was reached, and when programs were told.
#[derive(Clone, Copy, Debug)]
struct Told {
    reached_s: f64,
    told_s: f64,
    /// Pages that were left when programs were told.
    left: u64,
}

impl Default for Told {
    fn default() -> Self {
        Told {
            reached_s: f64::NEG_INFINITY,
            told_s: f64::NEG_INFINITY,
            left: 0,
        }
    }
}

/// Decides when a warning is due: when a level is reached, and again while less and less is left.
#[derive(Clone, Copy, Debug, Default)]
pub struct Warnings {
    medium: Told,
    critical: Told,
}

impl Warnings {
    /// Whether a warning is due. `left`: pages that are free, clean or in swap. `kill`: a kill is due now.
    pub fn due(&mut self, now_s: f64, level: Level, left: u64, kill: bool) -> bool {
        // Programs that were told of more need not hear of less.
        let medium = self.medium.is_due(now_s, left, false);
        match level {
            Level::Medium => medium,
            Level::Critical => self.critical.is_due(now_s, left, kill),
        }
    }
}

impl Told {
    /// A machine may be short for good and healthy: it is told of once, not for ever.
    fn is_due(&mut self, now_s: f64, left: u64, kill: bool) -> bool {
        let reached = now_s - self.reached_s >= PAUSE_S;
        self.reached_s = now_s;
        let worse = left * 8 <= self.left * 7;
        let due = now_s - self.told_s >= PAUSE_S && (reached || worse || kill);
        if due {
            (self.told_s, self.left) = (now_s, left);
        }
        due
    }
}

/// The name on the system's bus. Without a bus, and where another program has the name, warnings go nowhere.
pub(super) struct LowMemoryMonitor {
    socket: PathBuf,
    pub bus: Option<Bus>,
}

impl LowMemoryMonitor {
    /// Takes the name at once: GLib's programs listen once they have seen an owner and asked it for its properties.
    pub fn new(root: &Path) -> LowMemoryMonitor {
        let mut monitor = LowMemoryMonitor {
            socket: root.join("run/dbus/system_bus_socket"),
            bus: None,
        };
        monitor.serve();
        monitor
    }

    /// Seconds until [`LowMemoryMonitor::serve`] is to be called, whether or not the bus has anything to say.
    pub fn again_s(&self) -> Option<i64> {
        self.bus.is_none().then_some(AGAIN_S)
    }

    /// Answers the bus, or looks for it.
    pub fn serve(&mut self) {
        match &mut self.bus {
            None => self.bus = Bus::own(&self.socket, NAME).ok(),
            Some(bus) => {
                if bus.answer().is_err() {
                    self.bus = None;
                }
            }
        }
    }

    pub fn warn(&mut self, level: u8) {
        // A bus that has ended meanwhile may be there again.
        for _ in 0..2 {
            if self.bus.is_none() {
                self.serve();
            }
            let Some(bus) = &mut self.bus else { return };
            if bus.signal(OBJECT, NAME, "LowMemoryWarning", level).is_ok() {
                return;
            }
            self.bus = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_told_when_it_is_reached_and_again_while_less_is_left() {
        let mut warnings = Warnings::default();
        let mut due = |now_s, left| warnings.due(now_s, Level::Medium, left, false);
        assert!(due(1.0, 1000));
        // It goes on, and nothing gets worse.
        for second in 2..100 {
            assert!(!due(f64::from(second), 900));
        }
        assert!(due(100.0, 870));
        assert!(!due(101.0, 100));
        assert!(due(115.0, 100));
        // It has been over for a while.
        assert!(!due(129.0, 2000));
        assert!(due(145.0, 2000));
    }

    #[test]
    fn a_kill_is_told_of_whatever_is_left_and_once_in_fifteen_seconds() {
        let mut warnings = Warnings::default();
        assert!(warnings.due(0.0, Level::Critical, 100, false));
        assert!(!warnings.due(10.0, Level::Critical, 100, true));
        assert!(warnings.due(20.0, Level::Critical, 100, true));
        // Who was told of the most need not hear of less a moment later.
        assert!(!warnings.due(21.0, Level::Medium, 100, false));
    }
}
