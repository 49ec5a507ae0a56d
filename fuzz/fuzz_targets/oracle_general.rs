#![no_main]
#[path = "../check.rs"]
mod check;

use libfuzzer_sys::fuzz_target;
use trace::Format;

fuzz_target!(|data: &[u8]| check::check(Some(Format::OracleGeneral), data));
