//! The variables of the environment that choose what a run boots, and where.
use crate::bed;
use crate::guest::programs;
use crate::host::guest_memory_dir;
use crate::inputs::kernels;
use kbuild::{layout, Flavour};
use std::ffi::OsString;

/// The variables that are set, with their values, in a fixed order: those that name kernels, programs,
/// the emulator, or the place of guests' memory.
pub fn environment() -> Vec<(&'static str, String)> {
    among(|name| std::env::var_os(name))
}

fn among(value: impl Fn(&str) -> Option<OsString>) -> Vec<(&'static str, String)> {
    let kernels = Flavour::ALL.into_iter().filter_map(kernels::variable);
    let names = [layout::VARIABLE]
        .into_iter()
        .chain(kernels)
        .chain(programs::VARIABLES)
        .chain([
            bed::QEMU_VARIABLE,
            bed::ACCEL_VARIABLE,
            guest_memory_dir::VARIABLE,
        ]);
    let set = names.filter_map(|name| Some((name, value(name)?.to_string_lossy().into_owned())));
    set.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_kernels_programs_and_beds_are_told_and_no_others() {
        let all = among(|name| Some(format!("of {name}").into()));
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        for name in [
            "HOTSET_KERNEL_DIR",
            "HOTSET_KERNEL_SERIES",
            "HOTSET_HOTSETD",
            "HOTSET_QEMU_ACCEL",
            "HOTSET_RAM_DIR",
        ] {
            assert!(names.contains(&name), "{names:?}");
        }
        assert!(names.iter().all(|name| name.starts_with("HOTSET_")));
        assert_eq!(among(|_| None), []);
    }
}
