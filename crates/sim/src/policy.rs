//! What a policy is to the engine, and how it is described to people.
use crate::engine::Running;
use crate::Input;
use std::collections::BTreeMap;
use std::fmt;

/// A replacement policy at one size, in the middle of a trace.
pub trait Policy {
    /// Request `at` of the trace, for object `id`; true when it hits. Every miss is admitted.
    fn request(&mut self, id: u32, at: usize) -> bool;

    /// `id` comes in [`crate::engine::AHEAD`] requests: ask for its memory.
    #[inline(always)]
    fn prefetch(&self, _id: u32) {}

    /// `id` comes in [`crate::engine::SOON`] requests, and what [`Policy::prefetch`] asked for is
    /// there: ask for what that leads to.
    #[inline(always)]
    fn prefetch_soon(&self, _id: u32) {}

    /// What it counted besides misses, by name.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Bytes that it holds, without the trace.
    fn bytes(&self) -> usize;
}

/// What a run counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub requests: u64,
    pub misses: u64,
    /// What the policy itself counts, by name (Linux: refaults, activations, scans).
    pub counters: Vec<(&'static str, u64)>,
    /// Bytes that the policy held, without the trace.
    pub bytes: usize,
}

/// A parameter of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    /// As it would be written on the command line.
    pub default: &'static str,
    pub help: &'static str,
}

/// A policy as [`crate::registry`] knows it.
#[derive(Clone, Copy)]
pub struct Description {
    pub name: &'static str,
    /// Where it comes from: authors, title, venue and year; or the kernel's files.
    pub paper: &'static str,
    pub parameters: &'static [Parameter],
    pub build: for<'a> fn(&Setup<'a, '_>) -> Result<Box<dyn Running + 'a>, Error>,
}

/// What a policy is made of: the trace, the size and the parameters.
pub struct Setup<'a, 'p> {
    pub input: Input<'a>,
    /// Objects that fit, at least 1 and at most [`Input::objects`]: more changes nothing.
    pub size: u32,
    pub(crate) description: &'p Description,
    pub(crate) values: &'p BTreeMap<String, String>,
}

impl Setup<'_, '_> {
    /// The value of a parameter, or its default.
    ///
    /// # Errors
    /// When the value is not of the kind that is asked for.
    pub fn value<T: std::str::FromStr>(&self, name: &'static str) -> Result<T, Error> {
        let parameter = self
            .description
            .parameters
            .iter()
            .find(|known| known.name == name);
        let text = match self.values.get(name) {
            Some(text) => text.as_str(),
            None => parameter.map_or("", |known| known.default),
        };
        text.parse()
            .map_err(|_| self.refuse(name, text, parameter.map_or("", |known| known.help)))
    }

    /// As [`Setup::value`], within `range`.
    ///
    /// # Errors
    /// Also when it lies outside.
    pub fn value_in<T>(
        &self,
        name: &'static str,
        range: std::ops::RangeInclusive<T>,
    ) -> Result<T, Error>
    where
        T: std::str::FromStr + PartialOrd + fmt::Display,
    {
        let value: T = self.value(name)?;
        if range.contains(&value) {
            return Ok(value);
        }
        let expected = format!("{} to {}", range.start(), range.end());
        Err(self.refuse(name, &value.to_string(), &expected))
    }

    /// The error of a value that a policy cannot take.
    pub fn refuse(&self, name: &str, value: &str, expected: &str) -> Error {
        Error::Value {
            policy: self.description.name.to_string(),
            parameter: name.to_string(),
            value: value.to_string(),
            expected: expected.to_string(),
        }
    }
}

/// What can be wrong with what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// No policy has that name.
    Policy { name: String, known: String },
    /// The policy has no such parameter.
    Parameter {
        policy: String,
        parameter: String,
        known: String,
    },
    /// The parameter cannot have that value.
    Value {
        policy: String,
        parameter: String,
        value: String,
        expected: String,
    },
    /// A size of no objects.
    Size,
    /// An id beyond the number of objects.
    Id { at: usize, id: u32, objects: u32 },
    /// Not one flag a request.
    Flags { flags: usize, requests: usize },
    /// More requests than a position can number.
    TooLong(usize),
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Policy { name, known } => {
                write!(f, "there is no policy {name:?}; there are {known}")
            }
            Error::Parameter {
                policy,
                parameter,
                known,
            } => write!(f, "{policy} has no parameter {parameter:?}; it has {known}"),
            Error::Value {
                policy,
                parameter,
                value,
                expected,
            } => write!(f, "{policy}: {parameter}={value}: expected {expected}"),
            Error::Size => write!(f, "a cache of no objects; a size is at least 1"),
            Error::Id { at, id, objects } => write!(
                f,
                "request {at}: object {id}, but the trace says that it has {objects}"
            ),
            Error::Flags { flags, requests } => {
                write!(f, "{flags} flags for {requests} requests")
            }
            Error::TooLong(requests) => write!(
                f,
                "{requests} requests, of which at most {} can be numbered; split the trace",
                crate::input::MAX_REQUESTS
            ),
        }
    }
}
