//! The trace that a policy is run on.
use crate::error::{Error, MAX_REQUESTS};
use trace::{Flags, Trace};

/// A decoded trace: dense ids and, where the format has them, the flags of each request.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    ids: &'a [u32],
    objects: u32,
    flags: Option<&'a [Flags]>,
}

impl<'a> Input<'a> {
    /// `ids[i]` is the object of request `i`, below `objects`.
    ///
    /// # Errors
    /// An id is not below `objects`, or there are more than [`MAX_REQUESTS`] requests.
    pub fn new(ids: &'a [u32], objects: usize) -> Result<Input<'a>, Error> {
        if ids.len() > MAX_REQUESTS || objects > MAX_REQUESTS {
            return Err(Error::TooLong(ids.len().max(objects)));
        }
        let objects = objects as u32;
        // Checked once here, so that policies may index by id.
        match ids.iter().position(|&id| id >= objects) {
            Some(at) => Err(Error::Id {
                at,
                id: ids[at],
                objects,
            }),
            None => Ok(Input {
                ids,
                objects,
                flags: None,
            }),
        }
    }

    /// The input of a trace as it was read.
    ///
    /// # Errors
    /// As [`Input::new`].
    pub fn of(trace: &'a Trace) -> Result<Input<'a>, Error> {
        let input = Input::new(&trace.ids, trace.objects as usize)?;
        match &trace.flags {
            Some(flags) => input.with_flags(flags),
            None => Ok(input),
        }
    }

    /// Adds the flags of each request.
    ///
    /// # Errors
    /// There are not as many flags as requests.
    pub fn with_flags(self, flags: &'a [Flags]) -> Result<Input<'a>, Error> {
        if flags.len() != self.ids.len() {
            return Err(Error::Flags {
                flags: flags.len(),
                requests: self.ids.len(),
            });
        }
        Ok(Input {
            flags: Some(flags),
            ..self
        })
    }

    /// The object of each request.
    pub fn ids(&self) -> &'a [u32] {
        self.ids
    }

    /// The number of distinct objects.
    pub fn objects(&self) -> u32 {
        self.objects
    }

    /// The flags of each request, where the format has them.
    pub fn flags(&self) -> Option<&'a [Flags]> {
        self.flags
    }
}
