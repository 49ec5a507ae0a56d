//! Boots a guest, and boots it again where the bed itself caused a panic at the boot.
use super::monitor::{listen, Ending, Heard, Limits};
use crate::bed::{self, Bed, Boot};
use crate::host::stop::Stop;
use anyhow::Result;
use protocol::wire::Line;
use std::io::Write;

/// The most times that a guest is booted again because of a panic that the bed caused.
const AGAIN: u32 = 2;

/// Boots a guest and listens until the guest ends, as [`listen`] does. Boots the guest again when the bed
/// itself caused a panic at the boot. Also returns the number of further boots. The consoles follow each
/// other in `log`.
///
/// # Errors
/// Those of [`listen`], and when the guest cannot be started, or its files cannot be kept.
pub fn boot_and_listen(
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
        let heard = listen(&mut guest, log, limits, stop, &mut |line| {
            greeted = true;
            on_line(line)
        })?;
        let booting = !greeted && matches!(heard.ending, Ending::Panic(_));
        if !booting || again == AGAIN || !bed.caused_panic(boot.cpus, &heard.tail) {
            bed::keep(guest.dir(), boot.keep)?;
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

    /// A bed whose guests are shells that write to the console: `dies` times a panic that the bed caused.
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
        fn root_device(&self, _disks: usize) -> &'static str {
            unreachable!()
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
        fn caused_panic(&self, _cpus: u32, tail: &[String]) -> bool {
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
            in_turn: false,
            nodes_mb: &[],
            scratch_mb: 0,
            keep: &[],
            root: None,
            command_line: &[],
        };
        let limits = Limits {
            silent: Duration::from_secs(60),
            total: Duration::from_secs(60),
        };
        let mut log = Vec::new();
        let stop = Stop::new().unwrap();
        let (heard, again) =
            boot_and_listen(&bed, &boot, &mut log, limits, &stop, &mut |_| Ok(())).unwrap();
        assert_eq!(bed.starts.into_inner(), again + 1);
        (heard, again, String::from_utf8(log).unwrap())
    }

    #[test]
    fn a_guest_is_booted_again_after_a_panic_that_the_bed_caused() {
        let (heard, again, log) = booted(1, ":");
        assert_eq!((heard.ending, again), (Ending::Finished, 1));
        assert!(log.contains("spoilt"), "{log}");
    }

    #[test]
    fn a_guest_is_booted_again_twice_at_most() {
        let (heard, again, log) = booted(99, ":");
        assert!(matches!(heard.ending, Ending::Panic(_)), "{heard:?}");
        assert_eq!((again, log.matches("spoilt").count()), (AGAIN, 3));
    }

    #[test]
    fn a_guest_that_has_sent_a_line_is_not_booted_again() {
        let (heard, again, _) = booted(
            1,
            "echo '{\"type\":\"progress\",\"fraction\":0}' >&CHANNEL; sleep 0.2",
        );
        assert!(matches!(heard.ending, Ending::Panic(_)), "{heard:?}");
        assert_eq!(again, 0);
    }
}
