//! Columns into a Parquet file.
use super::columns::Column;
use anyhow::Result;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::io::Write;
use std::sync::Arc;

/// A file being written, one group of rows after another.
pub struct Writer<W: Write + Send> {
    to: SerializedFileWriter<W>,
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file. `columns` are its names and, by any column, its types; `about` are keys and values of its end.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn new(to: W, columns: &[(&str, Column)], about: &[(&str, String)]) -> Result<Writer<W>> {
        let fields = columns.iter().map(|(name, column)| {
            format!("REQUIRED {} {name}{}; ", column.kind(), column.meaning())
        });
        let schema = format!("message hotset {{ {}}}", fields.collect::<String>());
        let about = about
            .iter()
            .map(|(key, value)| KeyValue::new(key.to_string(), value.clone()));
        let properties = WriterProperties::builder()
            // Readers look for this form. The library's own text would change with its version.
            .set_created_by("hotset version 1".into())
            .set_compression(Compression::UNCOMPRESSED)
            .set_key_value_metadata(Some(about.collect()))
            .build();
        let schema = Arc::new(parse_message_type(&schema)?);
        let to = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
        Ok(Writer { to })
    }

    /// Adds a group of rows: one column for each of the file's, all of one length.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn group(&mut self, columns: &[Column]) -> Result<()> {
        let mut group = self.to.next_row_group()?;
        for column in columns {
            let Some(mut to) = group.next_column()? else {
                anyhow::bail!("more columns than the table has");
            };
            match column {
                Column::Text(values) => {
                    let values: Vec<ByteArray> =
                        values.iter().map(|text| text.as_str().into()).collect();
                    to.typed::<ByteArrayType>()
                        .write_batch(&values, None, None)?;
                }
                Column::Count(values) => {
                    let values: Vec<i64> = values.iter().map(|&count| count as i64).collect();
                    to.typed::<Int64Type>().write_batch(&values, None, None)?;
                }
                Column::Real(values) => {
                    to.typed::<DoubleType>().write_batch(values, None, None)?;
                }
            }
            to.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(self) -> Result<W> {
        Ok(self.to.into_inner()?)
    }
}

/// A small table as the bytes of a file, with one group of rows.
///
/// # Errors
/// The columns have different lengths.
pub fn bytes(columns: Vec<(&str, Column)>, about: &[(&str, String)]) -> Result<Vec<u8>> {
    let mut writer = Writer::new(Vec::new(), &columns, about)?;
    let values: Vec<Column> = columns.into_iter().map(|(_, column)| column).collect();
    writer.group(&values)?;
    writer.finish()
}
