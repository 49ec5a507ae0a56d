//! A Parquet file of hotset's into columns.
use super::columns::Column;
use anyhow::{anyhow, bail, Context, Result};
use bytes::Bytes;
use names::{io_error, shown};
use parquet::basic::Type;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::path::Path;

/// A whole table.
pub struct Read {
    columns: Vec<(String, Column)>,
    about: Vec<(String, String)>,
}

impl Read {
    /// The value of a key of the file's end.
    pub fn about(&self, key: &str) -> Option<&str> {
        let found = self.about.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }

    /// Takes a column out of the table.
    ///
    /// # Errors
    /// There is no such column.
    pub fn take(&mut self, name: &str) -> Result<Column> {
        let at = self.columns.iter().position(|(known, _)| known == name);
        let at = at.with_context(|| format!("has no column {name}"))?;
        Ok(self.columns.swap_remove(at).1)
    }
}

/// Reads a table.
///
/// # Errors
/// The file cannot be read, is damaged, or has columns of other types. The error names the file.
pub fn read(path: &Path) -> Result<Read> {
    let name = shown(path);
    let bytes = std::fs::read(path);
    let bytes = bytes.map_err(|error| anyhow!("{name}: cannot read: {}", io_error(&error)))?;
    of(bytes).with_context(|| name.to_string())
}

/// The table of a file's bytes. They are all there already: what is wrong now is wrong with the file, not with its
/// disk.
///
/// # Errors
/// The file is damaged, or has columns of other types.
pub fn of(bytes: Vec<u8>) -> Result<Read> {
    table(bytes.into()).map_err(|error| anyhow!("is damaged: {error:#}"))
}

fn table(bytes: Bytes) -> Result<Read> {
    let reader = SerializedFileReader::new(bytes)?;
    let about = reader.metadata().file_metadata();
    let schema = about.schema_descr();
    let mut columns: Vec<(String, Column)> = Vec::new();
    for (place, column) in schema.columns().iter().enumerate() {
        let mut values = None;
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group)?;
            let rows = group.metadata().num_rows() as usize;
            extend(&mut values, group.get_column_reader(place)?, rows)
                .with_context(|| format!("column {}", column.name()))?;
        }
        let values = values.unwrap_or(match column.physical_type() {
            Type::INT64 => Column::Count(Vec::new()),
            Type::DOUBLE => Column::Real(Vec::new()),
            _ => Column::Text(Vec::new()),
        });
        columns.push((column.name().to_string(), values));
    }
    let about = about.key_value_metadata().into_iter().flatten();
    let about = about.filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?)));
    let about = about.collect();
    Ok(Read { columns, about })
}

/// Adds the values of a group of rows.
fn extend(to: &mut Option<Column>, from: ColumnReader, rows: usize) -> Result<()> {
    let before = to.as_ref().map_or(0, Column::len);
    match from {
        ColumnReader::ByteArrayColumnReader(mut from) => {
            let mut values: Vec<ByteArray> = Vec::new();
            while from
                .read_records(rows - values.len(), None, None, &mut values)?
                .0
                > 0
            {}
            let text = values.iter().map(|value| Ok(value.as_utf8()?.to_string()));
            let Column::Text(all) = to.get_or_insert(Column::Text(Vec::new())) else {
                bail!("has two types");
            };
            all.extend(text.collect::<Result<Vec<_>>>()?);
        }
        ColumnReader::Int64ColumnReader(mut from) => {
            let mut values: Vec<i64> = Vec::new();
            while from
                .read_records(rows - values.len(), None, None, &mut values)?
                .0
                > 0
            {}
            let Column::Count(all) = to.get_or_insert(Column::Count(Vec::new())) else {
                bail!("has two types");
            };
            all.extend(values.into_iter().map(|value| value as u64));
        }
        ColumnReader::DoubleColumnReader(mut from) => {
            let mut values: Vec<f64> = Vec::new();
            while from
                .read_records(rows - values.len(), None, None, &mut values)?
                .0
                > 0
            {}
            let Column::Real(all) = to.get_or_insert(Column::Real(Vec::new())) else {
                bail!("has two types");
            };
            all.extend(values);
        }
        _ => bail!("has a type that hotset does not write"),
    }
    match to.as_ref().map_or(0, Column::len) == before + rows {
        true => Ok(()),
        false => bail!("is cut off"),
    }
}
