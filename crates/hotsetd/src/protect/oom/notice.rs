//! A notice of a kill: the hook, the users' desktops, and the hooks that systemd-oomd would call.
use crate::os::local_socket;
use crate::os::standard_streams::complain;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// A line of the notifier's pipe.
pub(super) struct Notice<'a> {
    fields: [&'a str; 8],
}

impl Notice<'_> {
    /// `None`: no such line.
    pub fn parse(line: &str) -> Option<Notice<'_>> {
        let mut parts = line.split('\t');
        let mut fields = [""; 8];
        for field in &mut fields {
            *field = parts.next()?;
        }
        Some(Notice { fields })
    }

    pub fn run_hook(&self, hook: &Path) {
        let names = ["PID", "UID", "COUNT", "BYTES", "DRY_RUN", "NAME", "CAUSE"];
        let mut command = Command::new(hook);
        for (name, value) in names.iter().zip(self.fields) {
            command.env(format!("HOTSET_{name}"), value);
        }
        if let Err(error) = with_default_signals(&mut command).spawn() {
            let (hook, error) = (names::shown(hook), names::io_error(&error));
            complain(format_args!(
                "hook: {hook} cannot be started: {error}; it is not run for this kill"
            ));
        }
    }

    /// Notifies every user with a session bus. `users`: the folder with a folder for each user id.
    pub fn notify(&self, users: &Path) {
        let [_, _, count, bytes, dry_run, name, ..] = self.fields;
        let held = units::format_bytes(bytes.parse().unwrap_or(0.0));
        let message = match (dry_run, count) {
            ("0", "1") => format!("hotset ended {name}, which held {held}"),
            ("0", _) => {
                format!("hotset ended {count} processes named {name}, which held {held}")
            }
            _ => format!("hotset would have ended {name}, which holds {held} (dry run)"),
        };
        for entry in std::fs::read_dir(users).into_iter().flatten().flatten() {
            // Only the user may look into the folder. So notify-send finds out whether there is a bus.
            let bus = entry.path().join("bus");
            let Some(owner) = entry.metadata().ok().filter(|about| about.uid() > 0) else {
                continue;
            };
            let mut command = Command::new("notify-send");
            command
                .args(["--urgency=critical", "--app-name=hotset", "--"])
                .args(["Memory ran out", &message])
                .env(
                    "DBUS_SESSION_BUS_ADDRESS",
                    format!("unix:path={}", bus.display()),
                )
                .env("XDG_RUNTIME_DIR", entry.path())
                .gid(owner.gid())
                .uid(owner.uid());
            // A machine without notify-send has no desktop to notify.
            let _ = with_default_signals(&mut command)
                .stderr(Stdio::null())
                .spawn();
        }
    }

    /// Tells the services that ask systemd-oomd for it (oomd.conf(5), PREKILL EVENT) that a process of this cgroup is
    /// asked to end. Waits for no answer. Returns the connections: a service may drop a call whose caller has gone.
    pub fn tell_oomd_hooks(&self, root: &Path) -> Vec<UnixStream> {
        let [pid, .., asked] = self.fields;
        let cgroups = std::fs::read_to_string(root.join(format!("proc/{pid}/cgroup")));
        let cgroups = cgroups.unwrap_or_default();
        let cgroup = cgroups.lines().find_map(|line| line.strip_prefix("0::"));
        let (Some(cgroup), "1") = (cgroup, asked) else {
            return Vec::new();
        };
        let call = serde_json::json!({
            "method": "io.systemd.oom.Prekill.Notify",
            "parameters": { "cgroup": cgroup },
        });
        let hooks = std::fs::read_dir(root.join("run/systemd/oomd.prekill.hook"));
        let sockets = hooks.into_iter().flatten().flatten();
        let tell = |socket: std::fs::DirEntry| -> std::io::Result<UnixStream> {
            let mut stream = local_socket::connect(&socket.path())?;
            stream.set_nonblocking(true)?;
            stream.write_all(format!("{call}\0").as_bytes())?;
            Ok(stream)
        };
        sockets.filter_map(|socket| tell(socket).ok()).collect()
    }
}

/// The command with signals as a program expects them.
fn with_default_signals(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null());
    // SAFETY: signal(2) is async-signal-safe, and nothing else is done between fork and exec.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGCHLD] {
                libc::signal(signal, libc::SIG_DFL);
            }
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
            Ok(())
        })
    }
}
