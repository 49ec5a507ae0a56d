//! Plays systemd's part for systemd-oomd, which asks PID 1 which cgroups it is to watch: the root for
//! swap, as Debian's `-.slice.d/10-oomd-root-slice-defaults.conf` has it. By varlink: JSON with a NUL
//! behind it, over a socket (systemd's src/shared/varlink-io.systemd.oom.c has the interface).
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};

/// The unit's RuntimeDirectory, where systemd-oomd has a socket of its own.
const FOLDER: &str = "/run/systemd/oom";
const SOCKET: &str = "/run/systemd/io.system.ManagedOOM";
const ANSWER: &[u8] = b"{\"parameters\":{\"cgroups\":[{\"mode\":\"kill\",\"path\":\"/\",\
                        \"property\":\"ManagedOOMSwap\"}]},\"continues\":true}\0";

/// Answers whoever asks, from a thread of its own.
///
/// # Errors
/// When there can be no socket: User-Mode Linux is built without any.
pub fn serve() -> Result<()> {
    let _ = std::fs::create_dir_all(FOLDER);
    let listener = UnixListener::bind(SOCKET)
        .with_context(|| format!("{SOCKET}: systemd-oomd needs a kernel with sockets (QEMU)"))?;
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
