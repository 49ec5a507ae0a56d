//! The configuration: what a file without a line gives, and what each setting may be.
use crate::log::Target;
use std::path::PathBuf;

/// Everything that the administrator can choose.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// 0 to 5: see [`crate::log::Level`].
    pub verbosity: u8,
    pub log: Target,
    pub dry_run: bool,
    /// The journal of originals. `/run`, because it must live as long as the kernel's knobs do, and
    /// because a disk that is slow to sync is what memory pressure looks like.
    pub journal: PathBuf,
    pub policy: policy::Config,
    pub pressure: Pressure,
    pub protect: crate::protect::Settings,
    /// The status socket; `None`: there is none.
    pub status: Option<PathBuf>,
    pub metrics: Listen,
}

/// When memory pressure wakes the daemon before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pressure {
    pub enabled: bool,
    /// So many milliseconds of stalls ...
    pub stall_ms: u32,
    /// ... within so many. The kernel takes 500 to 10000.
    pub window_ms: u32,
}

/// Where OpenMetrics are served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    Nowhere,
    Unix(PathBuf),
    /// Loopback only.
    Loopback(std::net::SocketAddr),
}

impl Default for Config {
    fn default() -> Self {
        Config {
            verbosity: 3,
            log: Target::Auto,
            dry_run: false,
            journal: "/run/hotset/journal".into(),
            policy: policy::Config::default(),
            pressure: Pressure {
                enabled: true,
                stall_ms: 50,
                window_ms: 1000,
            },
            protect: crate::protect::Settings::default(),
            status: Some("/run/hotset/status.sock".into()),
            metrics: Listen::Nowhere,
        }
    }
}

impl Listen {
    /// `unix:/path`, `127.0.0.1:9477`, `[::1]:9477`, or nothing.
    ///
    /// # Errors
    /// When it is something else, or not of this machine only.
    pub fn parse(words: &str) -> Result<Listen, String> {
        if words.is_empty() {
            return Ok(Listen::Nowhere);
        }
        if let Some(path) = words.strip_prefix("unix:") {
            return absolute(path).map(Listen::Unix);
        }
        match words.parse::<std::net::SocketAddr>() {
            Ok(address) if address.ip().is_loopback() => Ok(Listen::Loopback(address)),
            Ok(address) => Err(format!(
                "{address} can be reached from outside: take 127.0.0.1, [::1] or unix:/path"
            )),
            Err(_) => Err(format!(
                "{words:?} is neither ADDRESS:PORT (127.0.0.1:9477) nor unix:/path"
            )),
        }
    }
}

/// A path from the root.
///
/// # Errors
/// When it is not one, or too long for a socket.
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
/// When it is neither.
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
