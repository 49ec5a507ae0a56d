//! The command line.
use crate::config::file::Place;
use crate::config::settings::Config;
use crate::telemetry::log::Target;
use lexopt::prelude::{Long, Short};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub const HELP: &str = "\
hotsetd: forecasts when memory runs out or fragments; acts before tasks stall

Usage: hotsetd [OPTIONS]

  -c, --config FILE         configuration [/etc/hotset/hotsetd.conf], with
                            FILE.d/*.conf after it
  -a, --aggressiveness N    1 (careful) to 3 [2]
  -m, --max-gap SIZE        largest gap between the low and the high watermark,
                            as 512M or 2G; a plain number is GiB; 0: no bound
  -v, --verbosity N         0 (errors) to 5 (every action with its reason, and
                            the rates) [3]
  -l, --log TARGET          auto, stderr, syslog or journald [auto]
  -d, --dry-run             measure, forecast, decide and log; write nothing
  -f, --foreground          stay in the foreground (the default)
  -b, --background          detach; log to syslog unless --log names another
                            target
      --root FOLDER         every path below FOLDER: the kernel's files, the
                            configuration, the journal
      --restore             give back what a killed daemon left in the knobs,
                            and end; with --dry-run print it only
      --check-config        print what the configuration sets, or its errors,
                            and end
      --import-config FILE  convert memoptimizer's configuration, to standard
                            output
  -h, --help
  -V, --version

Options override the configuration. Signals: HUP reads it again, TERM and INT
give every knob back and end. See hotsetd(8) and hotsetd.conf(5).

Exit status:
    0  done
    2  an option or the configuration is wrong
    3  a file cannot be read or written, the daemon cannot start, or a knob
       cannot be given back
  141  the reader of standard output has gone
";

/// The task of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Run,
    Restore,
    CheckConfig,
    ImportConfig(PathBuf),
    Help,
    Version,
}

/// The options of a command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    pub mode: Mode,
    pub root: PathBuf,
    pub config: Option<PathBuf>,
    pub background: bool,
    pub dry_run: bool,
    aggressiveness: Option<u8>,
    /// 0: no bound.
    max_gap_bytes: Option<u64>,
    verbosity: Option<u8>,
    log: Option<Target>,
}

impl Options {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// A message: an unknown option, or a wrong or missing value.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Options, String> {
        let mut parser = lexopt::Parser::from_args(arguments);
        let mut options = Options::default();
        while let Some(argument) = parser.next().map_err(message)? {
            match argument {
                Short('c') | Long("config") => {
                    options.config = Some(path(&mut parser, "--config")?)
                }
                Short('a') | Long("aggressiveness") => {
                    options.aggressiveness = Some(whole(&mut parser, "--aggressiveness", 1, 3)?);
                }
                Short('m') | Long("max-gap" | "maxgap") => {
                    options.max_gap_bytes = Some(gap(&mut parser)?);
                }
                Short('v') | Long("verbosity") => {
                    options.verbosity = Some(whole(&mut parser, "--verbosity", 0, 5)?);
                }
                Short('l') | Long("log") => {
                    let target = text(&mut parser)?.parse();
                    options.log = Some(target.map_err(|error| format!("--log: {error}"))?);
                }
                Long("root") => options.root = path(&mut parser, "--root")?,
                Long("import-config") => {
                    options.mode = Mode::ImportConfig(path(&mut parser, "--import-config")?);
                }
                Short('d') | Long("dry-run") => options.dry_run = true,
                Short('f') | Long("foreground") => options.background = false,
                Short('b') | Long("background") => options.background = true,
                Long("restore") => options.mode = Mode::Restore,
                Long("check-config") => options.mode = Mode::CheckConfig,
                Short('h') | Long("help") => options.mode = Mode::Help,
                Short('V') | Long("version") => options.mode = Mode::Version,
                other => return Err(message(other.unexpected())),
            }
        }
        Ok(options)
    }

    /// The configuration: the named file, or the usual ones below the root.
    pub fn config_place(&self) -> Place {
        match &self.config {
            Some(path) => Place::named(path),
            None => Place::usual(&self.root),
        }
    }

    /// Makes the paths absolute: a daemon in the background leaves its folder.
    ///
    /// # Errors
    /// The folder of the process is gone.
    pub fn make_absolute(&mut self) -> std::io::Result<()> {
        for path in std::iter::once(&mut self.root).chain(&mut self.config) {
            *path = std::path::absolute(&path)?;
        }
        Ok(())
    }

    /// Lays the options over the configuration of the files.
    pub fn override_config(&self, config: &mut Config) {
        config.dry_run |= self.dry_run;
        if let Some(level) = self.aggressiveness {
            config.policy.aggressiveness = level;
        }
        if let Some(bytes) = self.max_gap_bytes {
            config.policy.max_gap_bytes = (bytes > 0).then_some(bytes);
        }
        if let Some(verbosity) = self.verbosity {
            config.verbosity = verbosity;
        }
        match self.log {
            Some(target) => config.log = target,
            None if self.background && config.log == Target::Auto => config.log = Target::Syslog,
            None => {}
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            mode: Mode::Run,
            root: "/".into(),
            config: None,
            background: false,
            dry_run: false,
            aggressiveness: None,
            max_gap_bytes: None,
            verbosity: None,
            log: None,
        }
    }
}

fn message(error: lexopt::Error) -> String {
    use lexopt::Error::{MissingValue, UnexpectedArgument, UnexpectedOption, UnexpectedValue};
    let text = match error {
        UnexpectedOption(option) => match meant(&option) {
            Some(nearest) => return format!("{option}: no such option; did you mean {nearest}?"),
            None => format!("{option}: no such option"),
        },
        UnexpectedArgument(word) => {
            let word = names::shown(Path::new(&word)).to_string();
            format!("{word}: hotsetd takes options only")
        }
        UnexpectedValue { option, .. } => format!("{option}: this option takes no value"),
        MissingValue {
            option: Some(option),
        } => format!("{option}: the value is missing"),
        other => other.to_string(),
    };
    format!("{text}; see hotsetd --help")
}

/// The long option that was probably meant.
fn meant(wrong: &str) -> Option<String> {
    let words = HELP.split_whitespace();
    let options = words.filter_map(|word| word.trim_end_matches(',').strip_prefix("--"));
    let nearest = names::nearest(wrong.strip_prefix("--")?, options)?;
    Some(format!("--{nearest}"))
}

/// The option's value as a path, which need not be UTF-8.
fn path(parser: &mut lexopt::Parser, name: &str) -> Result<PathBuf, String> {
    let value = parser.value().map_err(message)?;
    match value.is_empty() {
        true => Err(format!("{name}: the value is empty; name a file or folder")),
        false => Ok(value.into()),
    }
}

fn text(parser: &mut lexopt::Parser) -> Result<String, String> {
    let value = parser.value().map_err(message)?;
    Ok(value.to_string_lossy().into_owned())
}

/// The value of `--max-gap` in bytes: a size with its unit, or a number of GiB.
fn gap(parser: &mut lexopt::Parser) -> Result<u64, String> {
    const MOST_GIB: f64 = 1e6;
    let text = text(parser)?;
    let gib = match text.parse::<f64>() {
        Ok(gib) => gib,
        Err(_) => {
            let bytes = units::parse_size(&text).map_err(|why| format!("--max-gap: {why}"))?;
            bytes as f64 / f64::from(1 << 30)
        }
    };
    // NaN is in no range.
    match (0.0..=MOST_GIB).contains(&gib) {
        true => Ok((gib * f64::from(1 << 30)) as u64),
        false => Err(format!(
            "--max-gap: {text} is out of range (0 to {MOST_GIB} GiB, or a size such as 512M)"
        )),
    }
}

fn whole(parser: &mut lexopt::Parser, name: &str, least: u8, most: u8) -> Result<u8, String> {
    let number = number(parser, name, (least.into(), most.into()), "")?;
    match number.fract() == 0.0 {
        true => Ok(number as u8),
        false => Err(format!(
            "{name}: {number} is not a whole number ({least} to {most})"
        )),
    }
}

fn number(
    parser: &mut lexopt::Parser,
    name: &str,
    (least, most): (f64, f64),
    unit: &str,
) -> Result<f64, String> {
    let text = text(parser)?;
    match text.parse::<f64>() {
        // NaN is in no range.
        Ok(number) if number >= least && number <= most => Ok(number),
        Ok(_) => Err(format!(
            "{name}: {text} is out of range ({least} to {most}{unit})"
        )),
        Err(_) => Err(format!(
            "{name}: {text} is not a number ({least} to {most}{unit})"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_a_size_or_a_number_of_gib() {
        for (text, bytes) in [
            ("2", Some(2 << 30)),
            ("0.5", Some(1 << 29)),
            ("512M", Some(1 << 29)),
            ("2G", Some(2 << 30)),
            ("0", None),
        ] {
            let options = Options::parse(["-m".into(), text.into()]).unwrap();
            let mut config = Config::default();
            config.policy.max_gap_bytes = Some(7);
            options.override_config(&mut config);
            assert_eq!(config.policy.max_gap_bytes, bytes, "{text}");
        }
        let error = Options::parse(["-m".into(), "512m".into()]).unwrap_err();
        assert!(error.contains("write M, not m"), "{error}");
    }
}
