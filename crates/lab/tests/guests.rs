//! Guests that go wrong on User-Mode Linux: each is a result, and nothing is left of it.
mod common;

use common::{init, kernel, wrong};
use lab::bed::{Mode, Uml};
use lab::probe;
use lab::stop::Stop;

#[test]
fn guests_that_go_wrong_are_results() {
    let Some(kernel) = kernel("guests that panic, hang and fail") else {
        return;
    };
    let mut bed = Uml::new(Mode::Seccomp, 128, 1).unwrap();
    probe::probe(&mut bed, &kernel, &init(), 1, &Stop::new().unwrap()).unwrap();
    wrong::guests_that_go_wrong_are_results(&bed, &kernel);
}
