//! Demand traces: what a machine asks of its free memory, ten rows a second.
use super::kernel::{Demand, Machine};
use anyhow::{bail, ensure, Context, Result};
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;

/// Seconds that a row holds.
pub const ROW_S: f64 = 0.1;

/// A trace and the machine that it was made for.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The file's name without its ending.
    pub name: String,
    /// The header's KIND, or nothing.
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
    /// A file that cannot be read, is no trace, or is cut off, with the file and line.
    pub fn read(path: &Path) -> Result<Trace> {
        let what = || path.display().to_string();
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .with_context(what)?;
        if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            bytes = unpack(&bytes).with_context(|| format!("{}: not readable as zstd", what()))?;
        }
        let text = String::from_utf8(bytes)
            .with_context(|| format!("{}: neither text nor zstd", what()))?;
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let name = file.strip_suffix(".zst").unwrap_or(&file);
        Trace::parse(name.strip_suffix(".csv").unwrap_or(name), &text).with_context(what)
    }

    /// Reads a trace's text.
    ///
    /// # Errors
    /// What is wrong, with its line.
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
                _ => {} // A later trace may say more about itself.
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

    /// Seconds.
    pub fn duration_s(&self) -> f64 {
        self.rows.len() as f64 * ROW_S
    }

    /// Writes it as [`Trace::read`] reads it, uncompressed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let write = || -> std::io::Result<()> {
            let mut file = BufWriter::new(File::create(path)?);
            let machine = self.machine;
            writeln!(
                file,
                "# M={} MIN={} F={} C={} PHI={} RKS={} RDIR={} KIND={}",
                machine.managed,
                machine.min,
                self.free,
                self.cache,
                self.phi,
                machine.kswapd_rate,
                machine.direct_rate,
                self.kind
            )?;
            writeln!(file, "t_ms,anon_pps,cache_pps,freed_pps,dphi")?;
            for (index, row) in self.rows.iter().enumerate() {
                let Demand {
                    anon,
                    cache,
                    freed,
                    dphi,
                } = row;
                writeln!(
                    file,
                    "{},{anon:.1},{cache:.1},{freed:.1},{dphi:.7}",
                    index * 100
                )?;
            }
            file.flush()
        };
        write().with_context(|| path.display().to_string())
    }
}

/// All frames of a zstd file, one after the other.
fn unpack(mut packed: &[u8]) -> Result<Vec<u8>> {
    let mut plain = Vec::new();
    while !packed.is_empty() {
        ruzstd::decoding::StreamingDecoder::new(&mut packed)
            .map_err(|error| anyhow::anyhow!("{error}"))?
            .read_to_end(&mut plain)?;
    }
    Ok(plain)
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
