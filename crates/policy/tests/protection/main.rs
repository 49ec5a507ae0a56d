//! Protection of the working set, on snapshots that each test makes.
mod anon_reclaim;
mod breach;
mod default;
mod exhaustion;
mod floors;
mod snapshots;
mod steering;
mod victim;
