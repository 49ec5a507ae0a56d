//! Signals as a shell gives them to a command, also where the tests were started by nohup.
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Has a command start with the default action of the signals that end a program.
pub fn by_default(command: &mut Command) -> &mut Command {
    let reset = || {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: a system call only, which is allowed between fork(2) and exec(2).
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: the closure makes system calls only.
    unsafe { command.pre_exec(reset) }
}
