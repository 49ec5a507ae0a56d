//! What is shown of one moment.
use super::cgroups::Group;
use kernfs::Sample;
use policy::Decision;
use status::Status;
use std::rc::Rc;

/// One moment of the machine. Sizes in bytes, rates a second.
#[derive(Clone, Default)]
pub struct Moment {
    /// Seconds of the recording's or the machine's clock.
    pub t: f64,
    /// Seconds since 1970. `None`: a recording, which does not say.
    pub at_unix_s: Option<f64>,
    pub total: f64,
    pub free: f64,
    pub min: f64,
    pub low: f64,
    pub high: f64,
    pub anon: f64,
    pub file: f64,
    pub swap_total: f64,
    pub swap_free: f64,
    /// Memory that zswap takes.
    pub zswap: f64,
    /// Percent of the last 10 s in which some task stalled, and all. `None`: the kernel has no PSI.
    pub stalled: Option<(f64, f64)>,
    pub rates: Rates,
    /// Seconds until the first node is at its low watermark, and at the earliest.
    pub low_in_s: Option<f64>,
    pub low_earliest_s: Option<f64>,
    pub groups: Vec<Group>,
    /// A daemon runs, and this user may not ask it.
    pub denied: bool,
    /// `None`: no daemon answered.
    pub daemon: Option<Daemon>,
    /// The events known at this moment, the oldest first.
    pub events: Rc<Vec<Event>>,
}

/// What is shown of a daemon's status: an hour of whole documents would take tens of megabytes.
#[derive(Clone)]
pub struct Daemon {
    pub version: String,
    pub dry_run: bool,
    /// Hard floor under anonymous pages; 0: none.
    pub anon_min: f64,
    /// Hard floor under clean file pages; 0: none.
    pub clean_min: f64,
    /// Soft floor under clean file pages.
    pub clean_low: f64,
}

/// Rates between the last two samples.
#[derive(Clone, Copy, Default)]
pub struct Rates {
    pub demand: f64,
    pub kswapd: f64,
    pub direct: f64,
    pub proactive: f64,
    pub refaults: f64,
    /// Allocations that had to reclaim.
    pub allocstall: f64,
}

/// Something that the daemon did, or would do.
#[derive(Clone, PartialEq)]
pub struct Event {
    /// Seconds since 1970, or the recording's clock.
    pub at_s: f64,
    pub what: String,
    pub why: String,
    /// What came of it.
    pub outcome: String,
}

impl Moment {
    /// The moment of a sample, with the decision of a policy that has seen all samples before.
    pub fn of(sample: &Sample, decision: &Decision, page_size: u64) -> Moment {
        let bytes = |pages: u64| pages as f64 * page_size as f64;
        let kib = |kib: Option<u64>| kib.unwrap_or(0) as f64 * 1024.0;
        let sum =
            |part: fn(&kernfs::sample::Node) -> u64| bytes(sample.nodes.iter().map(part).sum());
        let rates = &decision.summary.rates;
        let pages = |pages: f64| pages * page_size as f64;
        let first = |times: &mut dyn Iterator<Item = f64>| times.reduce(f64::min);
        let nodes = &decision.summary.nodes;
        let memory = &sample.psi.memory;
        Moment {
            t: sample.t,
            total: kib(sample.meminfo.mem_total()),
            free: sum(|node| node.free),
            min: sum(|node| node.watermarks.min),
            low: sum(|node| node.watermarks.low),
            high: sum(|node| node.watermarks.high),
            anon: sum(kernfs::sample::Node::anon),
            file: sum(kernfs::sample::Node::file),
            swap_total: kib(sample.meminfo.swap_total()),
            swap_free: kib(sample.meminfo.swap_free()),
            zswap: kib(sample.meminfo.zswap()),
            stalled: memory
                .some
                .map(|some| (some.avg10, memory.full.map_or(0.0, |full| full.avg10))),
            rates: Rates {
                demand: pages(rates.demand),
                kswapd: pages(rates.kswapd),
                direct: pages(rates.direct),
                proactive: pages(rates.proactive),
                refaults: pages(rates.refaults),
                allocstall: rates.allocstall,
            },
            low_in_s: first(&mut nodes.iter().filter_map(|node| node.time_to_low_s)),
            low_earliest_s: first(&mut nodes.iter().filter_map(|node| node.earliest_low_s)),
            ..Moment::default()
        }
    }

    /// Takes over what the daemon knows better: its forecast has seen more, and its events have happened. `before`:
    /// the events of the moment before, which are shared where there are no others.
    pub fn with_daemon(mut self, status: &Status, before: &Rc<Vec<Event>>) -> Moment {
        let first = |times: &mut dyn Iterator<Item = f64>| times.reduce(f64::min);
        self.low_in_s = first(&mut status.nodes.iter().filter_map(|node| node.time_to_low_s));
        self.low_earliest_s =
            first(&mut status.nodes.iter().filter_map(|node| node.earliest_low_s));
        let mut events: Vec<Event> = status.actions.iter().map(Event::of_action).collect();
        let protect = status.protect.as_ref();
        let victim = protect.and_then(|protect| protect.last_victim.as_ref());
        events.extend(victim.map(Event::of_victim));
        events.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
        self.events = match events == **before {
            true => Rc::clone(before),
            false => Rc::new(events),
        };
        let floor = |bytes: fn(&status::Protection) -> u64| protect.map_or(0, bytes) as f64;
        self.daemon = Some(Daemon {
            version: status.version.clone(),
            dry_run: status.dry_run,
            anon_min: floor(|protect| protect.anon_min_bytes),
            clean_min: floor(|protect| protect.clean_min_bytes),
            clean_low: floor(|protect| protect.clean_low_bytes),
        });
        self
    }
}

impl Event {
    fn of_action(action: &status::Action) -> Event {
        Event {
            at_s: action.at_unix_s,
            what: action.action.clone(),
            why: action.reason.clone(),
            outcome: action.outcome.clone(),
        }
    }

    fn of_victim(victim: &status::Victim) -> Event {
        let freed = units::format_bytes(victim.bytes as f64);
        let verb = if victim.dry_run {
            "would kill"
        } else {
            "killed"
        };
        Event {
            at_s: victim.at_unix_s,
            what: format!("{verb} {} (pid {}), {freed}", victim.name, victim.pid),
            why: victim.cause.clone(),
            outcome: format!("signals sent in {} us", victim.took_us),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An hour of moments with copies of their own would take more memory than the daemon.
    #[test]
    fn moments_share_events_that_do_not_change() {
        let status: Status = serde_json::from_str(
            r#"{"version": "1", "actions": [{"at_unix_s": 1.0, "action": "a", "reason": "b", "outcome": "c"}]}"#,
        )
        .unwrap();
        let first = Moment::default().with_daemon(&status, &Rc::default());
        let second = Moment::default().with_daemon(&status, &first.events);
        assert_eq!(first.events.len(), 1);
        assert!(Rc::ptr_eq(&first.events, &second.events));
    }
}
