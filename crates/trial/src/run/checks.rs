//! What is checked before anything runs.
use super::options::Options;
use crate::machine::counters::Reader;
use crate::machine::{memory, settle};
use crate::setting::daemon;
use crate::FOLDER;
use anyhow::Result;
use names::shown;
use rustix::fs::{access, Access};
use std::path::Path;

/// The trial does not begin. Another command line, or another user, is the cure.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// Checks that the trial can be made. Changes nothing.
///
/// # Errors
/// [`Refused`], or a file of the kernel cannot be read.
pub fn check(options: &Options) -> Result<()> {
    let root = &options.root;
    let mut reader = Reader::open(root)?;
    for (letter, setting) in ["--a", "--b"].into_iter().zip(&options.settings) {
        for (knob, value) in &setting.sysctls {
            let refused = |why: String| Refused(format!("{letter}: {why}"));
            writable(&root.sysctl(knob)).map_err(refused)?;
            let risk = memory::exhausts(reader.meminfo(), knob, value);
            if let Some(why) = risk.filter(|_| !options.allow_oom) {
                return Err(refused(format!("{why}; --allow-oom runs it nevertheless")).into());
            }
        }
        if setting.daemon.is_some() {
            let root_user = rustix::process::geteuid().is_root();
            if settle::is_own(root) && !root_user {
                return Err(Refused(format!(
                    "{letter}: hotsetd needs root; run the trial with sudo"
                ))
                .into());
            }
            daemon::program()?;
            daemon::ready(root)?;
        }
    }
    if options.cold {
        let path = root.sysctl("vm.drop_caches");
        writable(&path).map_err(|why| Refused(format!("--cold: {why}")))?;
    }
    let left = memory::obtainable(reader.meminfo());
    let bound = memory::bound(reader.meminfo());
    if left < 2 * bound && !options.allow_oom {
        let text = |kib: u64| units::format_bytes(kib as f64 * 1024.0);
        let why = format!(
            "only {} of memory can be had, and the trial ends at {}: end other programs, or give --allow-oom",
            text(left),
            text(bound)
        );
        return Err(Refused(why).into());
    }
    if options.changes() {
        let folder = root.path(FOLDER);
        let place = if folder.exists() {
            &folder
        } else {
            folder.parent().unwrap_or(&folder)
        };
        writable(place).map_err(Refused)?;
    }
    Ok(())
}

fn writable(path: &Path) -> Result<(), String> {
    match access(path, Access::WRITE_OK) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::ACCESS | rustix::io::Errno::PERM) => Err(format!(
            "{}: writing needs root; run the trial with sudo",
            shown(path)
        )),
        Err(error) => Err(format!(
            "{}: cannot be written: {}",
            shown(path),
            names::io_error(&error.into())
        )),
    }
}
