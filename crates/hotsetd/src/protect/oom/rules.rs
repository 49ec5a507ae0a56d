//! Rules for who is never killed and who is killed first: by name, cgroup, unit and user.
use policy::victim::Eligibility;
use std::fmt;

/// One entry of a list of processes: `name`, `name*`, `cgroup:/path`, `unit:name.service`, `uid:1000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The name of a process as the kernel has it: 15 bytes at most.
    Name(String),
    /// The beginning of a name.
    Begins(String),
    /// A cgroup, and all cgroups below it.
    Cgroup(String),
    /// A whole part of the cgroup's path.
    Unit(String),
    Uid(u32),
}

/// The forms of an entry, for a message.
const FORMS: &str = "expected name, name*, unit:x.service, cgroup:/path or uid:1000; of a process whose name has a \
                     colon, write the beginning and *";

impl fmt::Display for Rule {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Rule::Name(name) => to.write_str(name),
            Rule::Begins(start) => write!(to, "{start}*"),
            Rule::Cgroup(path) => write!(to, "cgroup:{path}"),
            Rule::Unit(unit) => write!(to, "unit:{unit}"),
            Rule::Uid(number) => write!(to, "uid:{number}"),
        }
    }
}

impl Rule {
    /// Reads an entry.
    ///
    /// # Errors
    /// When the entry is of no known form, or would fit every process.
    pub fn parse(entry: &str) -> Result<Rule, String> {
        let wrong = |problem: &str| format!("{entry:?}: {problem}");
        match entry.split_once(':') {
            Some(("uid", number)) => number
                .parse()
                .map(Rule::Uid)
                .map_err(|_| wrong("uid: expected a number, such as uid:1000")),
            Some(("cgroup", path)) if path.starts_with('/') && path.len() > 1 => {
                Ok(Rule::Cgroup(path.trim_end_matches('/').to_owned()))
            }
            Some(("cgroup", _)) => Err(wrong(
                "cgroup: expected a path below the root, such as cgroup:/user.slice",
            )),
            Some(("unit", name)) if name.contains('.') && !name.contains('/') => {
                Ok(Rule::Unit(name.to_owned()))
            }
            Some(("unit", _)) => Err(wrong(
                "unit: expected a unit's whole name, such as unit:nginx.service",
            )),
            // A name may have a colon in it: "kworker/0:1", "tmux: server".
            Some((form, rest))
                if form.bytes().all(|byte| byte.is_ascii_alphabetic())
                    && !rest.starts_with(' ') =>
            {
                Err(wrong(FORMS))
            }
            _ if entry.is_empty() || entry == "*" => Err(wrong(
                "this entry would fit every process; name the processes",
            )),
            _ if entry.starts_with(['/', '~', '.']) => Err(wrong(
                "a path: write the name that /proc/PID/comm has, such as firefox",
            )),
            _ => match entry.strip_suffix('*') {
                Some(start) => Ok(Rule::Begins(cut(start))),
                None => Ok(Rule::Name(cut(entry))),
            },
        }
    }

    /// Whether only the administrator decides who fits. Anybody can take a name, and make units of his own.
    fn is_firm(&self) -> bool {
        matches!(self, Rule::Cgroup(_) | Rule::Uid(_))
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

/// The part of a name that the kernel keeps (TASK_COMM_LEN less the zero).
fn cut(name: &str) -> String {
    let mut end = name.len().min(15);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name[..end].to_owned()
}

/// Processes without which a machine or a session is lost: init, logins, message buses, display servers,
/// compositors, sessions and sound. Other killers are here too: they protect themselves.
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
    // Without these all pods or containers are lost.
    "kubelet",
    "kubelite",
    "containerd*",
    "crio",
    "conmon*",
    "dockerd",
    "k3s*",
    "rke2*",
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
/// Parts of a cgroup's path below which systemd keeps what a session stands on.
const NEVER_UNITS: &[&str] = &["session.slice", "init.scope"];

/// The administrator's two lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    pub protect: Vec<Rule>,
    pub prefer: Vec<Rule>,
}

/// Whose process it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    pub uid: u32,
    /// The process lives in a container, where anybody may be root.
    pub contained: bool,
}

impl Owner {
    /// Whether the process is one of the system's own services. Users of people begin at 1000 (`UID_MIN` in
    /// login.defs); systemd's dynamic users lie in 61184 to 65519 (systemd.exec(5)).
    fn is_system(self) -> bool {
        !self.contained && (self.uid < 1000 || (61_184..=65_519).contains(&self.uid))
    }
}

impl Rules {
    /// Whether a process may be killed. A rule that protects outweighs one that prefers.
    ///
    /// A name or unit spares services of the system. It lets processes of people and of containers go
    /// last among those of their user: see [`Eligibility::Last`].
    #[must_use]
    pub fn of(&self, name: &str, cgroup: &str, owner: Owner) -> Eligibility {
        let fits = |rule: &&Rule| rule.fits(name, cgroup, owner.uid);
        let built_in = NEVER.iter().any(|never| match never.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == *never,
        });
        let unit = cgroup.split('/').any(|part| NEVER_UNITS.contains(&part));
        let mut protect = self.protect.iter().filter(fits).peekable();
        let named = built_in || unit || protect.peek().is_some();
        if (named && owner.is_system()) || protect.any(Rule::is_firm) {
            Eligibility::Never
        } else if named {
            Eligibility::Last
        } else if self.prefer.iter().any(|rule| fits(&rule)) {
            Eligibility::Preferred
        } else {
            Eligibility::Ordinary
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(protect: &[&str], prefer: &[&str]) -> Rules {
        let parsed = |list: &[&str]| list.iter().map(|one| Rule::parse(one).unwrap()).collect();
        Rules {
            protect: parsed(protect),
            prefer: parsed(prefer),
        }
    }

    fn user(uid: u32) -> Owner {
        Owner {
            uid,
            contained: false,
        }
    }

    #[test]
    fn each_kind_of_entry_fits_only_the_processes_that_it_names() {
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
            let rules = rules(&[], &[entry]);
            assert_eq!(
                rules.of(fits.0, fits.1, user(fits.2)),
                Eligibility::Preferred,
                "{entry}"
            );
            assert_eq!(
                rules.of(not.0, not.1, user(not.2)),
                Eligibility::Ordinary,
                "{entry}"
            );
        }
    }

    #[test]
    fn a_prefer_list_does_not_expose_the_processes_of_a_session() {
        let rules = rules(&["uid:7"], &["sshd", "gnome-shell", "uid:7"]);
        for name in [
            "sshd",
            "sshd-session",
            "gnome-shell",
            "systemd-logind",
            "hotsetd",
        ] {
            assert_eq!(rules.of(name, "/", user(0)), Eligibility::Never, "{name}");
            assert_eq!(rules.of(name, "/", user(1000)), Eligibility::Last, "{name}");
        }
        assert_eq!(rules.of("a", "/", user(7)), Eligibility::Never);
        let session = "/user.slice/user-1.slice/user@1.service/session.slice/x.service";
        assert_eq!(rules.of("a", session, user(0)), Eligibility::Never);
        assert_eq!(rules.of("a", session, user(1000)), Eligibility::Last);
        assert_eq!(rules.of("sshdx-not", "/", user(0)), Eligibility::Never);
        assert_eq!(rules.of("firefox", "/", user(1000)), Eligibility::Ordinary);
    }

    #[test]
    fn only_what_an_administrator_alone_decides_spares_the_processes_of_people_and_containers() {
        let list = ["postgres", "unit:db.service", "cgroup:/machine", "uid:1005"];
        let rules = rules(&list, &[]);
        let of = |name: &str, cgroup: &str, owner: Owner| rules.of(name, cgroup, owner);
        let pod = Owner {
            uid: 0,
            contained: true,
        };
        let unit = "/system.slice/db.service";
        assert_eq!(of("postgres", "/", user(114)), Eligibility::Never);
        assert_eq!(of("a", unit, user(61_200)), Eligibility::Never);
        for owner in [user(1000), user(70_000), pod] {
            assert_eq!(of("postgres", "/", owner), Eligibility::Last);
            assert_eq!(of("sshd", "/", owner), Eligibility::Last);
            assert_eq!(of("a", unit, owner), Eligibility::Last);
            assert_eq!(of("a", "/machine/x", owner), Eligibility::Never);
        }
        assert_eq!(of("a", "/", user(1005)), Eligibility::Never);
    }

    #[test]
    fn an_entry_that_fits_every_process_or_none_is_refused() {
        for entry in [
            "",
            "*",
            "uid:",
            "uid:me",
            "cgroup:user.slice",
            "cgroup:/",
            "unit:x",
            "user:joe",
            "pid:5",
            ":x",
            "/usr/bin/firefox",
            "./firefox",
        ] {
            assert!(Rule::parse(entry).is_err(), "{entry}");
        }
        for form in ["name*", "unit:x.service", "cgroup:/path", "uid:1000"] {
            let error = Rule::parse("user:joe").unwrap_err();
            assert!(error.contains(form), "{error}");
        }
        for name in ["kworker/0:1", "tmux: server", "Web Content", "tmux*"] {
            assert_eq!(Rule::parse(name).unwrap().to_string(), name);
        }
    }
}
