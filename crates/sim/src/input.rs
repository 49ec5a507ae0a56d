//! What a policy is run on.
use crate::policy::Error;
use trace::{Flags, Trace};

/// Most requests that a trace may have: positions and one mark must fit 32 bits.
pub const MAX_REQUESTS: usize = (1 << 31) - 2;

/// A decoded trace: dense ids and, where the trace tells, how each request was made.
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
    /// An id that is not below `objects`, or more than [`MAX_REQUESTS`] requests.
    pub fn new(ids: &'a [u32], objects: usize) -> Result<Input<'a>, Error> {
        if ids.len() > MAX_REQUESTS || objects > MAX_REQUESTS {
            return Err(Error::TooLong(ids.len().max(objects)));
        }
        let objects = objects as u32;
        // One look here, so that no policy has to fear an id.
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

    /// A trace as it was read.
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

    /// Says how each request was made.
    ///
    /// # Errors
    /// When there are not as many flags as requests.
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

    /// Distinct objects.
    pub fn objects(&self) -> u32 {
        self.objects
    }

    /// How each request was made, where the trace tells.
    pub fn flags(&self) -> Option<&'a [Flags]> {
        self.flags
    }
}
