//! Stands in for systemd, which systemd-oomd asks for the cgroups to watch. The question comes over
//! varlink: JSON with a NUL behind it, over a socket (systemd's src/shared/varlink-io.systemd.oom.c).
//! The answer is the root cgroup for swap, as in Debian's
//! `-.slice.d/10-oomd-root-slice-defaults.conf`.
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};

/// The unit's RuntimeDirectory, in which systemd-oomd makes a socket of its own.
const FOLDER: &str = "/run/systemd/oom";
const SOCKET: &str = "/run/systemd/io.system.ManagedOOM";
const ANSWER: &[u8] = b"{\"parameters\":{\"cgroups\":[{\"mode\":\"kill\",\"path\":\"/\",\
                        \"property\":\"ManagedOOMSwap\"}]},\"continues\":true}\0";

/// Answers every question, from a thread of its own.
///
/// # Errors
/// When the kernel has no sockets.
pub fn serve() -> Result<()> {
    let _ = std::fs::create_dir_all(FOLDER);
    let listener = UnixListener::bind(SOCKET)
        .with_context(|| format!("{SOCKET}: systemd-oomd needs a kernel with sockets"))?;
    std::thread::spawn(move || {
        let mut open: Vec<UnixStream> = Vec::new();
        for stream in listener.incoming().flatten() {
            match answer(&stream) {
                // The subscription lasts as long as the connection.
                Ok(()) => open.push(stream),
                Err(error) => eprintln!("hotset-guest: {SOCKET}: {error}"),
            }
        }
    });
    Ok(())
}

fn answer(stream: &UnixStream) -> std::io::Result<()> {
    let mut question = Vec::new();
    BufReader::new(stream).read_until(0, &mut question)?;
    let mut stream = stream;
    stream.write_all(ANSWER)
}
