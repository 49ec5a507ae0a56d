//! Requests in, a trace of any writable format out.
use super::blocks::{Lackey, Spc};
use super::csv::Columns;
use super::oracle::Oracle;
use super::output::Output;
use crate::{Batch, Error, Format, Packing};
use std::io::Write as _;
use std::path::Path;

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    pub requests: u64,
}

enum Form {
    Text,
    /// The columns are known with the first batch.
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
    /// Formats that can be written.
    pub const FORMATS: [Format; 5] = Format::ALL;

    /// Creates a file; `-` is standard output. `size` is each object's in bytes, where a format wants
    /// one and the requests have none. oracleGeneral keeps 16 bytes a request in memory until
    /// [`Writer::finish`], since it tells the future.
    ///
    /// # Errors
    /// When the file cannot be created, or pages are smaller than SPC's blocks.
    pub fn create(
        path: &Path,
        format: Format,
        packing: Packing,
        size: u32,
    ) -> Result<Writer, Error> {
        let form = match format {
            Format::Text => Form::Text,
            Format::Csv => Form::Csv(None),
            Format::OracleGeneral => Form::Oracle(Box::new(Oracle::new(path, size))),
            Format::Spc => Form::Spc(Spc::new(path, size)?),
            Format::Lackey => Form::Lackey(Lackey::new(path, size)),
        };
        Ok(Writer {
            output: Output::create(path, packing)?,
            form,
            requests: 0,
            lines: Vec::new(),
        })
    }

    /// Writes some requests. All batches have the same columns.
    ///
    /// # Errors
    /// The file's own, or more requests or objects than the format holds.
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
        self.output.write(&self.lines)
    }

    /// Requests put so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Ends the file.
    ///
    /// # Errors
    /// The file's own.
    pub fn finish(mut self) -> Result<Written, Error> {
        if let Form::Oracle(oracle) = self.form {
            oracle.write(|records| self.output.write(records))?;
        }
        self.output.finish()?;
        Ok(Written {
            requests: self.requests,
        })
    }
}
