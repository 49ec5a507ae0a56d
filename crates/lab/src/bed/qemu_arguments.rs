//! The arguments of QEMU's command line, and of the command line of the kernel in it.
//!
//! qemu(1) documents QEMU's options.
use super::interface::Boot;

/// The ways in which a guest's instructions run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accel {
    /// The processor runs them.
    Kvm,
    /// QEMU translates them: 10 to 20 times slower.
    Tcg,
    /// QEMU translates them for one CPU, and the clock counts a nanosecond for each.
    Icount,
}

/// The options for the machine, its processors and its memory.
pub fn machine(accel: Accel, boot: &Boot<'_>) -> Vec<String> {
    // Each CPU has a socket of its own: memory nodes must not share one.
    let cpus = format!("{0},sockets={0},cores=1,threads=1", boot.cpus);
    let mut arguments = ["-machine", "pc,usb=off,dump-guest-core=off", "-smp", &cpus]
        .map(String::from)
        .to_vec();
    let (options, cpu): (&[&str], _) = match accel {
        Accel::Kvm => (&["-accel", "kvm"], "host"),
        Accel::Tcg if boot.cpus > 1 && boot.in_turn => {
            (&["-accel", "tcg,thread=single"], "qemu64,+rdrand")
        }
        Accel::Tcg if boot.cpus > 1 => (&["-accel", "tcg,thread=multi"], "qemu64,+rdrand"),
        Accel::Tcg => (&["-accel", "tcg"], "qemu64,+rdrand"),
        // sleep=off: an idle guest's clock jumps to the next timer instead of waiting for it.
        // The same seed at each boot: rdrand must not make runs differ.
        Accel::Icount => (
            &[
                "-accel",
                "tcg,thread=single",
                "-icount",
                "shift=0,sleep=off,align=off",
                "-rtc",
                "base=2020-01-01T00:00:00,clock=vm",
                "-seed",
                "1",
            ],
            "qemu64,+rdrand",
        ),
    };
    arguments.extend(options.iter().map(|option| option.to_string()));
    arguments.extend(["-cpu".into(), cpu.into()]);
    arguments.extend(["-m".into(), format!("{}M", boot.memory_mb)]);
    arguments.extend(nodes(boot));
    arguments
}

/// The options for memory nodes of the given sizes. The CPUs are dealt out to the nodes in turn.
fn nodes(boot: &Boot<'_>) -> Vec<String> {
    let mut arguments = Vec::new();
    let count = boot.nodes_mb.len() as u32;
    for (node, size) in (0..count).zip(boot.nodes_mb) {
        let cpus: String = (0..boot.cpus)
            .filter(|cpu| cpu % count == node)
            .map(|cpu| format!(",cpus={cpu}"))
            .collect();
        arguments.push("-object".into());
        arguments.push(format!("memory-backend-ram,id=node{node},size={size}M"));
        arguments.push("-numa".into());
        arguments.push(format!("node,nodeid={node},memdev=node{node}{cpus}"));
    }
    arguments
}

/// The kernel's command line. The console is the second serial port, the channel the first.
/// `ram_disk` is the size in bytes of a disk in the guest's memory.
pub fn command_line(accel: Accel, ram_disk: Option<u64>, further: &[String]) -> String {
    let mut arguments: Vec<String> = [
        "console=ttyS1,115200",
        "earlyprintk=ttyS1,115200",
        "rdinit=/init",
        // A panic resets the guest, and -no-reboot turns the reset into the guest's end. The keyboard
        // controller resets the guest, which works with a broken kernel too.
        "panic=-1",
        "reboot=k",
        // Some kernels have mitigations, and the guest runs trusted programs only.
        "mitigations=off",
        "nokaslr",
    ]
    .map(Into::into)
    .into();
    if accel != Accel::Kvm {
        // An emulated machine's timers are late under load. Its TSC is reliable nevertheless.
        arguments.extend(["tsc=reliable", "no_timer_check"].map(Into::into));
    }
    if accel == Accel::Icount {
        // Calibrating clocks takes 15 s of the host's time and is not needed: the TSC counts
        // nanoseconds. HPET serves as the timer.
        arguments.extend(["noapictimer", "tsc_early_khz=1000000"].map(Into::into));
    }
    if let Some(bytes) = ram_disk {
        arguments.push(format!("brd.rd_size={}", bytes.div_ceil(1024)));
    }
    arguments.extend_from_slice(further);
    arguments.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn cpus_are_dealt_out_and_nodes_keep_their_sizes() {
        let boot = Boot {
            kernel: Path::new("k"),
            initramfs: &[],
            disk: None,
            memory_mb: 512,
            cpus: 3,
            in_turn: false,
            nodes_mb: &[384, 128],
            scratch_mb: 0,
            keep: &[],
            root: None,
            command_line: &[],
        };
        assert_eq!(
            nodes(&boot),
            [
                "-object",
                "memory-backend-ram,id=node0,size=384M",
                "-numa",
                "node,nodeid=0,memdev=node0,cpus=0,cpus=2",
                "-object",
                "memory-backend-ram,id=node1,size=128M",
                "-numa",
                "node,nodeid=1,memdev=node1,cpus=1",
            ]
        );
        assert!(nodes(&Boot {
            in_turn: false,
            nodes_mb: &[],
            ..boot
        })
        .is_empty());
    }
}
