//! The version that `hotset` and `hotsetd` print, the same for both.

/// The version of the workspace.
pub const NUMBER: &str = env!("CARGO_PKG_VERSION");

/// The commit of the source: twelve digits, or `unknown` outside a git tree.
pub const COMMIT: &str = env!("VERSION_COMMIT");

/// One line, for `-V`: the number, the commit and the target.
pub const SHORT: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("VERSION_COMMIT"),
    " ",
    env!("VERSION_TARGET"),
    ")"
);

/// Several lines, for `--version`: also the kernels.
pub const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit:        ",
    env!("VERSION_COMMIT"),
    "\ntarget:        ",
    env!("VERSION_TARGET"),
    "\npatch series:  Linux ",
    env!("VERSION_KERNELS"),
    "\nhotsetd:       Linux 4.18 and later"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_names_commit_target_and_kernels() {
        assert!(COMMIT == "unknown" || COMMIT.chars().all(|c| c.is_ascii_hexdigit()));
        assert!(SHORT.starts_with(NUMBER) && SHORT.contains(COMMIT));
        for wanted in [NUMBER, COMMIT, "linux", "6.12, 6.18, 7.3"] {
            assert!(LONG.contains(wanted), "{wanted}");
        }
    }
}
