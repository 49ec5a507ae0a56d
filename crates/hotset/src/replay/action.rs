//! Actions in words.
use policy::{Action, Tunable, Warning};

/// As [`describe`], with the administrator's own knobs by name.
pub fn named(action: Action, tunables: &[Tunable]) -> String {
    match action {
        Action::SetTunable(index) => match tunables.get(index) {
            Some(Tunable { name, value, .. }) => format!("{name} = {value}"),
            None => describe(action),
        },
        _ => describe(action),
    }
}

/// An action in the terms of the kernel's files.
pub fn describe(action: Action) -> String {
    match action {
        Action::SetWatermarkScaleFactor(value) => format!("vm.watermark_scale_factor = {value}"),
        Action::ReclaimNode { node, bytes } => {
            format!("reclaim {} MiB of node {node}", bytes >> 20)
        }
        Action::SetKswapdNice { node, nice } => format!("kswapd{node}: nice {nice}"),
        Action::CompactNode { node } => format!("compact node {node}"),
        Action::SetCompactionProactiveness(value) => {
            format!("vm.compaction_proactiveness = {value}")
        }
        Action::SetVfsCachePressure(value) => format!("vm.vfs_cache_pressure = {value}"),
        Action::SetNegativeDentryLimit(value) => format!("fs.negative-dentry-limit = {value}"),
        Action::SetTunable(index) => format!("tunable {index}"),
        Action::Warn(warning) => match warning {
            Warning::SuddenLeak => "warning: sudden leak",
            Warning::SlowLeak => "warning: slow leak",
            Warning::Yielded => "warning: another program sets a knob",
        }
        .to_owned(),
    }
}
