//! Makes a bare kernel into the machine that the spec asks for.
pub mod cgroups;
pub mod disks;
pub mod mounts;
pub mod prepare;
pub mod root;
pub mod settings;
