//! Writes requests in any writable format.
use super::blocks::{Lackey, Spc};
use super::csv::Columns;
use super::oracle::Oracle;
use super::output::Output;
use crate::{Batch, Error, Format, Packing};
use outfile::Rules;
use std::io::Write as _;
use std::path::Path;

/// The numbers of a finished file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    pub requests: u64,
}

enum Form {
    Text,
    /// None until the first batch determines the columns.
    Csv(Option<Columns>),
    Oracle(Box<Oracle>),
    Spc(Spc),
    Lackey(Lackey),
}

/// Writes a trace batch by batch.
pub struct Writer {
    output: Output,
    form: Form,
    requests: u64,
    lines: Vec<u8>,
}

impl Writer {
    /// The formats that can be written.
    pub const FORMATS: [Format; 5] = Format::ALL;

    /// Creates a file; `-` is standard output. `size` is the size of each object in bytes, where a format
    /// needs one and the requests have none. oracleGeneral keeps 16 bytes a request in memory until
    /// [`Writer::finish`], because its records have the next access.
    ///
    /// # Errors
    /// `rules` do not allow to replace a file, the file cannot be created, or pages are smaller than the blocks of SPC.
    pub fn create(
        path: &Path,
        format: Format,
        packing: Packing,
        size: u32,
        rules: Rules,
    ) -> Result<Writer, Error> {
        let form = match format {
            Format::Text => Form::Text,
            Format::Csv => Form::Csv(None),
            Format::OracleGeneral => Form::Oracle(Box::new(Oracle::new(path, size))),
            Format::Spc => Form::Spc(Spc::new(path, size)?),
            Format::Lackey => Form::Lackey(Lackey::new(path, size)),
        };
        Ok(Writer {
            output: Output::create(path, packing, rules)?,
            form,
            requests: 0,
            lines: Vec::new(),
        })
    }

    /// Writes some requests. All batches have the same columns.
    ///
    /// # Errors
    /// The file cannot be written, or there are more requests or objects than the format holds.
    pub fn put(&mut self, batch: &Batch) -> Result<(), Error> {
        self.requests += batch.ids.len() as u64;
        self.lines.clear();
        match &mut self.form {
            Form::Text => {
                for id in &batch.ids {
                    // Writing to a Vec cannot fail.
                    let _ = writeln!(self.lines, "{id}");
                }
            }
            Form::Csv(columns) => {
                let columns = columns.get_or_insert_with(|| {
                    let columns = Columns::of(batch);
                    columns.header(&mut self.lines);
                    columns
                });
                columns.rows(batch, &mut self.lines);
            }
            Form::Oracle(oracle) => return oracle.put(batch),
            Form::Spc(spc) => spc.rows(batch, &mut self.lines),
            Form::Lackey(lackey) => lackey.rows(batch, &mut self.lines)?,
        }
        self.output.write(&self.lines, batch.ids.len() as u64)
    }

    /// The number of requests put so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The file cannot be written. [`Writer::cut`] then keeps what can be kept.
    pub fn finish(&mut self) -> Result<Written, Error> {
        if let Form::Oracle(oracle) = &mut self.form {
            oracle.write(|records, requests| self.output.write(records, requests))?;
        }
        self.output.finish()?;
        Ok(Written {
            requests: self.requests,
        })
    }

    /// After an error: ends the file with the requests that have been written whole. Without any, there is no
    /// file.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn cut(&mut self) -> Result<Written, Error> {
        Ok(Written {
            requests: self.output.cut()?,
        })
    }
}
