//! Tables written and read back.
use campaign::table::{bytes, read, Column, Row, Writer};
use std::fs;

fn row(at: u64) -> Row {
    Row {
        trace: format!("trace-{}", at / 10),
        policy: ["lru", "arc:form=a,b", "größe"][at as usize % 3].into(),
        size: "1%".into(),
        size_objects: at,
        requests: 1000,
        objects: u64::from(u32::MAX),
        misses: at * 7,
        digest: format!("{at:016x}"),
        malformed_left_out: 0,
        writes_left_out: at % 2,
    }
}

#[test]
fn rows_of_several_groups_come_back_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let rows: Vec<Row> = (0..5000).map(row).collect();
    let about = [("key", "value".to_string())];
    let mut writer = Writer::new(Vec::new(), &Row::schema(), &about).unwrap();
    for rows in rows.chunks(1700) {
        writer.group(&Row::columns(rows)).unwrap();
    }
    let written = writer.finish().unwrap();
    fs::write(&path, &written).unwrap();
    let mut table = read(&path).unwrap();
    assert_eq!(table.about("key"), Some("value"));
    assert_eq!(table.about("other"), None);
    assert!(Row::of(&mut table).unwrap() == rows);
    // Text and numbers of a row are 130 bytes. Names that repeat are written once.
    assert!(written.len() < 5000 * 60, "{} bytes", written.len());
}

#[test]
fn a_table_without_rows_keeps_its_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let columns = Row::schema();
    fs::write(&path, bytes(columns, &[]).unwrap()).unwrap();
    let mut table = read(&path).unwrap();
    assert!(matches!(table.take("miss_ratio").unwrap(), Column::Real(values) if values.is_empty()));
    assert!(table.take("nothing").is_err());
    assert_eq!(Row::of(&mut read(&path).unwrap()).unwrap(), []);
}

/// A byte too few, and a word where the end says that columns are.
#[test]
fn a_damaged_table_is_named_and_never_half_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let rows: Vec<Row> = (0..100).map(row).collect();
    let names = Row::schema().into_iter().map(|(name, _)| name);
    let columns = names.zip(Row::columns(&rows)).collect();
    let whole = bytes(columns, &[]).unwrap();
    for length in [0, 3, 100, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        let error = format!("{:#}", read(&path).err().expect("damaged"));
        assert!(error.contains("a.parquet: is damaged"), "{error}");
    }
    fs::remove_file(&path).unwrap();
    let error = format!("{:#}", read(&path).err().expect("missing"));
    assert!(error.contains("cannot read: No such file"), "{error}");
}
