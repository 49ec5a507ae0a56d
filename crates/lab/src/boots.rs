//! A guest's boots: one, unless the bed itself let the guest down before it said anything.
use crate::attend::{attend, Ending, Heard, Limits};
use crate::bed::{Bed, Boot};
use crate::stop::Stop;
use anyhow::Result;
use raw::wire::Line;
use std::io::Write;

/// How often a guest is started again that the bed let down at its boot.
const AGAIN: u32 = 2;

/// Boots a guest and listens to it until it ends, as [`attend`] does; again when the bed says that
/// it was its own fault. Also how often again. The consoles follow each other in `log`.
///
/// # Errors
/// As [`attend`], and when the guest cannot be started.
pub fn boot_and_attend(
    bed: &dyn Bed,
    boot: &Boot<'_>,
    log: &mut dyn Write,
    limits: Limits,
    stop: &Stop,
    on_line: &mut dyn FnMut(Line) -> Result<()>,
) -> Result<(Heard, u32)> {
    let mut again = 0;
    loop {
        let mut greeted = false;
        let mut guest = bed.start(boot)?;
        let heard = attend(&mut guest, log, limits, stop, &mut |line| {
            greeted = true;
            on_line(line)
        })?;
        let booting = !greeted && matches!(heard.ending, Ending::Panic(_));
        if !booting || again == AGAIN || !bed.stumbled(boot.cpus, &heard.tail) {
            return Ok((heard, again));
        }
        again += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bed::{Guest, Lines};
    use std::path::Path;
    use std::process::Command;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    /// Guests that are a shell's words on the console: `dies` times a panic that the bed owns to.
    struct Clumsy {
        dies: u32,
        first: &'static str,
        starts: AtomicU32,
    }

    impl Bed for Clumsy {
        fn name(&self) -> String {
            "clumsy".into()
        }
        fn device(&self) -> &'static str {
            ""
        }
        fn scratch_device(&self, _data: bool) -> &'static str {
            ""
        }
        fn slowness(&self) -> u32 {
            1
        }
        fn fall_back(&mut self, _cpus: u32) -> bool {
            false
        }
        fn walks_page_tables(&self) -> bool {
            false
        }
        fn likes_one_cpu(&self, _cpus: u32) -> bool {
            false
        }
        fn stumbled(&self, _cpus: u32, tail: &[String]) -> bool {
            tail.iter().any(|line| line.contains("spoilt"))
        }
        fn start(&self, _boot: &Boot<'_>) -> Result<Guest> {
            let nth = self.starts.fetch_add(1, Ordering::Relaxed);
            let lines = Lines::new()?;
            let channel = lines.channel_number();
            let first = self.first;
            let script = if nth < self.dies {
                format!("{first}; echo spoilt; echo 'Kernel panic - not syncing: Fatal exception'")
            } else {
                format!("echo '{{\"type\":\"end\",\"t_ms\":1}}' >&{channel}")
            };
            let mut command = Command::new("bash");
            command
                .arg("-c")
                .arg(script.replace("CHANNEL", &channel.to_string()));
            Guest::spawn(command, lines, tempfile::tempdir()?)
        }
    }

    fn booted(dies: u32, first: &'static str) -> (Heard, u32, String) {
        let bed = Clumsy {
            dies,
            first,
            starts: AtomicU32::new(0),
        };
        let boot = Boot {
            kernel: Path::new("k"),
            initramfs: &[],
            disk: None,
            memory_mb: 1,
            cpus: 2,
            nodes_mb: &[],
            scratch_mb: 0,
            command_line: &[],
        };
        let limits = Limits {
            silent: Duration::from_secs(60),
            total: Duration::from_secs(60),
        };
        let mut log = Vec::new();
        let stop = Stop::new().unwrap();
        let (heard, again) =
            boot_and_attend(&bed, &boot, &mut log, limits, &stop, &mut |_| Ok(())).unwrap();
        assert_eq!(bed.starts.into_inner(), again + 1);
        (heard, again, String::from_utf8(log).unwrap())
    }

    #[test]
    fn a_guest_that_the_bed_let_down_is_booted_again() {
        let (heard, again, log) = booted(1, ":");
        assert_eq!((heard.ending, again), (Ending::Finished, 1));
        assert!(log.contains("spoilt"), "{log}");
    }

    #[test]
    fn but_not_for_ever() {
        let (heard, again, log) = booted(99, ":");
        assert!(matches!(heard.ending, Ending::Panic(_)), "{heard:?}");
        assert_eq!((again, log.matches("spoilt").count()), (AGAIN, 3));
    }

    #[test]
    fn and_not_once_it_has_spoken_for_then_something_was_measured() {
        let (heard, again, _) = booted(
            1,
            "echo '{\"type\":\"progress\",\"fraction\":0}' >&CHANNEL; sleep 0.2",
        );
        assert!(matches!(heard.ending, Ending::Panic(_)), "{heard:?}");
        assert_eq!(again, 0);
    }
}
