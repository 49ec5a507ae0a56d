//! `hotset top` in a terminal of tmux: keys in, screens out.
use super::until;
use std::path::Path;
use std::process::{Command, Output};

/// A terminal that runs `hotset top`. Dropped, it ends.
struct Terminal {
    folder: tempfile::TempDir,
}

impl Terminal {
    /// `size`: columns and lines.
    fn start(size: (u32, u32), arguments: &str) -> Terminal {
        Terminal::start_after("", size, arguments)
    }

    /// The same after a command of the shell.
    fn start_after(before: &str, size: (u32, u32), arguments: &str) -> Terminal {
        let terminal = Terminal {
            folder: tempfile::tempdir().unwrap(),
        };
        // The shell outlives hotset, and says how it ended.
        let line = format!(
            "{before} {} top {arguments}; echo ended $?; exec cat",
            env!("CARGO_BIN_EXE_hotset")
        );
        let (columns, lines) = (size.0.to_string(), size.1.to_string());
        let start = [
            "new-session",
            "-d",
            "-x",
            &columns,
            "-y",
            &lines,
            "sh",
            "-c",
            &line,
        ];
        let done = terminal.tmux(&start);
        assert!(done.status.success(), "{done:?}");
        terminal
    }

    fn tmux(&self, arguments: &[&str]) -> Output {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(self.folder.path().join("socket"));
        tmux.env_remove("TMUX").env("LANG", "C.UTF-8");
        let done = tmux.args(["-f", "/dev/null"]).args(arguments).output();
        done.expect("install tmux")
    }

    fn screen(&self) -> String {
        String::from_utf8(self.tmux(&["capture-pane", "-p"]).stdout).unwrap()
    }

    /// The process of hotset.
    fn child(&self) -> i32 {
        let panes = self.tmux(&["list-panes", "-F", "#{pane_pid}"]).stdout;
        let shell = String::from_utf8(panes).unwrap();
        let shell = shell.trim();
        let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"));
        children.unwrap().trim().parse().unwrap()
    }

    /// Presses keys, and waits for a text.
    fn press(&self, keys: &[&str], text: &str) -> String {
        let mut line = vec!["send-keys"];
        line.extend(keys);
        self.tmux(&line);
        let mut screen = String::new();
        until(&format!("{keys:?} shows no {text:?}"), || {
            screen = self.screen();
            screen.contains(text)
        });
        screen
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

fn recording() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/recorded");
    folder.join("copy.jsonl.zst").display().to_string()
}

#[test]
#[ignore = "system: needs tmux"]
fn top_shows_this_machine_and_ends_with_the_terminal_as_it_was() {
    for size in [(80, 24), (200, 50)] {
        let terminal = Terminal::start(size, "--interval 0.2 --socket /nonexistent");
        let screen = terminal.press(&[], "Memory");
        for part in ["live", "no daemon", "Free ", "kswapd", "Cgroups", "q quit"] {
            assert!(screen.contains(part), "{part}:\n{screen}");
        }
        terminal.press(&["Left"], " ago");
        terminal.press(&["End"], "live");
        let screen = terminal.press(&["q"], "ended 0");
        assert!(!screen.contains("kswapd"), "{screen}");
    }
}

#[test]
#[ignore = "system: needs tmux"]
fn a_recording_is_scrolled_and_an_event_explained() {
    let terminal = Terminal::start((80, 24), &recording());
    let last = terminal.press(&[], "what hotsetd would do");
    let first = terminal.press(&["Home"], "jsonl.zst at 0 s");
    assert_ne!(last, first);
    terminal.press(&["End"], "would do");
    terminal.press(&["Down", "Enter"], "Why: ");
    let closed = terminal.press(&["Escape"], "Reclaim");
    assert!(closed.contains("What the daemon would do"), "{closed}");
    terminal.press(&["C-c"], "ended 130");
}

#[test]
#[ignore = "system: needs tmux"]
fn a_signal_gives_the_terminal_back() {
    let terminal = Terminal::start((80, 24), "--socket /nonexistent");
    terminal.press(&[], "Memory");
    let child = terminal.child();
    // SAFETY: a signal to a process that this test has started.
    unsafe { libc::kill(child, libc::SIGTERM) };
    let screen = terminal.press(&[], "ended 143");
    assert!(!screen.contains("kswapd"), "{screen}");
}

#[test]
#[ignore = "system: needs tmux"]
fn a_terminal_that_goes_away_ends_it() {
    // Where SIGHUP is ignored, as after nohup, the terminal alone tells.
    for before in ["", "trap '' HUP;"] {
        let terminal = Terminal::start_after(before, (80, 24), "--socket /nonexistent");
        terminal.press(&[], "Memory");
        let child = terminal.child();
        terminal.tmux(&["kill-server"]);
        until(&format!("{before:?}: hotset runs on"), || {
            let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            stat.rsplit_once(") ")
                .is_none_or(|(_, rest)| rest.starts_with('Z'))
        });
    }
}

#[test]
fn top_without_a_terminal_names_another_command() {
    let mut hotset = Command::new(env!("CARGO_BIN_EXE_hotset"));
    let done = hotset.arg("top").output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    let text = String::from_utf8(done.stderr).unwrap();
    assert!(text.contains("hotset status --watch"), "{text}");
}
