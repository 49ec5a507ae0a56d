//! Demand traces: a machine's demand for free memory, ten rows a second.
use super::kernel::{Demand, Machine};
use anyhow::{bail, ensure, Context, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The seconds of a row.
pub const ROW_S: f64 = 0.1;

/// A trace, and the machine that it was made for.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The file as on the command line; the generator's name of a fresh trace.
    pub name: String,
    /// The header's KIND; empty without one.
    pub kind: String,
    pub machine: Machine,
    /// Free and cache pages, and the fragmented share, at the start.
    pub free: f64,
    pub cache: f64,
    pub phi: f64,
    pub rows: Vec<Demand>,
}

impl Trace {
    /// Reads a trace, plain or compressed with zstd (by its content, whatever its name).
    ///
    /// # Errors
    /// When the file cannot be read, is no trace, or is cut off; the message has file and line.
    pub fn read(path: &Path) -> Result<Trace> {
        let file = || path.display().to_string();
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .with_context(file)?;
        if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            bytes = zstd::decode_all(bytes.as_slice())
                .with_context(|| format!("{}: not readable as zstd", file()))?;
        }
        let text = String::from_utf8(bytes)
            .with_context(|| format!("{}: neither text nor zstd", file()))?;
        // As on the command line: u.csv and u.csv.zst are two traces.
        Trace::parse(&path.to_string_lossy(), &text).with_context(file)
    }

    /// Reads a trace's text.
    ///
    /// # Errors
    /// When the text is no trace; the message has the line.
    pub fn parse(name: &str, text: &str) -> Result<Trace> {
        let mut lines = text.lines().enumerate();
        let (_, header) = lines
            .next()
            .context("line 1: no header; is it a demand trace?")?;
        let mut trace = Trace {
            name: name.to_owned(),
            kind: String::new(),
            machine: Machine {
                managed: f64::NAN,
                min: f64::NAN,
                kswapd_rate: f64::NAN,
                direct_rate: f64::NAN,
                cache_floor: 0.0,
            },
            free: f64::NAN,
            cache: f64::NAN,
            phi: f64::NAN,
            rows: Vec::new(),
        };
        trace.header(header).context("line 1")?;
        for (number, line) in lines {
            if line.is_empty() || line.starts_with('#') || line.starts_with("t_ms") {
                continue;
            }
            let row = row(line).with_context(|| format!("line {}: {line:?}", number + 1))?;
            trace.rows.push(row);
        }
        ensure!(!trace.rows.is_empty(), "no rows");
        Ok(trace)
    }

    fn header(&mut self, line: &str) -> Result<()> {
        let fields = line
            .strip_prefix('#')
            .context("expected \"# M=... MIN=...\"")?;
        for field in fields.split_whitespace() {
            let (key, value) = field
                .split_once('=')
                .with_context(|| format!("{field:?}"))?;
            let number = || -> Result<f64> {
                let number: f64 = value.parse().with_context(|| format!("{field:?}"))?;
                ensure!(
                    number.is_finite() && number >= 0.0,
                    "{field:?}: not a count"
                );
                Ok(number)
            };
            match key {
                "M" => self.machine.managed = number()?,
                "MIN" => self.machine.min = number()?,
                "RKS" => self.machine.kswapd_rate = number()?,
                "RDIR" => self.machine.direct_rate = number()?,
                "F" => self.free = number()?,
                "C" => self.cache = number()?,
                "PHI" => self.phi = number()?,
                "KIND" => self.kind = value.to_owned(),
                _ => {} // A later version's header may have more fields.
            }
        }
        let machine = self.machine;
        for (key, value) in [
            ("M", machine.managed),
            ("MIN", machine.min),
            ("RKS", machine.kswapd_rate),
            ("RDIR", machine.direct_rate),
            ("F", self.free),
            ("C", self.cache),
            ("PHI", self.phi),
        ] {
            ensure!(!value.is_nan(), "{key}= is missing");
        }
        if self.free + self.cache > machine.managed {
            bail!("F + C is more than M");
        }
        Ok(())
    }

    /// The length of the trace in seconds.
    pub fn duration_s(&self) -> f64 {
        self.rows.len() as f64 * ROW_S
    }

    /// The trace as [`Trace::read`] reads it, uncompressed.
    pub fn csv(&self) -> String {
        let machine = self.machine;
        let mut text = format!(
            "# M={} MIN={} F={} C={} PHI={} RKS={} RDIR={} KIND={}\n\
             t_ms,anon_pps,cache_pps,freed_pps,dphi\n",
            machine.managed,
            machine.min,
            self.free,
            self.cache,
            self.phi,
            machine.kswapd_rate,
            machine.direct_rate,
            self.kind
        );
        for (index, row) in self.rows.iter().enumerate() {
            let Demand {
                anon,
                cache,
                freed,
                dphi,
            } = row;
            let t_ms = index * 100;
            text += &format!("{t_ms},{anon:.1},{cache:.1},{freed:.1},{dphi:.7}\n");
        }
        text
    }
}

fn row(line: &str) -> Result<Demand> {
    let mut fields = line.split(',').map(|field| field.trim().parse::<f64>());
    let mut next = || -> Result<f64> {
        let value = fields.next().context("expected five numbers")??;
        ensure!(value.is_finite(), "not a finite number");
        Ok(value)
    };
    next()?;
    let row = Demand {
        anon: next()?,
        cache: next()?,
        freed: next()?,
        dphi: next()?,
    };
    Ok(row)
}
