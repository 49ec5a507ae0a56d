//! Options for reading a trace, the same in all commands that read one.
use clap::{Args, ValueEnum};
use std::path::Path;
use trace::{CsvOptions, Format, Names, ReadOptions, SpcOptions};
use units::{parse_bytes, parse_count};

#[derive(Args)]
#[command(next_help_heading = "Reading the trace")]
pub struct ReadArgs {
    /// oracleGeneral, spc, csv, text or lackey; by default guessed from name and contents. .zst and .gz
    /// are unpacked
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Leave malformed lines and records out, and report how many
    #[arg(long)]
    skip_bad: bool,
    /// Read at most this many requests
    #[arg(long, value_name = "N", value_parser = parse_count)]
    count: Option<u64>,
    /// Leave writes out (SPC, CSV with an op column)
    #[arg(long)]
    drop_writes: bool,
    /// Size of a page in bytes. Pages are the objects of SPC, lackey and CSV with --addresses [default: 4096]
    #[arg(long, value_name = "BYTES", value_parser = page_size)]
    page_size: Option<u32>,
    /// SPC: all units share one address space
    #[arg(long)]
    one_space: bool,
    /// SPC: a request that covers several pages counts as one request for its first page
    #[arg(long)]
    no_split: bool,
    /// SPC: size of a block in bytes [default: 512]
    #[arg(long, value_name = "BYTES", value_parser = block_size)]
    block_size: Option<u32>,
    /// Text and CSV: objects are numbers or any strings; auto decides by the first one [default: auto]
    #[arg(long, value_enum)]
    names: Option<NamesArg>,
    /// CSV: the column of the object, by name or by number from 1
    #[arg(long, value_name = "COLUMN")]
    id_column: Option<String>,
    /// CSV: the column of reads and writes
    #[arg(long, value_name = "COLUMN")]
    op_column: Option<String>,
    /// CSV: the column of times in seconds
    #[arg(long, value_name = "COLUMN")]
    time_column: Option<String>,
    /// CSV: the column of sizes in bytes
    #[arg(long, value_name = "COLUMN")]
    size_column: Option<String>,
    /// CSV: the id is a byte address, and its page is the object; a request with a size is split into
    /// its pages
    #[arg(long)]
    addresses: bool,
    /// CSV: the first line is a request and does not name the columns
    #[arg(long)]
    no_header: bool,
    /// CSV: one character, or tab; by default guessed from the first line
    #[arg(long, value_name = "CHAR", value_parser = CsvOptions::delimiter)]
    delimiter: Option<u8>,
}

#[derive(Clone, Copy, ValueEnum)]
enum NamesArg {
    Auto,
    Numbers,
    Strings,
}

fn page_size(text: &str) -> Result<u32, String> {
    ReadOptions::page_size(parse_bytes(text)?)
}

fn block_size(text: &str) -> Result<u32, String> {
    SpcOptions::block_size(parse_bytes(text)?)
}

impl ReadArgs {
    /// How the format of a trace is found: by the option, by the name, or by the contents.
    pub fn format_from(&self, path: &Path) -> &'static str {
        match (self.format, Format::of_name(path)) {
            (Some(_), _) => "option",
            (None, Some(_)) => "name",
            (None, None) => "contents",
        }
    }

    /// Whether writes are left out.
    pub fn drops_writes(&self) -> bool {
        self.drop_writes
    }

    /// The first option that was given and means nothing for a trace of this format, and what the option is for.
    /// Pages are also those of the format that is written.
    pub fn misplaced(
        &self,
        read: Format,
        written: Option<Format>,
    ) -> Option<(&'static str, &'static str)> {
        use Format::{Csv, Lackey, OracleGeneral, Spc, Text};
        let (csv, spc) = (read == Csv, read == Spc);
        let names = self.names.is_some();
        let pages = matches!(read, Spc | Lackey)
            || (csv && self.addresses)
            || matches!(written, Some(Spc | Lackey | OracleGeneral));
        // The option, whether it was given, whether the format has it, and the formats that have it.
        let all = [
            ("--drop-writes", self.drop_writes, csv || spc, "spc and csv"),
            (
                "--page-size",
                self.page_size.is_some(),
                pages,
                "spc, lackey, and csv with --addresses",
            ),
            ("--one-space", self.one_space, spc, "spc"),
            ("--no-split", self.no_split, spc, "spc"),
            ("--block-size", self.block_size.is_some(), spc, "spc"),
            (
                "--names",
                names,
                read == Text || (csv && !self.addresses),
                "text, and csv without --addresses",
            ),
            ("--id-column", self.id_column.is_some(), csv, "csv"),
            ("--op-column", self.op_column.is_some(), csv, "csv"),
            ("--time-column", self.time_column.is_some(), csv, "csv"),
            ("--size-column", self.size_column.is_some(), csv, "csv"),
            ("--addresses", self.addresses, csv, "csv"),
            ("--no-header", self.no_header, csv, "csv"),
            ("--delimiter", self.delimiter.is_some(), csv, "csv"),
        ];
        let wrong = all.into_iter().find(|(_, given, has, _)| *given && !has);
        wrong.map(|(option, .., formats)| (option, formats))
    }

    /// The options as the trace crate takes them.
    pub fn options(&self) -> ReadOptions {
        let usual = ReadOptions::default();
        ReadOptions {
            format: self.format,
            skip_bad: self.skip_bad,
            page_size: self.page_size.unwrap_or(usual.page_size),
            limit: self.count,
            spc: SpcOptions {
                writes: !self.drop_writes,
                unit_spaces: !self.one_space,
                split: !self.no_split,
                block_size: self.block_size.unwrap_or(usual.spc.block_size),
            },
            csv: CsvOptions {
                delimiter: self.delimiter,
                header: !self.no_header,
                id: self.id_column.clone(),
                op: self.op_column.clone(),
                time: self.time_column.clone(),
                size: self.size_column.clone(),
                addresses: self.addresses,
                writes: !self.drop_writes,
            },
            names: match self.names {
                None | Some(NamesArg::Auto) => Names::Auto,
                Some(NamesArg::Numbers) => Names::Numbers,
                Some(NamesArg::Strings) => Names::Strings,
            },
            ..usual
        }
    }
}
