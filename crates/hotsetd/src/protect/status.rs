//! Protection in the status document and the metrics.
use super::guard::GuardView;
use super::mlock::thread::{Contents, Locker};
use super::oom::controller::{LastKill, Mode};
use crate::telemetry::metrics::Page;
use policy::steering::Steer;
use status::{
    Enforcer, Kills, LockedFile, LockedFiles, Protection, ProtectionCounts, Steering, Victim,
};

/// The part of the status document that shows protection.
#[must_use]
pub fn status(guard: &GuardView) -> Protection {
    let page_size = guard.page_size;
    let (decision, kill) = (&guard.decision, guard.kill);
    let floors = decision.floors;
    let [anon_min_ratio, clean_min_ratio, clean_low_ratio] = guard.ratios;
    Protection {
        enforcer: match guard.kernel_enforces {
            true => Enforcer::Kernel,
            false => Enforcer::Hotsetd,
        },
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
        swappiness_is_the_administrators: guard.swappiness_yielded,
        both_floors_bind: decision.both,
        exhausted: decision.exhausted.is_some(),
        kills: match kill.mode() {
            Mode::Never => Kills::Never,
            Mode::DryRun => Kills::DryRun,
            Mode::WhenExhausted => Kills::WhenExhausted,
        },
        last_victim: kill.last_kill().map(|last| victim(last, page_size)),
        locked: guard.locker.map(locked),
        cgroups: guard.cgroups.map(|cgroups| cgroups.status()),
        other_killers: kill.other_killers().names().map(str::to_owned).collect(),
        counts: counts(guard),
    }
}

fn counts(guard: &GuardView) -> ProtectionCounts {
    let kills = guard.kill.counts();
    ProtectionCounts {
        samples: guard.samples,
        steered: guard.steered,
        kills: kills.kills,
        kills_dry_run: kills.dry_run,
        anon_reclaims: guard.anon_reclaims,
        kills_unnotified: kills.unnotified,
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

fn locked(locker: &Locker) -> LockedFiles {
    let file = |file: Contents| LockedFile {
        path: file.path.to_string_lossy().into_owned(),
        users: file.users,
        bytes: file.bytes,
    };
    LockedFiles {
        budget_bytes: locker.budget(),
        bytes: locker.bytes(),
        files: locker.contents().into_iter().map(file).collect(),
    }
}

/// Writes the metrics of protection.
pub fn write_metrics(guard: &GuardView, page: &mut Page) {
    let kills = guard.kill.counts();
    for (name, help, count) in [
        ("samples", "Quick samples taken", guard.samples),
        ("steered", "Writes of vm.swappiness", guard.steered),
        ("kills", "Kills, a fork storm counted once", kills.kills),
        (
            "kills_dry_run",
            "Kills of a dry run, in which nobody is killed",
            kills.dry_run,
        ),
        (
            "anon_reclaims",
            "Reclaims of anonymous memory that were requested",
            guard.anon_reclaims,
        ),
    ] {
        page.counter(&format!("hotset_protect_{name}"), help, count as f64);
    }
    let decision = &guard.decision;
    let floors = decision.floors;
    for (name, help, pages) in [
        (
            "clean_min_bytes",
            "Hard floor under clean file pages",
            floors.clean_min,
        ),
        (
            "clean_low_bytes",
            "Soft floor under clean file pages",
            floors.clean_low,
        ),
        (
            "anon_min_bytes",
            "Hard floor under anonymous pages",
            floors.anon_min,
        ),
        (
            "clean_bytes",
            "Clean file pages, without locked ones",
            decision.clean,
        ),
        ("anon_bytes", "Anonymous pages", decision.anon),
        (
            "distance_bytes",
            "Bytes that allocations can take before reclaim is steered",
            decision.distance,
        ),
    ] {
        let bytes = (pages * guard.page_size) as f64;
        page.gauge(&format!("hotset_protect_{name}"), help, bytes);
    }
    if let Some(locker) = guard.locker {
        for (name, help, bytes) in [
            ("locked_bytes", "File pages that are locked", locker.bytes()),
            (
                "lock_budget_bytes",
                "File pages that may be locked",
                locker.budget(),
            ),
        ] {
            page.gauge(&format!("hotset_protect_{name}"), help, bytes as f64);
        }
    }
    let exhausted = f64::from(u8::from(decision.exhausted.is_some()));
    page.gauge(
        "hotset_protect_exhausted",
        "1: memory is exhausted",
        exhausted,
    );
}
