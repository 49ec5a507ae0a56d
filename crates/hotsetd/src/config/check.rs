//! Errors of a configuration, and one setting with its checks.
use serde::de::{DeserializeOwned, IntoDeserializer};
use std::path::{Path, PathBuf};
use std::{fmt, io};
use toml::de::DeValue;
use toml::Spanned;

/// An error of a configuration, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub file: PathBuf,
    /// The line, counted from 1. 0: the file as a whole.
    pub line: usize,
    pub message: String,
    /// The file cannot be read: its content is not the cause.
    pub unreadable: bool,
}

impl Problem {
    /// A problem of a file as a whole.
    pub fn of(file: &Path, message: String) -> Problem {
        Problem {
            file: file.to_owned(),
            line: 0,
            message,
            unreadable: false,
        }
    }

    /// A file that cannot be read.
    pub fn unreadable(file: &Path, error: &io::Error) -> Problem {
        Problem {
            unreadable: true,
            ..Problem::of(file, format!("cannot be read: {}", names::io_error(error)))
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self.line {
            0 => write!(to, "{}: {}", names::shown(&self.file), self.message),
            line => write!(to, "{}:{line}: {}", names::shown(&self.file), self.message),
        }
    }
}

/// Two settings that contradict each other.
pub struct Contradiction {
    /// The settings, each with its section.
    pub names: [&'static str; 2],
    pub message: String,
}

/// The result of laying one setting over the configuration; the error is its message.
pub type Checked<T = ()> = Result<T, String>;

/// A word of a file as a message shows it: at most 60 characters.
pub fn shortened(word: &str) -> String {
    match word.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &word[..end]),
        None => word.to_owned(),
    }
}

/// A type of settings, as a message names it.
pub trait Kind: DeserializeOwned {
    const WANTED: &'static str;
}

macro_rules! kinds {
    ($($type:ty: $wanted:literal,)*) => {
        $(impl Kind for $type {
            const WANTED: &'static str = $wanted;
        })*
    };
}

kinds! {
    bool: "true or false",
    u8: "a whole number",
    u32: "a whole number",
    u64: "a whole number",
    i32: "a whole number",
    f64: "a number",
    String: "text in quotes",
    Vec<String>: "a list of texts, such as [\"sshd\"]",
    toml::Value: "a value",
}

/// One setting of a file.
pub struct Setting<'a> {
    pub name: &'a str,
    pub value: &'a Spanned<DeValue<'a>>,
}

impl Setting<'_> {
    /// The value as a `T`.
    ///
    /// # Errors
    /// The value is of another type.
    pub fn read<T: Kind>(&self) -> Checked<T> {
        self.deserialized().ok_or_else(|| {
            let found = self.deserialized::<toml::Value>();
            let found = found.map_or(String::new(), |value| shortened(&value.to_string()));
            format!("{} = {found}: expected {}", self.name, T::WANTED)
        })
    }

    fn deserialized<T: DeserializeOwned>(&self) -> Option<T> {
        T::deserialize(self.value.clone().into_deserializer()).ok()
    }

    /// A number from `least` to `most`.
    ///
    /// # Errors
    /// The value is no number, or out of the range.
    pub fn between<T>(&self, least: T, most: T) -> Checked<T>
    where
        T: Kind + PartialOrd + fmt::Display,
    {
        let outside = |value: &dyn fmt::Display| {
            let name = self.name;
            Err(format!(
                "{name}: {value} is out of range ({least} to {most})"
            ))
        };
        // Before `read`: an integer may be out of the range of `T` itself.
        match (self.deserialized::<T>(), self.deserialized::<i64>()) {
            // NaN is in no range.
            (Some(value), _) if value >= least && value <= most => Ok(value),
            (Some(value), _) => outside(&value),
            (None, Some(value)) => outside(&value),
            (None, None) => self.read(),
        }
    }

    /// Stores the value.
    ///
    /// # Errors
    /// As [`Setting::read`].
    pub fn store<T: Kind>(&self, into: &mut T) -> Checked {
        *into = self.read()?;
        Ok(())
    }

    /// Stores a number from `least` to `most`.
    ///
    /// # Errors
    /// As [`Setting::between`].
    pub fn store_between<T>(&self, least: T, most: T, into: &mut T) -> Checked
    where
        T: Kind + PartialOrd + fmt::Display,
    {
        *into = self.between(least, most)?;
        Ok(())
    }

    /// Parses a string by `parse`, and stores the result.
    ///
    /// # Errors
    /// The value is no string, or `parse` refuses it.
    pub fn store_parsed<T>(&self, into: &mut T, parse: impl FnOnce(&str) -> Checked<T>) -> Checked {
        *into = parse(&self.read::<String>()?)?;
        Ok(())
    }
}
