//! The policy of a choice, for objects of different sizes.
use super::requests::{SizedInput, SizedPolicy};
use super::{lhd, list, s4_fifo};
use crate::policies::{multi_queue, reuse_distance};
use crate::registry::Choice;
use crate::Error;

/// The policies, by the names that [`crate::registry`] has for them. FIFO and LRU are yardsticks; the papers of
/// the others are about objects of different sizes. S4-FIFO at its defaults is S3-FIFO.
pub const POLICIES: [&str; 4] = ["fifo", "lru", "s4-fifo", "lhd"];

/// The policy of a choice, with `room` bytes, before the first request.
///
/// # Errors
/// No room, a policy that is not in [`POLICIES`], or a parameter that it cannot take.
pub fn build(
    choice: &Choice,
    input: &SizedInput,
    room: u64,
) -> Result<Box<dyn SizedPolicy>, Error> {
    if room == 0 {
        return Err(Error::Size);
    }
    let input = input.input();
    let objects = input.objects();
    let setup = choice.setup(input, 1);
    let name = choice.description().name;
    match name {
        "fifo" => Ok(Box::new(list::List::new(objects, room, false))),
        "lru" => Ok(Box::new(list::List::new(objects, room, true))),
        "s4-fifo" => {
            let settings = multi_queue::s4_fifo::Settings::of(&setup)?;
            Ok(Box::new(s4_fifo::S4Fifo::new(objects, room, &settings)))
        }
        "lhd" => {
            let settings = reuse_distance::lhd::Settings::of(&setup)?;
            Ok(Box::new(lhd::Lhd::new(objects, room, &settings)))
        }
        other => Err(Error::OneSize {
            policy: other.to_string(),
            known: POLICIES.join(", "),
        }),
    }
}
