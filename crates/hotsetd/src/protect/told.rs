//! Protection in the status document and the metrics.
use super::guard::Guard;
use serde_json::{json, Value};
use std::fmt::Write;

impl Guard {
    /// The `protect` part of the status document. Bytes and seconds.
    #[must_use]
    pub fn status(&self) -> Value {
        let page = self.eyes.page_size();
        let (outcome, counts) = (&self.outcome, &self.counts);
        let floors = outcome.floors;
        let [anon_min, clean_min, clean_low] = self.protect.ratios(self.total);
        let victim = self.last_victim.as_ref().map(|(victim, cause, at_unix_s)| {
            json!({
                "at_unix_s": at_unix_s, "pid": victim.pid, "uid": victim.uid,
                "name": victim.name.as_str(), "processes": victim.count,
                "bytes": victim.memory * page, "cause": format!("{cause:?}"),
                "only_said": victim.pretended, "took_us": victim.took_us,
            })
        });
        json!({
            "enforcer": if self.series { "kernel" } else { "hotsetd" },
            "anon_min_ratio": anon_min, "clean_min_ratio": clean_min, "clean_low_ratio": clean_low,
            "anon_min_bytes": floors.anon_min * page, "clean_min_bytes": floors.clean_min * page,
            "clean_low_bytes": floors.clean_low * page,
            "clean_bytes": outcome.clean * page, "anon_bytes": outcome.anon * page,
            "distance_bytes": outcome.distance * page, "next_look_s": outcome.next_s,
            "steering": format!("{:?}", outcome.steer).to_lowercase(),
            "swappiness_is_the_administrators": self.swappiness.yielded(),
            "both_floors_bind": outcome.both, "exhausted": outcome.exhausted.is_some(),
            "kills": match &self.killer {
                None => "never",
                Some(killer) if killer.pretends() => "says whom",
                Some(_) => "when exhausted",
            },
            "last_victim": victim,
            "locked": self.locker.as_ref().map(|locker| {
                let files = locker.contents().into_iter().map(|file| {
                    json!({ "path": file.path, "users": file.users, "bytes": file.bytes })
                });
                json!({
                    "budget_bytes": locker.budget(), "bytes": locker.bytes(),
                    "files": files.collect::<Vec<_>>(),
                })
            }),
            "cgroups": self.slices.as_ref().map(|slices| slices.status()),
            "other_killers": self.rivals.names().collect::<Vec<_>>(),
            "counts": {
                "looks": counts.looks, "steered": counts.steered, "kills": counts.kills,
                "kills_only_said": counts.pretended, "anon_reclaims": counts.anon_reclaims,
                "kills_not_told": counts.untold,
            },
        })
    }

    /// Its metrics, as OpenMetrics without the end.
    #[must_use]
    pub fn metrics(&self) -> String {
        let page = self.eyes.page_size();
        let (outcome, counts) = (&self.outcome, &self.counts);
        let mut text = String::with_capacity(2048);
        // Writing to a String cannot fail.
        let mut counter = |name: &str, what: &str, value: u64| {
            let _ = write!(
                text,
                "# TYPE hotset_protect_{name} counter\n# HELP hotset_protect_{name} {what}.\n\
                 hotset_protect_{name}_total {value}\n"
            );
        };
        counter("looks", "Quick looks", counts.looks);
        counter("steered", "Writes of vm.swappiness", counts.steered);
        counter("kills", "Kills, a fork storm counted once", counts.kills);
        let what = "Kills that were only said";
        counter("kills_only_said", what, counts.pretended);
        let what = "Reclaims of anonymous memory that were asked for";
        counter("anon_reclaims", what, counts.anon_reclaims);
        let mut gauge = |name: &str, what: &str, value: u64| {
            let _ = write!(
                text,
                "# TYPE hotset_protect_{name} gauge\n# HELP hotset_protect_{name} {what}.\n\
                 hotset_protect_{name} {value}\n"
            );
        };
        let floors = outcome.floors;
        let what = "Hard floor under clean file pages";
        gauge("clean_min_bytes", what, floors.clean_min * page);
        let what = "Soft floor under clean file pages";
        gauge("clean_low_bytes", what, floors.clean_low * page);
        let what = "Hard floor under anonymous pages";
        gauge("anon_min_bytes", what, floors.anon_min * page);
        gauge(
            "clean_bytes",
            "Clean file pages, locked ones among them",
            outcome.clean * page,
        );
        gauge("anon_bytes", "Anonymous pages", outcome.anon * page);
        let what = "How far memory is from being steered";
        gauge("distance_bytes", what, outcome.distance * page);
        if let Some(locker) = &self.locker {
            gauge("locked_bytes", "File pages that are locked", locker.bytes());
            gauge(
                "lock_budget_bytes",
                "File pages that may be",
                locker.budget(),
            );
        }
        let exhausted = u64::from(outcome.exhausted.is_some());
        gauge("exhausted", "1: memory is exhausted", exhausted);
        text
    }
}
