//! A private apt root: apt fetches and checks signatures, and neither reads nor writes the
//! machine's package lists, sources or preferences.
use crate::cache::Lock;
use crate::process::{self, Event, Output};
use anyhow::{bail, Context, Result};
use progress::{Progress, Step, Unit};
use std::path::{Path, PathBuf};
use std::process::Command;
use units::format_bytes;

/// The keys that Debian signs its archive with.
pub const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A package of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    pub version: String,
    /// Size of the package, in bytes.
    pub size: u64,
    pub sha256: String,
}

/// An apt root for one suite of one mirror.
pub struct Root {
    dir: PathBuf,
    suite: String,
    mirror: String,
    /// Two processes must not work in one root at the same time.
    _lock: Lock,
}

impl Root {
    /// Makes the root below `dir`. `lock` is the lock of `dir`.
    ///
    /// # Errors
    /// When the keyring is missing, or `dir` cannot be written.
    pub fn create(
        dir: &Path,
        mirror: &str,
        suite: &str,
        keyring: &Path,
        lock: Lock,
    ) -> Result<Root> {
        if !keyring.is_file() {
            bail!(
                "{}: Debian's archive keyring is missing, and without it nothing that is \
                 downloaded can be trusted. Install the package debian-archive-keyring \
                 (script/bootstrap does)",
                keyring.display()
            );
        }
        for name in [
            "etc",
            "state/lists/partial",
            "cache/archives/partial",
            "log",
        ] {
            let path = dir.join(name);
            std::fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        }
        let root = Root {
            dir: dir.to_path_buf(),
            suite: suite.to_string(),
            mirror: mirror.to_string(),
            _lock: lock,
        };
        root.write(
            "etc/sources.list",
            &format!(
                "deb [signed-by={}] {mirror} {suite} main\n",
                keyring.display()
            ),
        )?;
        root.write("state/status", "")?;
        root.write("etc/apt.conf", &root.configuration(&machine_transport()))?;
        Ok(root)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.dir.join(name);
        std::fs::write(&path, text).with_context(|| path.display().to_string())
    }

    /// The root's apt.conf. `Dir::Etc::parts` and `main` keep the machine's hooks out, some of
    /// which delete downloaded packages. `transport` has the machine's settings for reaching the
    /// network.
    fn configuration(&self, transport: &str) -> String {
        let dir = self.dir.display();
        let sandbox = if rustix::process::geteuid().is_root() {
            // The user _apt could not write below root's home directory.
            "APT::Sandbox::User \"root\";\n"
        } else {
            ""
        };
        format!(
            "Dir::Etc::main \"/dev/null\";\n\
             Dir::Etc::parts \"/dev/null\";\n\
             Dir::Etc::sourcelist \"{dir}/etc/sources.list\";\n\
             Dir::Etc::sourceparts \"/dev/null\";\n\
             Dir::Etc::preferences \"/dev/null\";\n\
             Dir::Etc::preferencesparts \"/dev/null\";\n\
             Dir::State \"{dir}/state\";\n\
             Dir::State::status \"{dir}/state/status\";\n\
             Dir::Cache \"{dir}/cache\";\n\
             Dir::Log \"{dir}/log\";\n\
             Acquire::Languages \"none\";\n\
             Acquire::Retries \"3\";\n\
             {sandbox}{transport}"
        )
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("APT_CONFIG", self.dir.join("etc/apt.conf"))
            .env("LC_ALL", "C")
            .current_dir(&self.dir);
        command
    }

    /// Gets the suite's package lists and checks their signatures.
    ///
    /// # Errors
    /// When the mirror cannot be reached, does not carry the suite, or a signature is missing or
    /// wrong, with apt's own output.
    pub fn update(&self, progress: &mut Progress) -> Result<()> {
        progress(Step::Begin {
            title: format!("Reading the package lists of {}", self.suite),
            total: None,
            unit: Unit::Steps,
        });
        let mut problems = Vec::new();
        let mut lines = 0;
        let status = process::run(
            self.command("apt-get").args(["update", "--error-on=any"]),
            &mut |event| {
                let mut detail = String::new();
                match event {
                    Event::Stdout(line) => {
                        lines += 1;
                        detail = line.to_string();
                        // Lines with "Err:" name the file that apt refused.
                        if line.starts_with("Err:") {
                            problems.push(line.to_string());
                        }
                    }
                    Event::Stderr(line) => problems.push(line.to_string()),
                    Event::Silence => {}
                }
                progress(Step::Advance {
                    done: lines,
                    detail,
                });
            },
        )?;
        if !status.success() {
            bail!(explain(&self.suite, &self.mirror, &problems));
        }
        progress(Step::End {
            text: format!("Package lists of {}: signatures good", self.suite),
        });
        Ok(())
    }

    /// The suite's packages whose names begin with `prefix` and a digit: "linux-source-7.3".
    ///
    /// # Errors
    /// When apt-cache fails.
    pub fn packages(&self, prefix: &str) -> Result<Vec<Package>> {
        let output = process::output(self.command("apt-cache").arg("dumpavail"))?;
        if !output.status.success() {
            bail!("apt-cache dumpavail failed: {}", output.err.trim());
        }
        Ok(parse_packages(&output.out, prefix))
    }

    /// Downloads a package into `dir`; apt checks it against the signed lists.
    ///
    /// # Errors
    /// When apt-get fails, with its output.
    pub fn download(
        &self,
        package: &Package,
        dir: &Path,
        progress: &mut Progress,
    ) -> Result<PathBuf> {
        progress(Step::Begin {
            title: format!("Downloading {} {}", package.name, package.version),
            total: Some(package.size),
            unit: Unit::Bytes,
        });
        let mut problems = Vec::new();
        let status = process::run(
            self.command("apt-get")
                .current_dir(dir)
                .arg("download")
                .arg(format!("{}={}", package.name, package.version)),
            &mut |event| {
                if let Event::Stderr(line) = event {
                    problems.push(line.to_string());
                }
                progress(Step::Advance {
                    done: bytes_in(dir),
                    detail: String::new(),
                });
            },
        )?;
        if !status.success() {
            bail!(
                "apt-get download {} failed:\n{}",
                package.name,
                problems.join("\n")
            );
        }
        let found = std::fs::read_dir(dir)?
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|extension| extension == "deb"));
        let Some(deb) = found else {
            bail!(
                "apt-get download {} left no package in {}",
                package.name,
                dir.display()
            );
        };
        progress(Step::End {
            text: format!(
                "Downloaded {} {} ({})",
                package.name,
                package.version,
                format_bytes(package.size as f64)
            ),
        });
        Ok(deb)
    }
}

/// The machine's settings for reaching the network: proxies, timeouts, certificates.
#[must_use]
pub fn machine_transport() -> String {
    match process::output(Command::new("apt-config").arg("dump")) {
        Ok(Output { status, out, .. }) if status.success() => transport_of(&out),
        _ => String::new(),
    }
}

fn transport_of(dump: &str) -> String {
    let wanted = |line: &&str| {
        ["Acquire::http::", "Acquire::https::", "Acquire::Proxy-"]
            .iter()
            .any(|prefix| {
                line.to_ascii_lowercase()
                    .starts_with(&prefix.to_ascii_lowercase())
            })
    };
    dump.lines()
        .filter(wanted)
        .map(|line| format!("{line}\n"))
        .collect()
}

fn bytes_in(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return 0;
    };
    entries
        .flatten()
        .map(|entry| entry.metadata().map_or(0, |data| data.len()))
        .sum()
}

/// Finds the packages whose names are `prefix` and a digit in the output of `apt-cache dumpavail`.
pub fn parse_packages(text: &str, prefix: &str) -> Vec<Package> {
    let mut found: Vec<Package> = text
        .split("\n\n")
        .filter_map(|stanza| {
            let field = |name: &str| {
                stanza.lines().find_map(|line| {
                    let (key, value) = line.split_once(": ")?;
                    (key == name).then(|| value.trim().to_string())
                })
            };
            let name = field("Package")?;
            let line = name.strip_prefix(prefix)?;
            line.starts_with(|c: char| c.is_ascii_digit())
                .then_some(())?;
            Some(Package {
                version: field("Version")?,
                size: field("Size").and_then(|v| v.parse().ok()).unwrap_or(0),
                sha256: field("SHA256").unwrap_or_default(),
                name,
            })
        })
        .collect();
    found.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    found.dedup();
    found
}

/// The reason why an update failed, followed by apt's own output.
fn explain(suite: &str, mirror: &str, problems: &[String]) -> String {
    let text = problems.join("\n");
    let has = |signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
    let reason = if has(&[
        "NO_PUBKEY",
        "BADSIG",
        "EXPKEYSIG",
        "not signed",
        "signatures couldn't be verified",
        "signatures were invalid",
        "Clearsigned file isn't valid",
    ]) {
        "its signature is missing or not by a key of Debian's archive; nothing was taken from it"
    } else if has(&["does not have a Release file", "404 "]) {
        "that mirror does not carry this suite"
    } else if has(&["expired", "not valid yet"]) {
        "its Release file is expired or not valid yet; check this machine's clock"
    } else if has(&["No space left"]) {
        "the disk is full"
    } else {
        "its package lists could not be read"
    };
    format!("suite {suite} of {mirror}: {reason}. apt output:\n{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_found_among_others() {
        let text = "Package: linux-source-7.3\nVersion: 7.3.4-1~bpo13+1\nSize: 166780612\n\
                    SHA256: abc\nDescription: x\n\nPackage: linux-source\nVersion: 7.3.4-1\n\n\
                    Package: vim\nVersion: 9\n\nPackage: linux-source-7.2\nVersion: 7.2.9-1\n";
        let names: Vec<_> = parse_packages(text, "linux-source-")
            .into_iter()
            .map(|p| (p.name, p.version, p.size))
            .collect();
        assert_eq!(
            names,
            [
                ("linux-source-7.2".into(), "7.2.9-1".into(), 0),
                (
                    "linux-source-7.3".into(),
                    "7.3.4-1~bpo13+1".into(),
                    166_780_612
                ),
            ]
        );
    }

    #[test]
    fn only_the_machines_network_settings_are_taken_over() {
        let dump = "APT::Update::Post-Invoke:: \"rm -f x\";\nAcquire::http::Proxy \"p\";\n\
                    Acquire::Languages \"none\";\nacquire::HTTPS::CaInfo \"c\";\n";
        assert_eq!(
            transport_of(dump),
            "Acquire::http::Proxy \"p\";\nacquire::HTTPS::CaInfo \"c\";\n"
        );
    }

    #[test]
    fn a_bad_signature_is_named_as_the_reason() {
        let problem = "W: GPG error: x InRelease: The following signatures couldn't be verified \
                       because the public key is not available: NO_PUBKEY 0E98404D386FA1D9";
        let text = explain("trixie-backports", "mirror", &[problem.into()]);
        assert!(
            text.contains("signature is missing or not by a key"),
            "{text}"
        );
        let text = explain("x", "m", &["E: ... does not have a Release file.".into()]);
        assert!(text.contains("does not carry this suite"), "{text}");
    }
}
