//! Removes unfinished files when a signal ends the program.
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::Once;

/// The files to be removed. A handler may not take a lock or allocate, so their number is fixed.
static FILES: [AtomicPtr<libc::c_char>; 32] = [const { AtomicPtr::new(null_mut()) }; 32];

/// Signals that end a program unless it handles them.
const ENDING: [libc::c_int; 5] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGPIPE,
    libc::SIGXFSZ,
];

/// The place of a file in the list. None is a file beyond the list's end, which a signal leaves behind.
pub struct Place(Option<usize>);

/// Has signals remove the file from now on. Signals that the program handles or ignores are left to it.
pub fn watch(path: &Path) -> Place {
    static HANDLERS: Once = Once::new();
    HANDLERS.call_once(install);
    let Ok(name) = CString::new(path.as_os_str().as_bytes()) else {
        return Place(None);
    };
    let name = name.into_raw();
    for (place, file) in FILES.iter().enumerate() {
        let taken = file.compare_exchange(null_mut(), name, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_ok() {
            return Place(Some(place));
        }
    }
    // SAFETY: `name` comes from into_raw() above, and the list does not have it.
    drop(unsafe { CString::from_raw(name) });
    Place(None)
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            // The name is not freed: a handler in another thread may be reading it.
            FILES[place].store(null_mut(), Ordering::Release);
        }
    }
}

fn install() {
    for signal in ENDING {
        // SAFETY: both structures are plain data, and `remove` calls only what a handler may call.
        unsafe {
            let mut now: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &mut now) != 0
                || now.sa_sigaction != libc::SIG_DFL
            {
                continue;
            }
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = remove as extern "C" fn(libc::c_int) as libc::sighandler_t;
            // The signal comes again with its default action, and ends the program as if nobody had handled it.
            new.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER;
            libc::sigaction(signal, &new, null_mut());
        }
    }
}

extern "C" fn remove(signal: libc::c_int) {
    for file in &FILES {
        let name = file.load(Ordering::Acquire);
        if !name.is_null() {
            // SAFETY: names in the list are never freed.
            unsafe { libc::unlink(name) };
        }
    }
    // SAFETY: raise(3) may be called in a handler.
    unsafe { libc::raise(signal) };
}
