//! The command line. A few options only, so no parser's library.
use crate::config::Config;
use crate::log::Target;
use std::ffi::OsString;
use std::path::PathBuf;

pub const HELP: &str = "\
hotsetd: forecasts when memory runs out or falls to pieces, and acts before anyone stalls

Usage: hotsetd [OPTIONS]

  -c, --config FILE          configuration [/etc/hotset/hotsetd.conf], with FILE.d/*.conf after it
  -a, --aggressiveness N     1 (careful) to 3
  -m, --max-gap GB           largest gap between the low and the high watermark
  -v, --verbosity N          0 (errors) to 5 (every action with its reason, and the rates)
  -l, --log TARGET           auto, stderr, syslog or journald
  -d, --dry-run              measure, forecast, decide and log; write nothing
  -f, --foreground           stay in the foreground: so it does anyway
  -b, --background           detach, and log to syslog unless told otherwise
      --root DIR             every path below DIR: the kernel's files, the configuration, the journal
      --restore              give back what a killed daemon left in the knobs, and end
      --check-config         read the configuration, say what is wrong with it, and end
      --import-config FILE   turn memoptimizer's configuration into ours, on standard output
  -h, --help
  -V, --version

Options override the configuration. Signals: HUP reads it again, TERM and INT give every knob back
and end. Exit status: 0, or 1 on a failure, 2 on a wrong option or configuration.
See hotsetd(8) and hotsetd.conf(5).
";

/// What to do.
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

/// The command line, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    pub mode: Mode,
    pub root: PathBuf,
    pub config: Option<PathBuf>,
    pub background: bool,
    pub dry_run: bool,
    aggressiveness: Option<u8>,
    max_gap_gb: Option<f64>,
    verbosity: Option<u8>,
    log: Option<Target>,
}

impl Options {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    /// In words, for whoever typed them.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Options, String> {
        let mut options = Options {
            mode: Mode::Run,
            root: "/".into(),
            config: None,
            background: false,
            dry_run: false,
            aggressiveness: None,
            max_gap_gb: None,
            verbosity: None,
            log: None,
        };
        let mut rest = arguments.into_iter();
        while let Some(argument) = rest.next() {
            let words = argument.to_string_lossy().into_owned();
            // `--name=value`, `-nvalue` and the value as the next word are the same.
            let (name, mut given) = match words.split_once('=') {
                Some((name, value)) if name.starts_with("--") => {
                    (name.to_owned(), Some(OsString::from(value)))
                }
                _ if words.starts_with('-') && !words.starts_with("--") && words.len() > 2 => {
                    let end = words
                        .char_indices()
                        .nth(2)
                        .map_or(words.len(), |(at, _)| at);
                    (words[..end].to_owned(), Some(OsString::from(&words[end..])))
                }
                _ => (words, None),
            };
            let mut value = || match given.take() {
                Some(value) => Ok(value),
                None => rest.next().ok_or(format!("{name} wants a value")),
            };
            match name.as_str() {
                "-c" | "--config" => options.config = Some(value()?.into()),
                "-a" | "--aggressiveness" => {
                    options.aggressiveness = Some(number(&name, &value()?, 1, 3)? as u8);
                }
                "-m" | "--max-gap" | "--maxgap" => {
                    let words = value()?.to_string_lossy().into_owned();
                    let gb = words.parse().ok().filter(|gb| (0.0..=1e6).contains(gb));
                    let wrong = format!("{name} {words}: gigabytes, 0 (no bound) to 1000000");
                    options.max_gap_gb = Some(gb.ok_or(wrong)?);
                }
                "-v" | "--verbosity" => {
                    options.verbosity = Some(number(&name, &value()?, 0, 5)? as u8);
                }
                "-l" | "--log" => {
                    let words = value()?.to_string_lossy().into_owned();
                    options.log = Some(words.parse().map_err(|words| format!("{name}: {words}"))?);
                }
                "--root" => options.root = value()?.into(),
                "--import-config" => options.mode = Mode::ImportConfig(value()?.into()),
                "-d" | "--dry-run" => options.dry_run = true,
                "-f" | "--foreground" => options.background = false,
                "-b" | "--background" => options.background = true,
                "--restore" => options.mode = Mode::Restore,
                "--check-config" => options.mode = Mode::CheckConfig,
                "-h" | "--help" => options.mode = Mode::Help,
                "-V" | "--version" => options.mode = Mode::Version,
                _ => return Err(format!("unknown option {name}; see hotsetd --help")),
            }
            if given.is_some() {
                return Err(format!("{name} takes no value"));
            }
        }
        Ok(options)
    }

    /// The configuration file, below the root unless it was named.
    pub fn config_path(&self) -> PathBuf {
        match &self.config {
            Some(path) => path.clone(),
            None => self.root.join("etc/hotset/hotsetd.conf"),
        }
    }

    /// Lays the options over what the files say.
    pub fn override_config(&self, config: &mut Config) {
        config.dry_run |= self.dry_run;
        if let Some(level) = self.aggressiveness {
            config.policy.aggressiveness = level;
        }
        if let Some(gb) = self.max_gap_gb {
            let bytes = (gb * f64::from(1 << 30)) as u64;
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

fn number(name: &str, value: &OsString, least: u32, most: u32) -> Result<u32, String> {
    let words = value.to_string_lossy();
    words
        .parse()
        .ok()
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("{name} {words}: a number from {least} to {most} is wanted"))
}
