//! The knobs that the policy sets, by their place in one table.
use crate::actuate::knobs;
use kernfs::knobs::Knob;
use kernfs::Sample;
use policy::Action;

/// Number of knobs.
pub const COUNT: usize = 4;

/// The sysctls.
pub const NAMES: [&str; COUNT] = [
    knobs::WATERMARK_SCALE_FACTOR,
    knobs::COMPACTION_PROACTIVENESS,
    knobs::VFS_CACHE_PRESSURE,
    knobs::NEGATIVE_DENTRY_LIMIT,
];

/// A knob's value in a sample.
pub fn sampled(sample: &Sample, place: usize) -> Option<u32> {
    let knob = [
        Knob::WatermarkScaleFactor,
        Knob::CompactionProactiveness,
        Knob::VfsCachePressure,
        Knob::NegativeDentryLimit,
    ][place];
    let value = sample.knobs.get(knob)?;
    value.try_into().ok()
}

/// The knob that an action sets, and its new value.
pub fn set_by(action: &Action) -> Option<(usize, u32)> {
    match action {
        Action::SetWatermarkScaleFactor(to) => Some((0, *to)),
        Action::SetCompactionProactiveness(to) => Some((1, *to)),
        Action::SetVfsCachePressure(to) => Some((2, *to)),
        Action::SetNegativeDentryLimit(to) => Some((3, *to)),
        _ => None,
    }
}

/// The same knobs in the policy's observation.
pub fn shown(knobs: &mut policy::Knobs) -> [&mut Option<u32>; COUNT] {
    [
        &mut knobs.watermark_scale_factor,
        &mut knobs.compaction_proactiveness,
        &mut knobs.vfs_cache_pressure,
        &mut knobs.negative_dentry_limit,
    ]
}
