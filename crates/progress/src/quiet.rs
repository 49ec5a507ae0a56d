//! Whether the whole program is quiet, and whether its terminal can be redrawn.
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};

static QUIET: AtomicBool = AtomicBool::new(false);

/// Shows no progress from now on, in the whole program.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether the whole program shows no progress.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Whether bars can be drawn on standard error: it is a terminal that can move its cursor. Elsewhere progress
/// is shown as lines.
pub fn can_redraw() -> bool {
    std::io::stderr().is_terminal() && can_move(std::env::var_os("TERM").as_deref())
}

/// Whether a terminal of this type moves its cursor. Terminals without a type are those of serial lines.
fn can_move(term: Option<&std::ffi::OsStr>) -> bool {
    term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::can_move;

    #[test]
    fn a_dumb_terminal_gets_lines() {
        assert!(can_move(Some("xterm-256color".as_ref())));
        for dumb in [Some("dumb"), Some(""), None] {
            assert!(!can_move(dumb.map(AsRef::as_ref)), "{dumb:?}");
        }
    }
}
