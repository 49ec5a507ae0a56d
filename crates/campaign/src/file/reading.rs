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
            page_size: match bytes("page_size", self.page_size.as_ref())? {
                Some(size) if !size.is_power_of_two() => {
                    return Err(format!("page_size: {size} is no power of two"))
                }
                size => size.unwrap_or(usual.page_size),
            },
            limit,
            spc: SpcOptions {
                writes: !self.drop_writes,
                unit_spaces: !self.one_space,
                split: !self.no_split,
                block_size: bytes("block_size", self.block_size.as_ref())?
                    .unwrap_or(usual.spc.block_size),
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
            names: match self.names.as_deref() {
                None | Some("auto") => Names::Auto,
                Some("numbers") => Names::Numbers,
                Some("strings") => Names::Strings,
                Some(other) => {
                    return Err(format!(
                        "names: {other:?}: expected auto, numbers or strings"
                    ))
                }
            },
            ..usual
        })
    }
}

fn bytes(key: &str, number: Option<&Number>) -> Result<Option<u32>, String> {
    let Some(number) = number else {
        return Ok(None);
    };
    let bytes = number.bytes().map_err(|wrong| format!("{key}: {wrong}"))?;
    match bytes {
        1..=0x8000_0000 => Ok(Some(bytes as u32)),
        _ => Err(format!("{key}: {bytes} is out of range (1 to 2G bytes)")),
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" => Ok(b'\t'),
        &[byte] if byte != b'"' && byte != b'\n' => Ok(byte),
        _ => Err(format!(
            "delimiter: {text:?}: expected one character or the word tab"
        )),
    }
}
