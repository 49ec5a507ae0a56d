//! The header of a run: `run.json`.
use super::options::Options;
use crate::bed::Bed;
use crate::experiment::{Arm, Experiment};
use crate::host;
use crate::inputs::kernels::{self, Images};
use protocol::record::{self, Run, SCHEMA};
use std::time::{SystemTime, UNIX_EPOCH};

/// The header of a run.
pub fn header(experiment: &Experiment, options: &Options, bed: &dyn Bed, images: &Images) -> Run {
    let machine = &experiment.machine;
    let started = SystemTime::now().duration_since(UNIX_EPOCH);
    let arms = experiment.arms.iter();
    Run {
        schema: SCHEMA,
        experiment: experiment.name.clone(),
        title: experiment.title.clone(),
        about: experiment.about.clone(),
        command: options.command.clone(),
        hotset_version: env!("CARGO_PKG_VERSION").into(),
        started: started.map_or(0, |since| since.as_secs()),
        bed: record::Bed {
            name: bed.name(),
            memory_mb: machine.memory_mb,
            cpus: machine.cpus,
            zram_mb: machine.zram_mb,
            disk_read_bps: machine.disk_read.bytes(),
            command_line: machine.command_line.join(" "),
            jobs: options.jobs,
            host_cpu: host::cpu(),
            host_cpus: host::cpus(),
            host_kernel: host::kernel(),
        },
        arms: arms.map(|arm| of_arm(arm, images)).collect(),
        repetitions: experiment.repetitions,
        seed: experiment.seed,
        plan: experiment.plan.clone(),
        source: experiment.text.clone(),
        packages: Vec::new(),
    }
}

fn of_arm(arm: &Arm, images: &Images) -> record::Arm {
    let image = &images[&kernels::key(arm)];
    let knobs = Experiment::knobs(arm).into_iter();
    let machine = [
        ("machine.memory_mb", arm.memory_mb.map(|mb| mb.to_string())),
        ("machine.cpus", arm.cpus.map(|cpus| cpus.to_string())),
    ];
    let machine = machine
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_string(), value?)));
    let daemon = arm.daemon.iter().map(|daemon| {
        let config = daemon.config.to_string();
        match &daemon.program {
            Some(program) => (program.clone(), daemon.arguments.join(" ")),
            None => ("hotsetd".into(), config.trim().replace('\n', "; ")),
        }
    });
    record::Arm {
        name: arm.name.clone(),
        label: arm.label.clone(),
        kernel: image.label.clone(),
        image: Some(image.record.clone()),
        baseline: arm.baseline.clone(),
        point: arm.point.clone(),
        settings: { knobs.map(|knob| (knob.path, knob.value)) }
            .chain(machine)
            .chain(daemon)
            .collect(),
    }
}
