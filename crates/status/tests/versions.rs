//! Documents of other versions.
use status::{Kills, KnobValue, Status, Steering};

fn read(document: &str) -> Status {
    serde_json::from_str(document).unwrap()
}

#[test]
fn a_missing_field_has_its_default() {
    let status = read(r#"{"version": "9", "nodes": [{"id": 3}]}"#);
    assert_eq!((status.version.as_str(), status.pid), ("9", None));
    assert_eq!((status.nodes[0].id, status.nodes[0].free_pages), (3, 0));
    assert!(status.protect.is_none());
}

#[test]
fn an_unknown_field_is_ignored() {
    assert_eq!(read(r#"{"pid": 7, "colour": {"red": 1}}"#).pid, Some(7));
}

#[test]
fn a_field_of_another_type_has_its_default_and_the_rest_is_read() {
    let status = read(r#"{"knobs": 7, "cpu_s": null, "dry_run": "yes", "pid": 7}"#);
    assert_eq!((status.knobs.len(), status.cpu_s), (0, 0.0));
    assert_eq!((status.dry_run, status.pid), (false, Some(7)));
}

#[test]
fn an_unknown_choice_is_the_default() {
    let document = r#"{"protect": {"steering": "sideways", "kills": "on Sundays"}}"#;
    let protect = read(document).protect.unwrap();
    assert_eq!(
        (protect.steering, protect.kills),
        (Steering::Admin, Kills::Unknown)
    );
}

#[test]
fn numbers_and_texts_are_values_of_knobs() {
    let status = read(r#"{"knobs": [{"value": 120}, {"value": "1 2 3"}, {"value": null}]}"#);
    let values: Vec<_> = status.knobs.into_iter().map(|knob| knob.value).collect();
    let expected = [
        Some(KnobValue::Number(120)),
        Some(KnobValue::Text("1 2 3".into())),
        None,
    ];
    assert_eq!(values, expected);
}

#[test]
fn a_written_document_is_read_back() {
    let mut status = read(r#"{"nodes": [{}], "knobs": [{}], "actions": [{}], "protect": {}}"#);
    status.rates.demand_pages_per_s = 1.5;
    status.nodes[0].earliest_low_s = Some(2.0);
    let written = serde_json::to_string(&status).unwrap();
    assert_eq!(read(&written), status);
}
