//! A setting as the command line has it: `none`, `hotsetd`, `watermark:300`, `vm.swappiness=10`,
//! `protect.workingset_protection=true`, or several with commas.
use super::daemon;
use kernfs::Root;
use names::{nearest, suggestion};

/// Words that are settings by themselves.
const WORDS: [&str; 3] = ["none", "hotsetd", "watermark:200"];
const WATERMARK: &str = "vm.watermark_scale_factor";

/// What holds while the command runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// As on the command line.
    pub name: String,
    /// Sysctls by dotted name, and their values.
    pub sysctls: Vec<(String, String)>,
    /// Lines of TOML for hotsetd's configuration. None: hotsetd does not run.
    pub daemon: Option<Vec<String>>,
}

impl Setting {
    /// Whether the setting changes the machine.
    pub fn changes(&self) -> bool {
        !self.sysctls.is_empty() || self.daemon.is_some()
    }
}

/// Reads a setting for the machine below `root`.
///
/// # Errors
/// A message that names the part that is wrong.
pub fn parse(text: &str, root: &Root) -> Result<Setting, String> {
    let mut setting = Setting {
        name: text.trim().to_string(),
        ..Setting::default()
    };
    let parts = split(text);
    for part in &parts {
        match part.as_str() {
            "none" if parts.len() > 1 => {
                return Err("none stands alone; leave it out beside other parts".into());
            }
            "none" => {}
            "hotsetd" => drop(setting.daemon.get_or_insert_default()),
            "" => return Err("a part is empty; write none, or remove a comma".into()),
            part => one(part, root, &mut setting)?,
        }
    }
    if let Some(lines) = &setting.daemon {
        daemon::check(lines)?;
    }
    Ok(setting)
}

fn one(part: &str, root: &Root, setting: &mut Setting) -> Result<(), String> {
    if let Some(value) = part.strip_prefix("watermark:") {
        let fits = value.parse::<u32>().is_ok_and(|n| (1..=3000).contains(&n));
        if !fits {
            return Err(format!(
                "{part}: a whole number from 1 to 3000 follows watermark:"
            ));
        }
        return sysctl(WATERMARK, value, root, setting);
    }
    let Some((name, value)) = part.split_once('=') else {
        let hint = suggestion(part, WORDS);
        return Err(format!(
            "{part}: none, hotsetd, watermark:N, SYSCTL=VALUE or a setting of hotsetd.conf(5){hint}"
        ));
    };
    let (name, value) = (name.trim(), value.trim());
    if value.is_empty() {
        return Err(format!("{name}: the value after = is missing"));
    }
    match is_sysctl(name, root) {
        true => sysctl(name, value, root, setting),
        false => {
            let line = daemon::line(name, value)?;
            setting.daemon.get_or_insert_default().push(line);
            Ok(())
        }
    }
}

/// Whether the first word of a name is a folder of sysctls.
fn is_sysctl(name: &str, root: &Root) -> bool {
    let first = name.split_once('.').map(|(first, _)| first);
    first.is_some_and(|first| !first.is_empty() && root.sysctl(first).is_dir())
}

fn sysctl(name: &str, value: &str, root: &Root, setting: &mut Setting) -> Result<(), String> {
    hotsetd::config::settings::knob_name(name)?;
    if !root.sysctl(name).is_file() {
        let (folder, last) = name.rsplit_once('.').unwrap_or(("", name));
        let there = std::fs::read_dir(root.sysctl(folder)).into_iter().flatten();
        let there: Vec<String> = { there.flatten() }
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        let meant = nearest(last, there.iter().map(String::as_str));
        let hint = meant.map_or(String::new(), |it| format!("; did you mean {folder}.{it}?"));
        return Err(format!("{name}: this kernel has no such sysctl{hint}"));
    }
    if setting.sysctls.iter().any(|(known, _)| known == name) {
        return Err(format!("{name} is set twice"));
    }
    setting.sysctls.push((name.into(), value.into()));
    Ok(())
}

/// The parts between commas. Commas in brackets and in quotes belong to a value.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    let (mut depth, mut quote) = (0u32, None);
    for c in text.chars() {
        match (c, quote) {
            (',', None) if depth == 0 => {
                parts.push(std::mem::take(&mut part).trim().to_string());
                continue;
            }
            ('[' | '{', None) => depth += 1,
            (']' | '}', None) => depth = depth.saturating_sub(1),
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            _ => {}
        }
        part.push(c);
    }
    parts.push(part.trim().to_string());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path());
        std::fs::create_dir_all(root.sysctl("vm")).unwrap();
        for name in ["swappiness", "watermark_scale_factor"] {
            std::fs::write(root.sysctl("vm").join(name), "10\n").unwrap();
        }
        (dir, root)
    }

    #[test]
    fn a_setting_may_have_several_parts() {
        let (_dir, root) = root();
        let found = parse("vm.swappiness=10, watermark:300", &root).unwrap();
        let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
        let wanted = [pair("vm.swappiness", "10"), pair(WATERMARK, "300")];
        assert_eq!(found.sysctls, wanted);
        assert!(found.daemon.is_none() && found.changes());
        assert!(!parse("none", &root).unwrap().changes());
        let found = parse("hotsetd", &root).unwrap();
        assert_eq!(found.daemon, Some(Vec::new()));
        let text = "protect.workingset_protection=true,protect.kill.protect=[\"a\",\"b\"],protect.kill.when=never";
        let found = parse(text, &root).unwrap();
        let wanted = [
            "protect.workingset_protection = true",
            "protect.kill.protect = [\"a\",\"b\"]",
            "protect.kill.when = \"never\"",
        ];
        assert_eq!(found.daemon.unwrap(), wanted);
    }

    #[test]
    fn each_wrong_part_is_named() {
        let (_dir, root) = root();
        for (text, wanted) in [
            ("", "a part is empty"),
            ("vm.swappiness=10,", "a part is empty"),
            ("none,hotsetd", "none stands alone"),
            ("hotset", "did you mean hotsetd?"),
            ("watermark:0", "1 to 3000"),
            ("watermark:lots", "1 to 3000"),
            ("vm.swapiness=10", "did you mean vm.swappiness?"),
            ("vm.swappiness=", "the value after = is missing"),
            ("watermark:20,vm.watermark_scale_factor=30", "is set twice"),
            ("protect.workingset_protecton=true", "workingset_protection"),
            ("protect.workingset_protection=7", "true or false"),
            ("aggressiveness=9", "out of range (1 to 3)"),
            ("journal=/tmp/x", "sets journal itself"),
            ("status.socket=/tmp/x", "sets status.socket itself"),
            ("a b=1", "a b"),
        ] {
            let error = parse(text, &root).unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }
}
