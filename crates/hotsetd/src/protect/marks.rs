//! Who is never killed, and who is killed first: names, cgroups, units and users.
use policy::victim::Mark;

/// One entry of a list: `name`, `name*`, `cgroup:/path`, `unit:name.service`, `uid:1000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The kernel's name of a process: 15 bytes at most.
    Name(String),
    /// The name begins so.
    Begins(String),
    /// This cgroup and those below.
    Cgroup(String),
    /// A part of the cgroup's path, whole.
    Unit(String),
    Uid(u32),
}

impl Rule {
    /// Reads an entry.
    ///
    /// # Errors
    /// In words.
    pub fn parse(words: &str) -> Result<Rule, String> {
        let wrong = |what: &str| format!("{words:?}: {what}");
        match words.split_once(':') {
            Some(("uid", number)) => number
                .parse()
                .map(Rule::Uid)
                .map_err(|_| wrong("uid: wants a number")),
            Some(("cgroup", path)) if path.starts_with('/') && path.len() > 1 => {
                Ok(Rule::Cgroup(path.trim_end_matches('/').to_owned()))
            }
            Some(("cgroup", _)) => Err(wrong(
                "cgroup: wants a path below the root, such as /user.slice",
            )),
            Some(("unit", name)) if name.contains('.') && !name.contains('/') => {
                Ok(Rule::Unit(name.to_owned()))
            }
            Some(("unit", _)) => Err(wrong(
                "unit: wants a unit's whole name, such as nginx.service",
            )),
            // A name may have a colon in it: kworker/0:1.
            _ if words.is_empty() || words == "*" => Err(wrong("would be everybody")),
            _ => match words.strip_suffix('*') {
                Some(start) => Ok(Rule::Begins(cut(start))),
                None => Ok(Rule::Name(cut(words))),
            },
        }
    }

    fn fits(&self, name: &str, cgroup: &str, uid: u32) -> bool {
        match self {
            Rule::Name(wanted) => name == wanted,
            Rule::Begins(start) => name.starts_with(start.as_str()),
            Rule::Cgroup(path) => cgroup
                .strip_prefix(path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
            Rule::Unit(unit) => cgroup.split('/').any(|part| part == unit),
            Rule::Uid(wanted) => uid == *wanted,
        }
    }
}

/// What the kernel keeps of a name (TASK_COMM_LEN less the zero).
fn cut(name: &str) -> String {
    let mut end = name.len().min(15);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name[..end].to_owned()
}

/// Without these a machine or a session is lost: init, logins, message buses, display servers and
/// compositors, sessions, sound; the other killers, which know best themselves.
const NEVER: &[&str] = &[
    "init",
    "systemd",
    "systemd-*",
    "(sd-*",
    "elogind*",
    "openrc*",
    "runit*",
    "s6-*",
    "dinit",
    "agetty",
    "login",
    "sshd*",
    "dropbear",
    "dbus-daemon",
    "dbus-broker*",
    "polkitd",
    "udevd",
    "rsyslogd",
    "NetworkManager",
    "wpa_supplicant",
    "iwd",
    "dhclient",
    "dhcpcd",
    "auditd",
    "Xorg",
    "X",
    "Xwayland",
    "gnome-shell",
    "gnome-session*",
    "gnome-keyring*",
    "mutter*",
    "kwin_*",
    "plasmashell",
    "plasma_session",
    "ksmserver",
    "startplasma*",
    "kded*",
    "sway",
    "weston*",
    "labwc",
    "wayfire",
    "river",
    "niri",
    "Hyprland",
    "cosmic-comp",
    "cosmic-session",
    "cinnamon",
    "cinnamon-sessio*",
    "xfce4-session",
    "xfwm4",
    "mate-session",
    "marco",
    "lxqt-session",
    "openbox",
    "i3",
    "gdm*",
    "sddm*",
    "lightdm*",
    "greetd*",
    "xdm",
    "pipewire*",
    "wireplumber",
    "pulseaudio",
    "hotsetd",
    "earlyoom",
    "nohang",
    "oomd",
];
/// Where a systemd session keeps what it stands on, by its cgroup.
const NEVER_UNITS: &[&str] = &["session.slice", "init.scope"];

/// Both lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub protect: Vec<Rule>,
    pub prefer: Vec<Rule>,
}

impl Marks {
    /// What a process is marked as. To be protected counts for more than to be preferred.
    #[must_use]
    pub fn of(&self, name: &str, cgroup: &str, uid: u32) -> Mark {
        let any = |rules: &[Rule]| rules.iter().any(|rule| rule.fits(name, cgroup, uid));
        let built_in = NEVER.iter().any(|never| match never.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *never,
        });
        let unit = cgroup.split('/').any(|part| NEVER_UNITS.contains(&part));
        if built_in || unit || any(&self.protect) {
            Mark::Never
        } else if any(&self.prefer) {
            Mark::Preferred
        } else {
            Mark::Ordinary
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(protect: &[&str], prefer: &[&str]) -> Marks {
        let rules = |list: &[&str]| list.iter().map(|one| Rule::parse(one).unwrap()).collect();
        Marks {
            protect: rules(protect),
            prefer: rules(prefer),
        }
    }

    #[test]
    fn each_kind_of_entry_fits_what_it_names_and_nothing_else() {
        let place = "/user.slice/user-1000.slice/app-x.scope";
        for (entry, fits, not) in [
            ("cc1plus", ("cc1plus", "/", 0), ("cc1", "/", 0)),
            ("cc1*", ("cc1plus", "/", 0), ("c++", "/", 0)),
            (
                "cgroup:/user.slice",
                ("a", place, 0),
                ("a", "/user.slices", 0),
            ),
            (
                "unit:app-x.scope",
                ("a", place, 0),
                ("a", "/app-x.scope2", 0),
            ),
            ("uid:1000", ("a", "/", 1000), ("a", "/", 100)),
            (
                "a-name-of-20-letters",
                ("a-name-of-20-le", "/", 0),
                ("a-name-of-20", "/", 0),
            ),
        ] {
            let marks = marks(&[], &[entry]);
            assert_eq!(marks.of(fits.0, fits.1, fits.2), Mark::Preferred, "{entry}");
            assert_eq!(marks.of(not.0, not.1, not.2), Mark::Ordinary, "{entry}");
        }
    }

    #[test]
    fn what_a_session_stands_on_is_never_marked_otherwise() {
        let marks = marks(&["uid:7"], &["sshd", "gnome-shell", "uid:7"]);
        for name in [
            "sshd",
            "sshd-session",
            "gnome-shell",
            "systemd-logind",
            "hotsetd",
        ] {
            assert_eq!(marks.of(name, "/", 0), Mark::Never, "{name}");
        }
        assert_eq!(marks.of("a", "/", 7), Mark::Never);
        let session = "/user.slice/user-1.slice/user@1.service/session.slice/x.service";
        assert_eq!(marks.of("a", session, 1), Mark::Never);
        assert_eq!(marks.of("sshdx-not", "/", 1), Mark::Never);
        assert_eq!(marks.of("firefox", "/", 1), Mark::Ordinary);
    }

    #[test]
    fn entries_that_would_be_everybody_or_nothing_are_refused() {
        for words in [
            "",
            "*",
            "uid:",
            "uid:me",
            "cgroup:user.slice",
            "cgroup:/",
            "unit:x",
        ] {
            assert!(Rule::parse(words).is_err(), "{words}");
        }
    }
}
