//! Any text as a configuration, as one of memoptimizer, and as an entry of the lists: read or refused, each error
//! with its line.
#![no_main]
use hotsetd::config::{cli::Options, file, memoptimizer};
use hotsetd::protect::oom::rules::Rule;
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Some(message) = file::first_error(text) {
        assert!(!message.is_empty());
    }
    let _ = memoptimizer::import(Path::new("memoptimizer.cfg"), text);
    let _ = Options::parse(text.split('\n').map(Into::into));
    for line in text.lines() {
        if let Ok(rule) = Rule::parse(line) {
            assert!(!rule.to_string().is_empty());
        }
    }
});
