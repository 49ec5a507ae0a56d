//! Checks the machine that every arm runs on.
use super::rule::{invalid, Checked};
use crate::bed::Kind;
use crate::experiment::definition::Experiment;
use crate::experiment::machine::Machine;
use crate::experiment::text::source::at;
use protocol::size::Size;

pub fn machine(experiment: &Experiment) -> Checked {
    let machine = &experiment.machine;
    ranges(machine)?;
    disks(machine)?;
    counted_instructions(machine)?;
    nodes(experiment)
}

fn ranges(machine: &Machine) -> Checked {
    let between = |field: &str, value: u64, low: u64, high: u64| {
        if (low..=high).contains(&value) {
            return Ok(());
        }
        invalid(
            at!["machine", field],
            format!("expected {low} to {high}, not {value}"),
        )
    };
    between("memory_mb", machine.memory_mb, 32, 65536)?;
    between("cpus", machine.cpus.into(), 1, 64)?;
    between("zram_mb", machine.zram_mb, 0, 65536)?;
    between("scratch_mb", machine.scratch_mb, 0, 65536)?;
    // The file system needs some of the disk for itself.
    between("swap_mb", machine.swap_mb, 0, machine.scratch_mb / 10 * 9)?;
    between("sample_ms", machine.sample_ms, 10, 60_000)?;
    between("silent_s", machine.silent_s, 1, 86_400)?;
    if machine.silent_s * 1000 < machine.sample_ms * 2 {
        return invalid(
            at!["machine", "silent_s"],
            "expected at least twice `sample_ms`: a guest sends one line in `sample_ms`",
        );
    }
    let one =
        |parameter: &String| !parameter.is_empty() && !parameter.contains(char::is_whitespace);
    if !machine.command_line.iter().all(one) {
        let message = "expected one parameter each, \"cgroup_disable=memory\" for instance";
        return invalid(at!["machine", "command_line"], message);
    }
    Ok(())
}

fn disks(machine: &Machine) -> Checked {
    kept(machine)?;
    if (1..16).contains(&machine.scratch_mb) {
        let message = "expected 16 or more for the file system's own use, or 0 for no disk";
        return invalid(at!["machine", "scratch_mb"], message);
    }
    for (field, size) in [
        ("disk_read", machine.disk_read),
        ("disk_write", machine.disk_write),
    ] {
        if matches!(size, Size::Percent(_)) {
            let message = "expected bytes a second, \"100MB\" for instance";
            return invalid(at!["machine", field], message);
        }
    }
    Ok(())
}

fn kept(machine: &Machine) -> Checked {
    let plain = |name: &String| {
        let good = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        !name.is_empty() && name.chars().all(good) && !name.starts_with('.')
    };
    if !machine.keep.iter().all(plain) {
        let message =
            "expected names of files at the top of the scratch disk, \"flight\" for instance";
        return invalid(at!["machine", "keep"], message);
    }
    if !machine.keep.is_empty() && machine.scratch_mb == 0 {
        let message = "the machine has no disk to keep files of: set machine.scratch_mb";
        return invalid(at!["machine", "keep"], message);
    }
    Ok(())
}

fn counted_instructions(machine: &Machine) -> Checked {
    if !machine.icount {
        return Ok(());
    }
    if machine.bed != Kind::Qemu {
        let message = "`icount` needs bed = \"qemu\"";
        return invalid(at!["machine", "icount"], message);
    }
    if machine.scratch_mb > 0 {
        let message = "`scratch_mb` cannot be used with `icount`: disk timing depends on the \
                       host; remove one of them";
        return invalid(at!["machine", "scratch_mb"], message);
    }
    Ok(())
}

fn nodes(experiment: &Experiment) -> Checked {
    let machine = &experiment.machine;
    if machine.numa.is_empty() {
        return Ok(());
    }
    let here = at!["machine", "numa"];
    if machine.bed != Kind::Qemu {
        return invalid(here, "memory nodes need bed = \"qemu\"");
    }
    let nodes = experiment.nodes_mb();
    if nodes.contains(&0) || nodes.iter().sum::<u64>() != machine.memory_mb {
        let message = format!("expected sizes that sum to {} MiB", machine.memory_mb);
        return invalid(here, message);
    }
    let mut arms = experiment.arms.iter();
    if let Some(i) = arms.position(|arm| arm.memory_mb.is_some()) {
        let message = "a machine with memory nodes has one size for all arms: remove `memory_mb`";
        return invalid(at!["arms", i, "memory_mb"], message);
    }
    Ok(())
}
