//! The operating system: the process itself, its clocks, text without allocation, sockets.
pub mod clock;
pub mod dbus;
pub mod fixed_string;
pub mod local_socket;
pub mod process;
pub mod realtime;
pub mod standard_streams;
