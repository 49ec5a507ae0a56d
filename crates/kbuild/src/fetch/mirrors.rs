//! Finds the Debian mirrors in this machine's own apt sources. hotset itself contains no archive's
//! name.
use crate::process;
use anyhow::{bail, Result};
use std::path::Path;
use std::process::Command;

/// The environment variable that names the mirror of the archive.
pub const MAIN_VARIABLE: &str = "HOTSET_DEBIAN_MIRROR";
/// The environment variable that names the mirror of the security archive.
pub const SECURITY_VARIABLE: &str = "HOTSET_DEBIAN_SECURITY_MIRROR";

/// One suite of one archive, as an apt source names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub uri: String,
    pub suite: String,
    pub components: Vec<String>,
    /// The Release file's Origin, where apt knows it.
    pub origin: Option<String>,
}

/// URIs of the archives, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mirrors {
    pub main: Option<String>,
    pub security: Option<String>,
}

impl Mirrors {
    /// Takes the given URIs, else the environment's, else those of the machine's apt sources.
    pub fn find(main: Option<String>, security: Option<String>) -> Mirrors {
        let given = |option: Option<String>, variable: &str| {
            option
                .or_else(|| std::env::var(variable).ok())
                .filter(|uri| !uri.is_empty())
        };
        let mut found = Mirrors {
            main: given(main, MAIN_VARIABLE),
            security: given(security, SECURITY_VARIABLE),
        };
        if found.main.is_none() || found.security.is_none() {
            let machine = choose(&entries_of_machine(), codename().as_deref());
            found.main = found.main.or(machine.main);
            found.security = found.security.or(machine.security);
        }
        found
    }

    /// The mirror that carries `suite`.
    ///
    /// # Errors
    /// When no mirror is known. The message names the options that set one.
    pub fn of_suite(&self, suite: &str) -> Result<&str> {
        let (mirror, option, variable, archive) = if is_security(suite) {
            (
                &self.security,
                "--security-mirror",
                SECURITY_VARIABLE,
                "security archive",
            )
        } else {
            (&self.main, "--mirror", MAIN_VARIABLE, "archive")
        };
        match mirror {
            Some(uri) => Ok(uri),
            None => bail!(
                "this machine's apt sources name no mirror of Debian's {archive}, which suite {suite} \
                 is in. Name one with {option} URL or {variable}=URL, or give a source tree with \
                 --tree FOLDER"
            ),
        }
    }
}

fn is_security(suite: &str) -> bool {
    suite.ends_with("-security")
}

fn codename() -> Option<String> {
    let text = std::fs::read_to_string("/etc/os-release").ok()?;
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix("VERSION_CODENAME="))?;
    Some(value.trim_matches('"').to_string())
}

/// Every apt source of this machine, from apt itself, else from its files.
fn entries_of_machine() -> Vec<Entry> {
    let format = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)";
    let output = process::output(Command::new("apt-get").env("LC_ALL", "C").args([
        "indextargets",
        "--format",
        format,
        "Created-By: Packages",
    ]));
    let found = match output {
        Ok(output) if output.status.success() => parse_index_targets(&output.out),
        _ => Vec::new(),
    };
    if found.is_empty() {
        entries_of_files(Path::new("/etc/apt"))
    } else {
        found
    }
}

/// Reads `sources.list` and `sources.list.d` below `apt` (which is `/etc/apt`).
pub fn entries_of_files(apt: &Path) -> Vec<Entry> {
    let mut paths = vec![apt.join("sources.list")];
    if let Ok(entries) = std::fs::read_dir(apt.join("sources.list.d")) {
        let mut more: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        more.sort();
        paths.extend(more);
    }
    let mut found = Vec::new();
    for path in paths {
        // A source that cannot be read here cannot be used by apt either.
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("list") => found.extend(parse_one_line(&text)),
            Some("sources") => found.extend(parse_deb822(&text)),
            _ => {}
        }
    }
    found
}

/// Parses the output of `apt-get indextargets`, one `URI|SUITE|COMPONENT|ORIGIN` a line.
pub fn parse_index_targets(text: &str) -> Vec<Entry> {
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split('|').map(str::trim);
            let (uri, suite, component) = (fields.next()?, fields.next()?, fields.next()?);
            // apt prints an unknown field literally: "$(ORIGIN)".
            let origin = fields
                .next()
                .filter(|origin| !origin.is_empty() && !origin.contains("$("));
            Some(Entry {
                uri: normal(uri),
                suite: suite.into(),
                components: vec![component.into()],
                origin: origin.map(Into::into),
            })
        })
        .collect()
}

/// Parses the one-line format: `deb [options] URI SUITE COMPONENT...`.
pub fn parse_one_line(text: &str) -> Vec<Entry> {
    text.lines()
        .filter_map(|line| {
            let line = line.split('#').next()?.trim();
            let rest = line.strip_prefix("deb")?;
            if !rest.starts_with(char::is_whitespace) {
                return None; // deb-src
            }
            let mut rest = rest.trim_start();
            if rest.starts_with('[') {
                rest = rest.split_once(']')?.1;
            }
            let mut fields = rest.split_whitespace();
            Some(Entry {
                uri: normal(fields.next()?),
                suite: fields.next()?.into(),
                components: fields.map(Into::into).collect(),
                origin: None,
            })
        })
        .collect()
}

/// Parses the deb822 format: stanzas of `Types:`, `URIs:`, `Suites:`, `Components:`, `Enabled:`.
pub fn parse_deb822(text: &str) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut stanza: Vec<(String, String)> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.starts_with('#') {
            continue;
        }
        if line.trim().is_empty() {
            found.extend(entries_of_stanza(&std::mem::take(&mut stanza)));
        } else if line.starts_with([' ', '\t']) {
            if let Some((_, value)) = stanza.last_mut() {
                value.push(' ');
                value.push_str(line.trim());
            }
        } else if let Some((key, value)) = line.split_once(':') {
            stanza.push((key.trim().to_ascii_lowercase(), value.trim().to_string()));
        }
    }
    found
}

fn entries_of_stanza(stanza: &[(String, String)]) -> Vec<Entry> {
    let fields = |name: &str| -> Vec<String> {
        stanza
            .iter()
            .filter(|(key, _)| key == name)
            .flat_map(|(_, value)| value.split_whitespace().map(Into::into))
            .collect()
    };
    let enabled = fields("enabled");
    let off = enabled
        .first()
        .is_some_and(|word| ["no", "false", "off", "0"].contains(&word.as_str()));
    if off || !fields("types").iter().any(|kind| kind == "deb") {
        return Vec::new();
    }
    let components = fields("components");
    let suites = fields("suites");
    fields("uris")
        .iter()
        .flat_map(|uri| {
            suites.iter().map(|suite| Entry {
                uri: normal(uri),
                suite: suite.clone(),
                components: components.clone(),
                origin: None,
            })
        })
        .collect()
}

fn normal(uri: &str) -> String {
    uri.trim_end_matches('/').to_string()
}

/// Debian's names for its suites, without a suffix such as `-updates`.
const SUITES: [&str; 12] = [
    "buster",
    "bullseye",
    "bookworm",
    "trixie",
    "forky",
    "duke",
    "sid",
    "oldoldstable",
    "oldstable",
    "stable",
    "testing",
    "unstable",
];

/// The likeliest mirrors among a machine's sources. Other archives that use Debian's suite
/// names have another Origin, or no `-updates` suite.
pub fn choose(entries: &[Entry], codename: Option<&str>) -> Mirrors {
    let usable = |entry: &&Entry| {
        let base = entry.suite.split(['-', '/']).next().unwrap_or_default();
        SUITES.contains(&base)
            && entry.components.iter().any(|name| name == "main")
            && entry
                .origin
                .as_deref()
                .is_none_or(|origin| origin == "Debian")
            && !entry.uri.starts_with("cdrom:")
    };
    let score = |entry: &Entry| {
        let known = entry.origin.is_some();
        let own = codename == Some(entry.suite.split('-').next().unwrap_or_default());
        let updates = entries
            .iter()
            .any(|other| other.uri == entry.uri && other.suite.ends_with("-updates"));
        4 * u32::from(known) + 2 * u32::from(updates) + u32::from(own)
    };
    let best = |security: bool| {
        // max_by_key returns the last of equals; sources are listed in order of preference.
        entries
            .iter()
            .rev()
            .filter(usable)
            .filter(|entry| is_security(&entry.suite) == security)
            .max_by_key(|entry| score(entry))
            .map(|entry| entry.uri.clone())
    };
    Mirrors {
        main: best(false),
        security: best(true),
    }
}
