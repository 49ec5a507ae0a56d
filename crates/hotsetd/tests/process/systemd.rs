//! The protocol of sd_notify(3).
use crate::common::FakeMachine;
use crate::process::{Process, PATIENCE, PROGRAM};
use crate::started::QUICK;
use std::os::unix::net::UnixDatagram;
use std::process::Command;

#[test]
fn systemd_is_notified_of_start_watchdog_and_end() {
    let machine = FakeMachine::new();
    machine.put("etc/hotset/hotsetd.conf", QUICK);
    let place = machine.path("notify");
    let socket = UnixDatagram::bind(&place).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let next = || {
        let mut bytes = [0; 256];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    let mut command = Command::new(PROGRAM);
    command
        .env("NOTIFY_SOCKET", &place)
        .env("WATCHDOG_USEC", "1000000");
    let mut process = Process::start_as(command, machine.root(), &[]);
    assert_eq!(next(), "READY=1");
    for _ in 0..3 {
        assert_eq!(next(), "WATCHDOG=1");
    }
    // A reload is seen to begin, and to be refused.
    machine.put("etc/hotset/hotsetd.conf", "agressiveness = 3\n");
    process.signal(libc::SIGHUP);
    let answer = || {
        std::iter::repeat_with(next)
            .find(|notice| notice != "WATCHDOG=1")
            .unwrap()
    };
    assert!(answer().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    assert!(answer().starts_with("READY=1\nSTATUS=The new configuration is refused"));
    machine.put("etc/hotset/hotsetd.conf", QUICK);
    process.signal(libc::SIGHUP);
    assert!(answer().starts_with("RELOADING=1\n"));
    assert_eq!(answer(), "READY=1\nSTATUS=");
    process.signal(libc::SIGTERM);
    while next() != "STOPPING=1" {}
    assert!(process.wait().success());
}
