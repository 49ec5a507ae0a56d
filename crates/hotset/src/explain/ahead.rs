//! hotsetd's policy over the record's whole samples, as `hotset replay` runs it.
use super::input::Input;
use crate::replay::{decide, machine};
use explain::remedies::course::Ahead;
use explain::Story;
use flight::Record;
use kernfs::Sample;
use policy::{Action, Config, Decision, Policy};

/// What the policy out of the box would have asked for from the calm before the episode to its end. `None`: the
/// record has no whole samples there.
///
/// The record does not react to it. Where hotsetd itself ran, the policy sees a machine that it has already changed.
pub fn find(input: &Input, story: &Story) -> Option<Ahead> {
    let records = &input.records;
    let (from_s, to_s) = (
        story.episode.begin_s - explain::BEFORE_S,
        story.episode.end_s,
    );
    let boot = boot(records, story);
    let whole = records.iter().filter(|record| {
        record.whole && record.boot == boot && (from_s..=to_s).contains(&record.unix_s)
    });
    let mut policy: Option<Policy> = None;
    let mut sample = Sample::default();
    let mut decision = Decision::default();
    let mut ahead = Ahead::default();
    for record in whole {
        // A record of which a part is missing decides nothing.
        if record.sample.restore(&mut sample).is_err() {
            continue;
        }
        let policy = policy.get_or_insert_with(|| {
            // The file says once which machine it is of.
            let mut first = record.sample.clone();
            first.machine = first.machine.or(input.machine.clone());
            Policy::new(Config::default(), machine(&first))
        });
        decide(policy, &sample, &mut decision);
        ahead.samples += 1;
        for (action, _) in decision.actions() {
            if let Action::ReclaimNode { bytes, .. } = action {
                ahead.bytes += bytes;
            }
        }
        if decision.summary.nodes.iter().any(|node| node.predicted) {
            ahead.foretold_s.get_or_insert(record.unix_s);
        }
    }
    (ahead.samples > 0).then_some(ahead)
}

/// The boot in which the episode was.
fn boot<'a>(records: &'a [Record], story: &Story) -> &'a str {
    let until = |record: &&Record| record.unix_s <= story.episode.end_s;
    let last = records.iter().rfind(until).or(records.last());
    last.map_or("", |record| record.boot.as_str())
}
