//! The interface between policies and the engine, and the description of a policy for users.
use crate::error::Error;
use crate::input::Input;
use std::collections::BTreeMap;
use std::fmt;

/// A replacement policy at one size, in the middle of a trace.
pub trait Policy {
    /// Serves request `at` of the trace, for object `id`, and returns whether it hits. Every miss is
    /// admitted.
    fn request(&mut self, id: u32, at: usize) -> bool;

    /// Prefetches the memory of `id`, which is requested [`crate::engine::AHEAD`] requests later.
    #[inline(always)]
    fn prefetch(&self, _id: u32) {}

    /// Prefetches the memory that the memory of `id` points to. `id` is requested [`crate::engine::SOON`]
    /// requests later, and the memory that [`Policy::prefetch`] named has arrived.
    #[inline(always)]
    fn prefetch_soon(&self, _id: u32) {}

    /// The policy's own counters besides misses, by name.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Memory of the policy in bytes, without the trace.
    fn bytes(&self) -> usize;
}

/// A policy with its own compiled loop: one call for each stretch of the trace, not for each request.
pub trait Running: Send {
    /// Runs requests `from..to` and returns how many missed. Stretches come in order.
    fn stretch(&mut self, input: &Input, from: usize, to: usize) -> u64;

    /// As [`Running::stretch`], and puts into `hits` whether each request hit.
    fn stretch_hits(&mut self, input: &Input, from: usize, to: usize, hits: &mut Vec<bool>);

    /// See [`Policy::counters`].
    fn counters(&self) -> Vec<(&'static str, u64)>;

    /// See [`Policy::bytes`].
    fn bytes(&self) -> usize;
}

/// The counts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub requests: u64,
    pub misses: u64,
    /// The policy's own counters, by name. Linux's models count refaults, activations and scans.
    pub counters: Vec<(&'static str, u64)>,
    /// Memory of the policy in bytes, without the trace.
    pub bytes: usize,
}

/// A parameter of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    /// The default as it would be written on the command line.
    pub default: &'static str,
    pub help: &'static str,
}

/// A policy as [`crate::registry`] knows it.
#[derive(Clone, Copy)]
pub struct Description {
    pub name: &'static str,
    /// Authors, title, venue and year of its paper, or the files of the kernel.
    pub paper: &'static str,
    pub parameters: &'static [Parameter],
    pub build: for<'a> fn(&Setup<'a, '_>) -> Result<Box<dyn Running + 'a>, Error>,
}

/// The input for building a policy: the trace, the size and the parameters.
pub struct Setup<'a, 'p> {
    pub input: Input<'a>,
    /// Objects that fit: at least 1 and at most [`Input::objects`], because more room changes nothing.
    pub size: u32,
    pub(crate) description: &'p Description,
    pub(crate) values: &'p BTreeMap<String, String>,
}

impl Setup<'_, '_> {
    /// The value of a parameter, or its default.
    ///
    /// # Errors
    /// The value cannot be parsed as a `T`.
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
    /// As [`Setup::value`], or the value lies outside of `range`.
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

    /// The error for a value that a policy cannot take.
    pub fn refuse(&self, name: &str, value: &str, expected: &str) -> Error {
        Error::Value {
            policy: self.description.name.to_string(),
            parameter: name.to_string(),
            value: value.to_string(),
            expected: expected.to_string(),
        }
    }
}
