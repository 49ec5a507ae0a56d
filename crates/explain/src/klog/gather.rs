//! Lines of a log in, reports and kills out.
use super::draft::Draft;
use super::kills::{hung, kill, lost, Hung, Kill};
use super::line::read;
use super::report::Report;
use super::stamp::{At, Civil, Stamp};

/// What a log holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub reports: Vec<Report>,
    pub kills: Vec<Kill>,
    pub hung: Vec<Hung>,
    /// Lines that are not empty, and those of them that had a time.
    pub lines: u64,
    pub stamped: u64,
    /// The first and the last time.
    pub from: Option<At>,
    pub to: Option<At>,
    /// Messages that the log says it has lost.
    pub lost: u64,
}

/// Reports that are kept at least: the last ones.
const KEPT: usize = 4096;

/// Lines that no report has after its kill: a report whose first line is lost.
const BEGINS: [&str; 4] = [
    "Mem-Info:",
    "active_anon:",
    "Tasks state (",
    "oom-kill:constraint=",
];

/// Reads a log line by line. `clock`: seconds since 1970 of a civil time of this machine's zone.
pub struct Gatherer<'c> {
    clock: &'c dyn Fn(&Civil) -> Option<f64>,
    booted_s: Option<f64>,
    at: At,
    kernel: String,
    open: Option<Draft>,
    /// Counters of the machine that follow are not those of a kill.
    foreign: bool,
    found: Found,
}

impl<'c> Gatherer<'c> {
    #[must_use]
    pub fn new(clock: &'c dyn Fn(&Civil) -> Option<f64>) -> Gatherer<'c> {
        Gatherer {
            clock,
            booted_s: None,
            at: At::default(),
            kernel: String::new(),
            open: None,
            foreign: false,
            found: Found::default(),
        }
    }

    /// Seconds since 1970 at the boot, for a log whose times count from there.
    pub fn booted(&mut self, unix_s: f64) {
        self.booted_s = Some(unix_s);
    }

    /// Takes the next line.
    pub fn push(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        self.found.lines += 1;
        let line = read(line);
        if let Some(stamp) = line.stamp {
            self.found.stamped += 1;
            self.move_to(stamp);
        }
        self.found.lost = self.found.lost.saturating_add(lost(line.text));
        if !line.program.is_empty() {
            if let Some(kill) = kill(self.at, line.program, line.text) {
                push(&mut self.found.kills, kill);
            }
            return;
        }
        // One message of several lines: how rsyslog and /dev/kmsg write it.
        for part in line.text.split("#012").flat_map(|part| part.split("\\x0a")) {
            self.message(part.trim());
        }
    }

    /// What was found. The log is at its end.
    #[must_use]
    pub fn finish(mut self) -> Found {
        self.close();
        self.found
    }

    fn move_to(&mut self, stamp: Stamp) {
        let mut at = At {
            boot: self.at.boot,
            ..At::default()
        };
        match stamp {
            Stamp::Boot(boot_s) => {
                // CPUs write past each other by less than a second.
                if self.at.boot_s.is_some_and(|before| boot_s + 1.0 < before) {
                    self.close();
                    at.boot += 1;
                }
                at.boot_s = Some(boot_s);
                at.unix_s = self.booted_s.map(|booted_s| booted_s + boot_s);
            }
            Stamp::Unix(unix_s) => at.unix_s = Some(unix_s),
            Stamp::Civil(civil) => at.unix_s = (self.clock)(&civil),
        }
        self.at = at;
        self.found.from.get_or_insert(at);
        self.found.to = Some(at);
    }

    fn message(&mut self, text: &str) {
        if text.contains(" invoked oom-killer:") {
            self.close();
            self.foreign = false;
            self.open = Some(Draft::new(self.at, &self.kernel, Some(text)));
            return;
        }
        if let Some(rest) = text.strip_prefix("Linux version ") {
            self.close();
            self.kernel = rest.split(' ').next().unwrap_or_default().into();
            return;
        }
        if text.contains("page allocation failure") || text.contains("Show Memory") {
            self.close();
            self.foreign = true;
            return;
        }
        if let Some(hung) = hung(self.at, text) {
            push(&mut self.found.hung, hung);
            return;
        }
        let kills = text.contains("Killed process ");
        let again = BEGINS.iter().any(|begin| text.starts_with(begin));
        if let Some(open) = &self.open {
            if kills && open.is_done() || again && open.has_victim() {
                self.close();
            }
        }
        match &mut self.open {
            Some(open) => {
                open.take(self.at, text);
            }
            None if !self.foreign || kills => {
                let mut draft = Draft::new(self.at, &self.kernel, None);
                self.open = draft.take(self.at, text).then_some(draft);
            }
            None => {}
        }
    }

    fn close(&mut self) {
        if let Some(report) = self.open.take().and_then(Draft::close) {
            push(&mut self.found.reports, report);
        }
    }
}

fn push<T>(list: &mut Vec<T>, one: T) {
    if list.len() >= 2 * KEPT {
        list.drain(..KEPT);
    }
    list.push(one);
}
