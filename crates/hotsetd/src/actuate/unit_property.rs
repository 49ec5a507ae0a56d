//! memory.low and memory.min of cgroups that systemd owns.
//!
//! systemd is the only writer of its units' cgroups: at a reload or a restart of the unit it writes its own value over
//! anybody else's. `systemctl set-property --runtime` makes a value systemd's own. It leaves a drop-in below
//! /run/systemd/system.control, which is removed when the value is given back.
use crate::actuate::journal::{Name, Value};
use crate::os::fixed_string::Text;
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// systemctl is waited for so long. systemd answers in milliseconds, unless it has no memory itself.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);
/// The largest boundary, as the kernel and as systemd writes it.
const MOST: [&str; 2] = ["max", "infinity"];

/// A property of one of systemd's units.
pub struct UnitProperty {
    root: PathBuf,
    unit: String,
    name: &'static str,
}

impl UnitProperty {
    /// The property that stands for `knob`. `None`: systemd does not run this machine, or the cgroup is not its own.
    /// What is below a service or a scope belongs to another manager.
    #[must_use]
    pub fn of(root: &Path, knob: &str) -> Option<UnitProperty> {
        let (folder, file) = knob.strip_prefix("/sys/fs/cgroup/")?.rsplit_once('/')?;
        let name = match file {
            "memory.low" => "MemoryLow",
            "memory.min" => "MemoryMin",
            _ => return None,
        };
        let mut parts = folder.rsplit('/');
        let unit = parts.next()?;
        let kinds = [".slice", ".service", ".scope"];
        let own = kinds.iter().any(|kind| unit.ends_with(kind))
            && parts.all(|part| part.ends_with(".slice"))
            && root.join("run/systemd/system").is_dir();
        own.then(|| UnitProperty {
            root: root.to_owned(),
            unit: unit.to_owned(),
            name,
        })
    }

    /// Has systemd set the property until the next boot. Waits, for [`PATIENCE`] at most. systemd writes the cgroup's
    /// file soon afterwards.
    ///
    /// # Errors
    /// There is no systemctl, systemd refuses (`IO`; systemctl says why on standard error), or it does not
    /// answer (`TIMEDOUT`).
    pub fn set(&self, value: &Value) -> Result<(), Errno> {
        // Another root has a systemctl of its own, never this machine's.
        let program = match self.root == Path::new("/") {
            true => "systemctl".into(),
            false => self.root.join("usr/bin/systemctl"),
        };
        let value = value.as_str();
        let value = if value == MOST[0] { MOST[1] } else { value };
        let mut child = Command::new(program)
            .args(["--no-ask-password", "set-property", "--runtime", "--"])
            .args([&self.unit, &format!("{}={value}", self.name)])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| errno(&error))?;
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            match child.try_wait().map_err(|error| errno(&error))? {
                Some(status) if status.success() => return Ok(()),
                Some(_) => return Err(Errno::IO),
                None => std::thread::sleep(PAUSE),
            }
        }
        let _ = child.kill();
        let _ = child.wait();
        Err(Errno::TIMEDOUT)
    }

    /// Gives the property its value back, and leaves no drop-in.
    ///
    /// # Errors
    /// As [`UnitProperty::set`], or the drop-in cannot be removed.
    pub fn give_back(&self, original: &Value) -> Result<(), Errno> {
        self.set(original)?;
        self.remove_drop_in()
    }

    /// The value in the drop-in, if there is one.
    #[must_use]
    pub fn in_drop_in(&self) -> Option<Value> {
        let text = std::fs::read_to_string(self.drop_in()).ok()?;
        let mut lines = text.lines().rev();
        let value = lines.find_map(|line| line.strip_prefix(self.name)?.strip_prefix('='))?;
        let value = if value == MOST[1] { MOST[0] } else { value };
        Some(Text::of(format_args!("{value}")))
    }

    /// Removes the drop-in, and its folder if that is empty then.
    ///
    /// # Errors
    /// As unlink(2), unless there is none.
    pub fn remove_drop_in(&self) -> Result<(), Errno> {
        let path = self.drop_in();
        let done = match rustix::fs::unlink(&path) {
            Err(Errno::NOENT) => Ok(()),
            done => done,
        };
        let _ = path.parent().map(std::fs::remove_dir);
        done
    }

    fn drop_in(&self) -> PathBuf {
        let folder = self.root.join("run/systemd/system.control");
        folder.join(format!("{}.d/50-{}.conf", self.unit, self.name))
    }
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// Properties that threads are setting, so that the event loop does not wait for systemd.
#[derive(Default)]
pub struct UnderWay(Vec<Setting>);

struct Setting {
    knob: Name,
    from: Value,
    thread: JoinHandle<Result<(), Errno>>,
}

impl UnderWay {
    /// Begins to set `property`, which stands for `knob` and has the value `from`.
    ///
    /// # Errors
    /// There is no memory for a thread.
    pub fn begin(
        &mut self,
        knob: Name,
        property: UnitProperty,
        from: Value,
        to: Value,
    ) -> Result<(), Errno> {
        let thread = std::thread::Builder::new()
            .name("hotsetd-unit".into())
            .stack_size(64 << 10)
            .spawn(move || property.set(&to))
            .map_err(|error| errno(&error))?;
        self.0.push(Setting { knob, from, thread });
        Ok(())
    }

    /// Whether `knob` is being set, or its outcome has not been taken.
    #[must_use]
    pub fn has(&self, knob: &str) -> bool {
        self.0.iter().any(|one| one.knob.as_str() == knob)
    }

    /// The outcome for `knob`, once: the value that it had, or an error. Never waits.
    pub fn take(&mut self, knob: &str) -> Option<Result<Value, Errno>> {
        let done = |one: &Setting| one.knob.as_str() == knob && one.thread.is_finished();
        let at = self.0.iter().position(done)?;
        let one = self.0.swap_remove(at);
        Some(
            one.thread
                .join()
                .unwrap_or(Err(Errno::IO))
                .map(|()| one.from),
        )
    }

    /// Waits for the threads. What they set is set then.
    pub fn wait(&mut self) {
        for one in self.0.drain(..) {
            let _ = one.thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_units_of_the_systems_manager_are_its_own() {
        let root = tempfile::tempdir().unwrap();
        let of = |knob: &str| {
            let property = UnitProperty::of(root.path(), &format!("/sys/fs/cgroup/{knob}"))?;
            Some(format!("{} {}", property.unit, property.name))
        };
        assert_eq!(of("user.slice/memory.low"), None, "another init system");
        std::fs::create_dir_all(root.path().join("run/systemd/system")).unwrap();
        let user = "user.slice/user-1000.slice/user@1000.service";
        for (knob, property) in [
            ("user.slice/memory.low", Some("user.slice MemoryLow")),
            (
                "system.slice/db.service/memory.min",
                Some("db.service MemoryMin"),
            ),
            (
                &format!("{user}/memory.low"),
                Some("user@1000.service MemoryLow"),
            ),
            (&format!("{user}/app.slice/memory.low"), None),
            ("lxc/user.slice/memory.low", None),
            ("system.slice/db.service/part/memory.low", None),
            ("mine/memory.low", None),
            ("user.slice/memory.high", None),
            ("memory.low", None),
        ] {
            assert_eq!(of(knob).as_deref(), property, "{knob}");
        }
        assert!(UnitProperty::of(root.path(), "vm.swappiness").is_none());
    }
}
