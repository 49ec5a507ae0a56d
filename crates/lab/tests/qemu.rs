//! Guests in QEMU that go wrong: each is a result, and nothing is left of it.
mod common;

use common::{init, kernel_x86, wrong};
use lab::bed::Qemu;
use lab::probe;
use lab::stop::Stop;

#[test]
fn guests_that_go_wrong_are_results() {
    let Some(kernel) = kernel_x86("guests in QEMU that panic, hang and fail") else {
        return;
    };
    let mut bed = Qemu::new(false).unwrap();
    probe::probe(&mut bed, &kernel, &init(), 1, &Stop::new().unwrap()).unwrap();
    wrong::guests_that_go_wrong_are_results(&bed, &kernel);
}
