//! The memory for reading a trace, in allocated bytes.
mod counted;

use counted::peak;
use std::path::Path;
use trace::{Batch, Budget, Format, Packing, ReadOptions, Writer};

/// Buffers of a reader, of lines and of a batch.
const BUFFERS: usize = 1 << 20;

fn write(path: &Path, keys: impl Iterator<Item = u64>) {
    let mut writer = Writer::create(
        path,
        Format::Text,
        Packing::Plain,
        4096,
        outfile::Rules::REPLACE,
    )
    .unwrap();
    let batch = Batch {
        ids: keys.collect(),
        ..Batch::default()
    };
    writer.put(&batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn a_budget_is_kept_whatever_the_footprint() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("many.txt");
    // Each object twice, far apart, with numbers too large for the index of an array.
    let objects = 300_000u64;
    let name = |n: u64| (n % objects + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    write(&path, (0..2 * objects).map(name));
    let (whole, without) = peak(|| trace::open(&path, &ReadOptions::default()).unwrap());
    assert_eq!((whole.objects, whole.sample), (objects as u32, None));
    for bytes in [2 << 20, 8 << 20] {
        let options = ReadOptions {
            budget: Some(Budget {
                bytes: bytes as u64,
                per_object: 24,
            }),
            ..ReadOptions::default()
        };
        let (trace, held) = peak(|| trace::open(&path, &options).unwrap());
        assert!(held <= bytes + BUFFERS, "{held} bytes of {bytes}");
        assert!(held < without, "{held} with a budget, {without} without");
        let sample = trace.sample.unwrap();
        assert_eq!(sample.requests, 2 * objects);
        // The size of a sample is off by a few of its square root.
        let estimate = f64::from(trace.objects) * sample.one_in as f64;
        let off = (estimate - objects as f64).abs() / objects as f64;
        assert!(off < 5.0 / f64::from(trace.objects).sqrt(), "{off}");
        assert_eq!(trace.len(), 2 * trace.objects as usize);
    }
}

#[test]
fn a_tiny_trace_takes_little() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tiny.txt");
    write(&path, 0..100);
    let (trace, held) = peak(|| trace::open(&path, &ReadOptions::default()).unwrap());
    assert_eq!(trace.objects, 100);
    assert!(held < 1 << 20, "{held} bytes");
}
