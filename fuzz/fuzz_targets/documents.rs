//! Any bytes as the status document of another version, and as the request of a client of the metrics.
#![no_main]
use libfuzzer_sys::fuzz_target;
use status::Status;

fuzz_target!(|data: &[u8]| {
    if let Ok(status) = serde_json::from_slice::<Status>(data) {
        let text = serde_json::to_string(&status).unwrap();
        let again: Status = serde_json::from_str(&text).unwrap();
        assert_eq!(again.actions.len(), status.actions.len());
    }
    let answer = hotsetd::telemetry::server::http(data, || b"metrics\n".to_vec());
    assert!(answer.starts_with(b"HTTP/1.1 ") && answer.windows(4).any(|at| at == b"\r\n\r\n"));
});
