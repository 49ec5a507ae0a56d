//! The configuration, and its defaults.
use crate::telemetry::log::Target;
use crate::telemetry::server::Listen;
use std::path::PathBuf;

/// The administrator's choices.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// 0 to 5: see [`crate::telemetry::log::Level`].
    pub verbosity: u8,
    pub log: Target,
    pub dry_run: bool,
    /// The journal of originals. In `/run`: the journal must live as long as the kernel's knobs do,
    /// and a disk is slow to sync under memory pressure.
    pub journal: PathBuf,
    /// The file of what was learned; `None`: each start learns anew. On disk: programs come again after a reboot.
    pub learned: Option<PathBuf>,
    pub policy: policy::Config,
    pub pressure: Pressure,
    pub protect: crate::protect::Settings,
    pub flight: crate::flight::Settings,
    /// The status socket; `None`: there is none.
    pub status: Option<PathBuf>,
    pub metrics: Listen,
    /// Other machines may ask for metrics.
    pub metrics_for_others: bool,
}

/// When memory pressure wakes the daemon before the next sample is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pressure {
    pub enabled: bool,
    /// Milliseconds of stalls within the window that wake the daemon.
    pub stall_ms: u32,
    /// Milliseconds of the window. The kernel takes 500 to 10000.
    pub window_ms: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            verbosity: 3,
            log: Target::Auto,
            dry_run: false,
            journal: "/run/hotset/journal".into(),
            learned: Some("/var/lib/hotset/learned".into()),
            policy: policy::Config::default(),
            pressure: Pressure {
                enabled: true,
                stall_ms: 50,
                window_ms: 1000,
            },
            protect: crate::protect::Settings::default(),
            flight: crate::flight::Settings::default(),
            status: Some("/run/hotset/status.sock".into()),
            metrics: Listen::Nowhere,
            metrics_for_others: false,
        }
    }
}

/// `unix:/path`, `127.0.0.1:9477`, `[::1]:9477`, another address with its port, or nothing.
///
/// # Errors
/// The text is none of these.
pub fn parse_listen(text: &str) -> Result<Listen, String> {
    if text.is_empty() {
        return Ok(Listen::Nowhere);
    }
    if let Some(path) = text.strip_prefix("unix:") {
        return absolute(path).map(Listen::Unix);
    }
    match text.parse::<std::net::SocketAddr>() {
        Ok(address) => Ok(Listen::Tcp(address)),
        Err(_) => Err(format!(
            "{text:?} is neither ADDRESS:PORT (127.0.0.1:9477) nor unix:/path"
        )),
    }
}

/// As [`absolute`]; an empty text is no path.
///
/// # Errors
/// As [`absolute`].
pub fn absolute_or_none(path: &str) -> Result<Option<PathBuf>, String> {
    match path {
        "" => Ok(None),
        path => absolute(path).map(Some),
    }
}

/// A path from the root.
///
/// # Errors
/// The path is relative, or too long for a socket.
pub fn absolute(path: &str) -> Result<PathBuf, String> {
    if !path.starts_with('/') {
        return Err(format!("{path:?} does not begin at /"));
    }
    if path.len() > 100 {
        return Err(format!(
            "{path:?} has more than 100 bytes: sockets allow no more"
        ));
    }
    Ok(path.into())
}

/// A sysctl's name, such as `vm.swappiness`, or a path in /proc or /sys.
///
/// # Errors
/// The name is neither.
pub fn knob_name(name: &str) -> Result<String, String> {
    let good = |letter: char| letter.is_ascii_alphanumeric() || "._-/".contains(letter);
    let below = name.starts_with("/proc/sys/") || name.starts_with("/sys/");
    let plain = !name.starts_with('/') && name.contains('.');
    if !(below || plain) || !name.chars().all(good) || name.contains("..") || name.len() > 120 {
        return Err(format!(
            "{name:?} is neither a sysctl (vm.swappiness) nor a path below /proc/sys or /sys"
        ));
    }
    Ok(name.to_owned())
}
