//! Sampling of the machine that the test runs on.
use kernfs::{Options, Root, Sample, Sampler, Sources};

#[test]
fn sampling_opens_no_file_of_page_frames() {
    let mut sampler = Sampler::new(
        Root::default(),
        Options {
            sources: Sources::ALL | Sources::GENERATIONS,
            ..Options::default()
        },
    );
    let mut sample = Sample::default();
    sampler.sample(&mut sample);
    let held = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let names: Vec<_> = held
        .filter_map(|fd| std::fs::read_link(fd.path()).ok())
        .collect();
    assert!(
        names.iter().any(|name| name.ends_with("vmstat")),
        "/proc/vmstat is not held open: {names:?}"
    );
    assert!(!names
        .iter()
        .any(|name| name.to_string_lossy().contains("kpage")));
}
