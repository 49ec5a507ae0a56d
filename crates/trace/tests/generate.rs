//! Generators: the same numbers as numpy's, and each rule's own properties.
use sha2::{Digest, Sha256};
use trace::generate::{Pcg64, Spec};

fn drawn(spec: &Spec, requests: u64, seed: u64) -> Vec<u32> {
    let mut all = Vec::new();
    spec.requests(requests, seed, |some| all.extend_from_slice(some))
        .unwrap();
    assert_eq!(all.len() as u64, requests);
    assert!(all.iter().all(|&o| u64::from(o) < spec.objects()));
    all
}

/// Of the objects numbered from 1, four bytes each.
fn sha256(objects: &[u32]) -> String {
    let bytes: Vec<u8> = objects.iter().flat_map(|o| (o + 1).to_le_bytes()).collect();
    Sha256::digest(bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect()
}

// The expected values of the next three tests are numpy 2.4.6's own output.

#[test]
fn random_numbers_are_numpys() {
    let mut rng = Pcg64::new(42);
    let raw = [(); 3].map(|()| rng.next_u64());
    assert_eq!(
        raw,
        [
            14276969152011380360,
            8095878257575067585,
            15838336090824644132
        ]
    );
    let mut rng = Pcg64::new((1 << 63) + 5);
    assert_eq!(
        [rng.unit(), rng.unit()],
        [0.48023310532329777, 0.9041733770137489]
    );
    let mut rng = Pcg64::new(1);
    assert_eq!(rng.permutation(10), [8, 4, 7, 0, 1, 2, 5, 9, 6, 3]);
    let lengths = [(); 12].map(|()| rng.geometric(1.0 / 64.0));
    assert_eq!(lengths, [115, 32, 36, 2, 49, 67, 15, 107, 14, 50, 9, 59]);
    assert_eq!(rng.permutation(5), [3, 1, 2, 0, 4]);
    let exponentials = [(); 3].map(|()| (rng.exponential() * 1e8).round() / 1e8);
    assert_eq!(exponentials, [1.11451435, 0.89878402, 2.83996756]);
    // Enough to come into every layer of the ziggurat, and its tail.
    let mut rng = Pcg64::new(1);
    let sum: u64 = (0..1_000_000).map(|_| rng.geometric(1.0 / 64.0)).sum();
    assert_eq!(sum, 63_879_360);
}

#[test]
fn zipf_is_numpys() {
    let zipf = |objects, alpha| Spec::Zipf { objects, alpha };
    let a = drawn(&zipf(1_000_000, 1.0), 300_000, 42);
    assert_eq!(
        sha256(&a),
        "e8e31448499e7cd0181af4ecefde25c1047230a774d4875d82c61524dc042652"
    );
    let b = drawn(&zipf(5000, 0.8), 100_000, 7);
    assert_eq!(
        sha256(&b),
        "e1aa1af8c354c31b171138afab50a237ebed9d96b11a0ccb7cdeeee985052478"
    );
}

#[test]
fn loop_scan_zipf_is_numpys() {
    let mix = drawn(&Spec::loop_scan_zipf(2_000_000), 300_000, 4242);
    assert_eq!(
        sha256(&mix),
        "6181f0b3bc71c581fd4d492c98ef75982dad4cc49cd581c5889fb14b1540e9f0"
    );
}
