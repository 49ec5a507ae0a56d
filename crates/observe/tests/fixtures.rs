//! Observations of the recorded kernels below fixtures/kernfs.
use kernfs::knobs::Knob;
use kernfs::samples::Record;
use kernfs::{Options, Root, Sample, Sampler};
use policy::NodeObservation;
use std::path::{Path, PathBuf};

fn roots() -> Vec<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kernfs");
    let entries = std::fs::read_dir(all).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let roots: Vec<_> = paths.filter(|path| path.is_dir()).collect();
    assert!(roots.len() >= 13, "{roots:?}");
    roots
}

fn sampled(root: &Path) -> Sample {
    let options = Options {
        knobs: Knob::ALL.to_vec(),
        ..Options::default()
    };
    let mut sample = Sample::default();
    Sampler::new(Root::new(root), options).sample(&mut sample);
    assert_eq!(sample.errors, [], "{}", root.display());
    sample
}

/// All figures of the observation, as text.
fn observed(sample: &Sample) -> String {
    let nodes: Vec<NodeObservation> = sample.nodes.iter().map(observe::node).collect();
    format!("{:#?}", observe::observation(sample, &nodes))
}

#[test]
fn a_record_gives_the_observation_of_the_sample_that_it_was_made_of() {
    // Used again for each record, as `hotset replay` does.
    let mut restored = Sample::default();
    for root in roots() {
        let sample = sampled(&root);
        let line = serde_json::to_string(&Record::of(&sample)).unwrap();
        let record: Record = serde_json::from_str(&line).unwrap();
        record.restore(&mut restored).unwrap();
        assert_eq!(observed(&restored), observed(&sample), "{}", root.display());
    }
}

#[test]
fn meminfo_accounts_for_no_more_than_there_is() {
    for root in roots() {
        let found = observe::meminfo(&sampled(&root));
        let parts = [found.free, found.lru, found.slab, found.hugetlb];
        let sum: u64 = parts.iter().sum();
        assert!(found.total > 0 && found.lru > 0 && found.slab > 0);
        assert!(sum <= found.total, "{}: {found:?}", root.display());
    }
}

#[test]
fn a_field_that_the_kernel_lacks_is_none_or_0() {
    let sample = Sample::default();
    let observation = observe::observation(&sample, &[]);
    assert_eq!(observation.vmstat, policy::Vmstat::default());
    assert_eq!(observation.meminfo, policy::Meminfo::default());
    assert_eq!(observation.knobs, policy::Knobs::default());
    assert!(observation.psi_memory.is_none());
    assert!(observation.dentries.is_none() && observation.inodes.is_none());
}

/// The kernel of 6.1 had just boosted its watermarks.
#[test]
fn watermarks_are_those_without_a_boost() {
    let root = roots().into_iter().find(|root| root.ends_with("6.1"));
    let sample = sampled(&root.unwrap());
    let (node, seen) = (&sample.nodes[0], observe::node(&sample.nodes[0]));
    assert_eq!(node.boost, 9216);
    assert_eq!(seen.watermarks.high + 9216, node.watermarks.high);
    assert_eq!(seen.watermarks.min + 9216, node.watermarks.min);
    assert_eq!(seen.watermarks.gap(), node.watermarks.gap());
}

/// 21,071 pages of the zone DMA32, and all of the zone DMA.
#[test]
fn pages_that_lower_zones_keep_are_not_free() {
    let root = roots().into_iter().find(|root| root.ends_with("6.18"));
    let sample = sampled(&root.unwrap());
    let seen = observe::node(&sample.nodes[0]);
    assert_eq!(seen.free + 21_071 + 3_840, sample.nodes[0].free);
}
