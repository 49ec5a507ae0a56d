//! A program that owns one name on a D-Bus bus and sends signals (the D-Bus specification, version 0.43).
//!
//! Written out: a Rust library for D-Bus brings a runtime of its own and some sixty crates, libdbus cannot be linked
//! into a static program, and three kinds of messages are needed.
use crate::os::local_socket;
use rustix::fd::{AsFd, BorrowedFd};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Bytes of a message that is read, at most. A call to this program has some hundred.
const LONGEST: usize = 1 << 16;

// Types of messages.
const CALL: u8 = 1;
const RETURN: u8 = 2;
const ERROR: u8 = 3;
const SIGNAL: u8 = 4;
/// The flag of a call that wants no reply.
const NO_REPLY: u8 = 1;
// Header fields.
const PATH: u8 = 1;
const INTERFACE: u8 = 2;
const MEMBER: u8 = 3;
const ERROR_NAME: u8 = 4;
const REPLY_SERIAL: u8 = 5;
const DESTINATION: u8 = 6;
const SENDER: u8 = 7;
const SIGNATURE: u8 = 8;
/// RequestName: no waiting in the queue for a name that another program owns.
const DO_NOT_QUEUE: u32 = 4;
/// RequestName's answer: the name is this program's.
const PRIMARY_OWNER: u32 = 1;

/// A connection to a bus that has given this program a name.
pub struct Bus {
    stream: UnixStream,
    /// Bytes that came and make no whole message yet.
    received: Vec<u8>,
    serial: u32,
}

impl Bus {
    /// Connects to the bus at `socket`, and owns `name`.
    ///
    /// # Errors
    /// There is no bus, the bus does not answer within a second, its policy refuses the name, or another program owns
    /// the name.
    pub fn own(socket: &Path, name: &str) -> io::Result<Bus> {
        let mut bus = Bus {
            stream: local_socket::connect(socket)?,
            received: Vec::new(),
            serial: 0,
        };
        bus.authenticate()?;
        let daemon = [
            (PATH, Value::Path("/org/freedesktop/DBus")),
            (INTERFACE, Value::Text("org.freedesktop.DBus")),
            (DESTINATION, Value::Text("org.freedesktop.DBus")),
        ];
        let call = |member, signature, body: &[u8], bus: &mut Bus| {
            let mut fields = daemon.to_vec();
            fields.push((MEMBER, Value::Text(member)));
            bus.send(CALL, 0, fields, signature, body)
        };
        call("Hello", "", &[], &mut bus)?;
        let mut body = Vec::new();
        Value::Text(name).put(&mut body);
        Value::Number(DO_NOT_QUEUE).put(&mut body);
        call("RequestName", "su", &body, &mut bus)?;
        let wanted = bus.serial;
        loop {
            match bus.next()? {
                None => bus.receive()?,
                Some(message) if message.answers != wanted => {}
                Some(message) => {
                    let owner = message.kind == RETURN && message.number == PRIMARY_OWNER;
                    bus.stream.set_nonblocking(true)?;
                    return owner.then_some(bus).ok_or(ErrorKind::AddrInUse.into());
                }
            }
        }
    }

    /// SASL's mechanism EXTERNAL: the bus has the user from the socket.
    fn authenticate(&mut self) -> io::Result<()> {
        let uid = rustix::process::geteuid().as_raw().to_string();
        let uid: String = uid.bytes().map(|digit| format!("{digit:02x}")).collect();
        self.stream
            .write_all(format!("\0AUTH EXTERNAL {uid}\r\n").as_bytes())?;
        while !self.received.ends_with(b"\r\n") {
            self.receive()?;
        }
        if !self.received.starts_with(b"OK ") {
            return Err(ErrorKind::PermissionDenied.into());
        }
        self.received.clear();
        self.stream.write_all(b"BEGIN\r\n")
    }

    /// Sends a signal with one byte. Never waits.
    ///
    /// # Errors
    /// The bus has gone, or takes nothing. This connection is of no use then.
    pub fn signal(
        &mut self,
        path: &str,
        interface: &str,
        member: &str,
        byte: u8,
    ) -> io::Result<()> {
        let fields = vec![
            (PATH, Value::Path(path)),
            (INTERFACE, Value::Text(interface)),
            (MEMBER, Value::Text(member)),
        ];
        self.send(SIGNAL, NO_REPLY, fields, "y", &[byte])
    }

    /// Reads what has come. Every call is answered by an error: a GLib program asks for properties, and would
    /// wait 25 s for an answer before it listens.
    ///
    /// # Errors
    /// The bus has gone, or sends nonsense. This connection is of no use then.
    pub fn answer(&mut self) -> io::Result<()> {
        self.receive()?;
        while let Some(message) = self.next()? {
            if message.kind == CALL && message.flags & NO_REPLY == 0 {
                let error = "org.freedesktop.DBus.Error.UnknownMethod";
                let fields = vec![
                    (ERROR_NAME, Value::Text(error)),
                    (REPLY_SERIAL, Value::Number(message.serial)),
                    (DESTINATION, Value::Text(&message.sender)),
                ];
                self.send(ERROR, NO_REPLY, fields, "", &[])?;
            }
        }
        Ok(())
    }

    fn send<'a>(
        &mut self,
        kind: u8,
        flags: u8,
        fields: Vec<(u8, Value<'a>)>,
        signature: &'a str,
        body: &[u8],
    ) -> io::Result<()> {
        self.serial += 1;
        let bytes = message(kind, flags, self.serial, fields, signature, body);
        self.stream.write_all(&bytes)
    }

    fn receive(&mut self) -> io::Result<()> {
        let mut bytes = [0; 4096];
        match self.stream.read(&mut bytes) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                self.received.extend_from_slice(&bytes[..length]);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// The next whole message of those that came.
    fn next(&mut self) -> io::Result<Option<Message>> {
        let nonsense = || io::Error::from(ErrorKind::InvalidData);
        match length(&self.received) {
            Some(length) if length > LONGEST => Err(nonsense()),
            Some(length) if length <= self.received.len() => {
                let bytes: Vec<u8> = self.received.drain(..length).collect();
                Message::read(&bytes).map(Some).ok_or_else(nonsense)
            }
            _ => Ok(None),
        }
    }
}

impl AsFd for Bus {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// A value of a header or a body.
#[derive(Clone, Copy)]
enum Value<'a> {
    Path(&'a str),
    Text(&'a str),
    Signature(&'a str),
    Number(u32),
}

impl Value<'_> {
    fn put(self, to: &mut Vec<u8>) {
        match self {
            Value::Signature(text) => {
                to.push(text.len() as u8);
                to.extend_from_slice(text.as_bytes());
                to.push(0);
            }
            Value::Path(text) | Value::Text(text) => {
                Value::Number(text.len() as u32).put(to);
                to.extend_from_slice(text.as_bytes());
                to.push(0);
            }
            Value::Number(number) => {
                pad(to, 4);
                to.extend_from_slice(&number.to_le_bytes());
            }
        }
    }

    fn signature(self) -> &'static str {
        match self {
            Value::Path(_) => "o",
            Value::Text(_) => "s",
            Value::Signature(_) => "g",
            Value::Number(_) => "u",
        }
    }
}

fn pad(bytes: &mut Vec<u8>, to: usize) {
    bytes.resize(bytes.len().next_multiple_of(to), 0);
}

/// The bytes of a message.
fn message<'a>(
    kind: u8,
    flags: u8,
    serial: u32,
    mut fields: Vec<(u8, Value<'a>)>,
    signature: &'a str,
    body: &[u8],
) -> Vec<u8> {
    if !signature.is_empty() {
        fields.push((SIGNATURE, Value::Signature(signature)));
    }
    let mut bytes = vec![b'l', kind, flags, 1];
    bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&serial.to_le_bytes());
    // The length of the fields stands here in the end.
    bytes.extend_from_slice(&[0; 4]);
    for (code, value) in fields {
        pad(&mut bytes, 8);
        bytes.push(code);
        Value::Signature(value.signature()).put(&mut bytes);
        value.put(&mut bytes);
    }
    let length = (bytes.len() - HEAD) as u32;
    bytes[12..HEAD].copy_from_slice(&length.to_le_bytes());
    pad(&mut bytes, 8);
    bytes.extend_from_slice(body);
    bytes
}

/// Bytes before the header's fields.
const HEAD: usize = 16;

/// The number at `at`, in the byte order of the message.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?.try_into().ok()?;
    match bytes[0] {
        b'B' => Some(u32::from_be_bytes(four)),
        _ => Some(u32::from_le_bytes(four)),
    }
}

/// Bytes of the message that `bytes` begin with. `None`: too few came to tell.
fn length(bytes: &[u8]) -> Option<usize> {
    let (body, fields) = (number(bytes, 4)? as usize, number(bytes, 12)? as usize);
    Some(HEAD + fields.next_multiple_of(8) + body)
}

/// A message that came, as far as it matters.
#[derive(Debug, PartialEq)]
struct Message {
    kind: u8,
    flags: u8,
    serial: u32,
    /// Serial of the call that this one answers; 0: of none.
    answers: u32,
    sender: String,
    /// The body, if it is a number.
    number: u32,
}

impl Message {
    /// `None`: nonsense.
    fn read(bytes: &[u8]) -> Option<Message> {
        let fields = HEAD + number(bytes, 12)? as usize;
        let mut message = Message {
            kind: bytes[1],
            flags: bytes[2],
            serial: number(bytes, 8)?,
            answers: 0,
            sender: String::new(),
            number: number(bytes, fields.next_multiple_of(8)).unwrap_or(0),
        };
        let mut at = HEAD;
        while at < fields {
            // A code, and a variant: a signature of one letter and the value.
            let (code, signature) = (*bytes.get(at)?, *bytes.get(at + 2)?);
            at += 4;
            let (start, length) = match signature {
                b'g' => (at + 1, usize::from(*bytes.get(at)?) + 1),
                b'u' => (at, 4),
                b's' | b'o' => (at + 4, number(bytes, at)? as usize + 1),
                _ => return None,
            };
            let value = bytes.get(start..start + length)?;
            match code {
                REPLY_SERIAL => message.answers = number(bytes, at)?,
                SENDER => {
                    message.sender = String::from_utf8_lossy(&value[..length - 1]).into_owned();
                }
                _ => {}
            }
            at = (start + length).next_multiple_of(8);
        }
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> Vec<u8> {
        let fields = vec![
            (PATH, Value::Path("/a")),
            (REPLY_SERIAL, Value::Number(7)),
            (SENDER, Value::Text(":1.42")),
            (MEMBER, Value::Text("GetAll")),
        ];
        message(CALL, 0, 9, fields, "u", &5_u32.to_le_bytes())
    }

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let bytes = call();
        assert_eq!(length(&bytes), Some(bytes.len()));
        let wanted = Message {
            kind: CALL,
            flags: 0,
            serial: 9,
            answers: 7,
            sender: ":1.42".into(),
            number: 5,
        };
        assert_eq!(Message::read(&bytes), Some(wanted));
    }

    /// The example of a signal's bytes, by hand from the specification's rules of alignment.
    #[test]
    fn a_signal_has_the_bytes_of_the_specification() {
        let fields = vec![
            (PATH, Value::Path("/a")),
            (INTERFACE, Value::Text("b.c")),
            (MEMBER, Value::Text("D")),
        ];
        let bytes = message(SIGNAL, NO_REPLY, 3, fields, "y", &[255]);
        let wanted = b"l\x04\x01\x01\x01\0\0\0\x03\0\0\0\x37\0\0\0\
            \x01\x01o\0\x02\0\0\0/a\0\0\0\0\0\0\
            \x02\x01s\0\x03\0\0\0b.c\0\0\0\0\0\
            \x03\x01s\0\x01\0\0\0D\0\0\0\0\0\0\0\
            \x08\x01g\0\x01y\0\0\xff";
        assert_eq!(bytes, wanted);
    }

    #[test]
    fn cut_and_changed_messages_are_refused_without_a_panic() {
        let bytes = call();
        for at in 0..bytes.len() {
            assert!(length(&bytes[..at]).is_none_or(|length| length == bytes.len()));
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = (length(&changed), Message::read(&changed));
            }
        }
    }
}
