//! What the trial and its keeper tell each other: a JSON object a line.
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Bytes of a path or a word, which need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bytes(Vec<u8>);

impl<T: AsRef<std::ffi::OsStr>> From<T> for Bytes {
    fn from(text: T) -> Bytes {
        Bytes(text.as_ref().as_bytes().to_vec())
    }
}

impl Bytes {
    pub fn word(&self) -> OsString {
        OsString::from_vec(self.0.clone())
    }

    pub fn path(&self) -> PathBuf {
        self.word().into()
    }
}

/// An order of the trial. The keeper answers each with [`Message::Done`] or [`Message::Failed`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Order {
    /// Write a sysctl, after the journal has its value.
    Set { knob: String, value: String },
    /// Give all knobs back.
    GiveBack,
    /// Start hotsetd.
    Daemon { words: Vec<Bytes>, log: Bytes },
    /// End hotsetd, and give back what it leaves.
    EndDaemon,
    /// Start what runs beside the command; each line is a shell's.
    Beside { lines: Vec<String>, log: Bytes },
    /// Start the command.
    Command { words: Vec<Bytes>, log: Bytes },
    /// End the command, what runs beside it, and all that these have started.
    EndPrograms,
}

/// What the keeper says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// An order is carried out. The notes are for people.
    Done { notes: Vec<String> },
    /// An order is not carried out.
    Failed { why: String },
    /// The command has ended.
    Command(Ending),
    /// A program beside the command has failed.
    Beside { line: String, ending: Ending },
    /// hotsetd has ended by itself.
    Daemon(Ending),
}

/// The end of a program, and what it and the processes that it waited for have used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// Exit status; none where a signal ended the program.
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub wall_s: f64,
    pub user_s: f64,
    pub system_s: f64,
    /// Of the largest process.
    pub max_rss_kb: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
}

impl Ending {
    pub fn is_good(&self) -> bool {
        self.code == Some(0)
    }
}

impl std::fmt::Display for Ending {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(to, "ended with exit status {code}"),
            (None, Some(signal)) => write!(to, "was ended by signal {signal}"),
            (None, None) => write!(to, "ended"),
        }
    }
}
