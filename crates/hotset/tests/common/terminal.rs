//! A terminal for tests of what a person sees.
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

/// A terminal: the end that a program sees, and the end of its user.
pub fn terminal() -> (File, File) {
    // By the standard library, so that no other test's child inherits either end.
    let mut open = File::options();
    let open = open.read(true).write(true).custom_flags(libc::O_NOCTTY);
    let user = open.open("/dev/ptmx").unwrap();
    let mut name = [0u8; 64];
    // SAFETY: the descriptor is open, and the name has the room that is passed.
    let done = unsafe {
        libc::unlockpt(user.as_raw_fd())
            | libc::ptsname_r(user.as_raw_fd(), name.as_mut_ptr().cast(), name.len())
    };
    assert_eq!(done, 0);
    let name = std::ffi::CStr::from_bytes_until_nul(&name).unwrap();
    let program = open.open(name.to_str().unwrap()).unwrap();
    (program, user)
}
