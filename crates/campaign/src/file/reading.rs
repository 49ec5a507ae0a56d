//! How traces of files are read: the options of `hotset sim`, with underscores.
use super::Number;
use serde::{Deserialize, Serialize};
use trace::{CsvOptions, Names, ReadOptions, SpcOptions};

/// The options for reading the traces of one `[[traces]]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    pub format: Option<String>,
    pub skip_bad: bool,
    pub drop_writes: bool,
    pub page_size: Option<Number>,
    pub one_space: bool,
    pub no_split: bool,
    pub block_size: Option<Number>,
    pub names: Option<String>,
    pub id_column: Option<String>,
    pub op_column: Option<String>,
    pub time_column: Option<String>,
    pub size_column: Option<String>,
    pub addresses: bool,
    pub no_header: bool,
    pub delimiter: Option<String>,
}

impl Reading {
    /// The options as the trace crate takes them, with flags, and `limit` requests at most.
    ///
    /// # Errors
    /// A value is unknown or out of range; the message names the key.
    pub fn options(&self, limit: Option<u64>) -> Result<ReadOptions, String> {
        let usual = ReadOptions::default();
        let format = match &self.format {
            Some(name) => Some(name.parse().map_err(|wrong| format!("format: {wrong}"))?),
            None => None,
        };
        Ok(ReadOptions {
            format,
            skip_bad: self.skip_bad,
            flags: true,
            page_size: match &self.page_size {
                Some(number) => size("page_size", number, ReadOptions::page_size)?,
                None => usual.page_size,
            },
            limit,
            spc: SpcOptions {
                writes: !self.drop_writes,
                unit_spaces: !self.one_space,
                split: !self.no_split,
                block_size: match &self.block_size {
                    Some(number) => size("block_size", number, SpcOptions::block_size)?,
                    None => usual.spc.block_size,
                },
            },
            csv: CsvOptions {
                delimiter: self.delimiter.as_deref().map(delimiter).transpose()?,
                header: !self.no_header,
                id: self.id_column.clone(),
                op: self.op_column.clone(),
                time: self.time_column.clone(),
                size: self.size_column.clone(),
                addresses: self.addresses,
                writes: !self.drop_writes,
            },
            names: match &self.names {
                Some(text) => text.parse().map_err(|wrong| format!("names: {wrong}"))?,
                None => Names::Auto,
            },
            ..usual
        })
    }
}

fn size(key: &str, number: &Number, check: fn(u64) -> Result<u32, String>) -> Result<u32, String> {
    let size = number.bytes().and_then(check);
    size.map_err(|wrong| format!("{key}: {wrong}"))
}

fn delimiter(text: &str) -> Result<u8, String> {
    CsvOptions::delimiter(text).map_err(|wrong| format!("delimiter: {wrong}"))
}
