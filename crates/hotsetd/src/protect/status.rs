//! Protection in the status document and the metrics.
use super::guard::{Enforcer, Guard};
use super::oom::controller::LastKill;
use crate::telemetry::metrics::Page;
use policy::steering::Steer;
use status::{Protection, ProtectionCounts, Steering, Victim};

/// The part of the status document that shows protection.
#[must_use]
pub fn status(guard: &Guard) -> Protection {
    let (decision, page_size) = (&guard.decision, guard.page_size);
    let floors = decision.floors;
    let [anon_min_ratio, clean_min_ratio, clean_low_ratio] = guard.policy.ratios(guard.total);
    let (enforcer, yielded, steered) = match &guard.enforcer {
        Enforcer::Kernel(_) => (status::Enforcer::Kernel, false, 0),
        Enforcer::Hotsetd(steering) => {
            let enforcer = status::Enforcer::Hotsetd;
            (enforcer, steering.swappiness.yielded(), steering.writes)
        }
    };
    let kill = guard.kill.as_ref();
    let last = kill.and_then(|kill| kill.last.as_ref());
    let other_killers = kill.map(|kill| kill.other_killers).unwrap_or_default();
    Protection {
        enforcer,
        anon_min_ratio,
        clean_min_ratio,
        clean_low_ratio,
        anon_min_bytes: floors.anon_min * page_size,
        clean_min_bytes: floors.clean_min * page_size,
        clean_low_bytes: floors.clean_low * page_size,
        clean_bytes: decision.clean * page_size,
        anon_bytes: decision.anon * page_size,
        distance_bytes: decision.distance * page_size,
        next_sample_s: decision.next_s,
        steering: match decision.steer {
            Steer::Admin => Steering::Admin,
            Steer::Anon => Steering::Anon,
            Steer::File => Steering::File,
        },
        swappiness_is_the_administrators: yielded,
        both_floors_bind: decision.both,
        exhausted: decision.exhausted.is_some(),
        kills: guard.kills(),
        last_victim: last.map(|last| victim(last, page_size)),
        locked: guard.locker.as_ref().map(|locker| locker.status()),
        cgroups: guard.cgroups.as_ref().map(|cgroups| cgroups.status()),
        other_killers: other_killers.names().map(str::to_owned).collect(),
        counts: ProtectionCounts {
            steered,
            ..guard.counts.clone()
        },
    }
}

fn victim(last: &LastKill, page_size: u64) -> Victim {
    let victim = &last.victim;
    Victim {
        at_unix_s: last.at_unix_s,
        pid: victim.pid,
        uid: victim.uid,
        name: victim.name.as_str().into(),
        processes: victim.count,
        bytes: victim.memory * page_size,
        cause: format!("{:?}", last.cause),
        dry_run: victim.dry_run,
        took_us: victim.took_us,
    }
}

/// Writes the metrics of protection.
pub fn write_metrics(protection: &Protection, page: &mut Page) {
    let counts = &protection.counts;
    for (name, help, count) in [
        ("samples", "Quick samples taken", counts.samples),
        ("steered", "Writes of vm.swappiness", counts.steered),
        ("kills", "Kills, a fork storm counted once", counts.kills),
        (
            "kills_dry_run",
            "Kills of a dry run, in which nobody is killed",
            counts.kills_dry_run,
        ),
        (
            "anon_reclaims",
            "Reclaims of anonymous memory that were requested",
            counts.anon_reclaims,
        ),
    ] {
        page.counter(&format!("hotset_protect_{name}"), help, count as f64);
    }
    let mut gauge = |name: &str, help: &str, value: u64| {
        page.gauge(&format!("hotset_protect_{name}"), help, value as f64);
    };
    for (name, help, bytes) in [
        (
            "clean_min_bytes",
            "Hard floor under clean file pages",
            protection.clean_min_bytes,
        ),
        (
            "clean_low_bytes",
            "Soft floor under clean file pages",
            protection.clean_low_bytes,
        ),
        (
            "anon_min_bytes",
            "Hard floor under anonymous pages",
            protection.anon_min_bytes,
        ),
        (
            "clean_bytes",
            "Clean file pages, without locked ones",
            protection.clean_bytes,
        ),
        ("anon_bytes", "Anonymous pages", protection.anon_bytes),
        (
            "distance_bytes",
            "Bytes that allocations can take before reclaim is steered",
            protection.distance_bytes,
        ),
    ] {
        gauge(name, help, bytes);
    }
    if let Some(locked) = &protection.locked {
        gauge("locked_bytes", "File pages that are locked", locked.bytes);
        let budget = locked.budget_bytes;
        gauge("lock_budget_bytes", "File pages that may be locked", budget);
    }
    let exhausted = u64::from(protection.exhausted);
    gauge("exhausted", "1: memory is exhausted", exhausted);
}
