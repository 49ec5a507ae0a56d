//! Tests that take too long without optimisation.
mod promises;

use lab::model::generate;
use promises::assert_promises;

/// The policy's thresholds were set without this seed.
#[test]
#[ignore = "long: 22 traces under 6 controllers"]
fn hotset_keeps_its_promises_on_generated_traces() {
    let classes = ["24 GB bursts", "24 GB noisy", "768 GB bursts"];
    assert_promises(&generate::all(2027), &classes);
}
