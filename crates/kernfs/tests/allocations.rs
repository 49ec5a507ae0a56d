//! A sample allocates nothing once the sampler knows the files' shape.
mod common;

use kernfs::knobs::Knob;
use kernfs::{Options, Root, Sample, Sampler, Sources};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// One count a thread, because the test harness allocates too.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() -> u64 {
    COUNT.with(Cell::get)
}

// SAFETY: every call goes on to System unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps to GlobalAlloc's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of `rounds` samples, after some to learn from.
fn counted(sampler: &mut Sampler, rounds: u32) -> u64 {
    let mut sample = Sample::default();
    (0..3).for_each(|_| sampler.sample(&mut sample));
    let before = count();
    (0..rounds).for_each(|_| sampler.sample(&mut sample));
    let after = count();
    assert!(sample.fresh != Sources::default() || !sample.errors.is_empty());
    after - before
}

fn everything(root: &std::path::Path) -> Sampler {
    let options = Options {
        sources: Sources::ALL | Sources::GENERATIONS,
        knobs: Knob::ALL.to_vec(),
        cgroups: vec!["/sys/fs/cgroup/user.slice".into()],
    };
    Sampler::new(Root::new(root), options)
}

#[test]
fn a_sample_allocates_nothing() {
    let before = count();
    drop(std::hint::black_box(vec![1u8; 10]));
    assert!(count() > before, "the allocator counts");

    for name in common::ALL {
        let mut sampler = everything(&common::fixture(name));
        // Beyond the 16 samples after which huge page pools are read again.
        assert_eq!(counted(&mut sampler, 200), 0, "{name}");
    }
    // The numbers of this machine's own files grow longer and shorter meanwhile.
    let mut sampler = Sampler::new(Root::default(), Options::default());
    assert_eq!(counted(&mut sampler, 500), 0, "/");

    // Files that are broken or gone allocate nothing either.
    let broken = common::copy("7.3-eight-nodes");
    std::fs::write(broken.path().join("proc/zoneinfo"), "Node 0, zone\n").unwrap();
    std::fs::write(broken.path().join("proc/pressure/memory"), "").unwrap();
    let mut sampler = everything(broken.path());
    assert_eq!(counted(&mut sampler, 200), 0, "broken");
    let mut sampler = everything(broken.path());
    let mut sample = Sample::default();
    sampler.sample(&mut sample);
    std::fs::remove_file(broken.path().join("proc/vmstat")).unwrap();
    std::fs::remove_dir_all(broken.path().join("sys/devices/system/node/node17")).unwrap();
    assert_eq!(counted(&mut sampler, 200), 0, "gone");
}
