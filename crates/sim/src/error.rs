//! Why a policy cannot be run as asked.
use std::fmt;

/// The most requests that a trace may have: positions and one mark must fit 32 bits.
pub const MAX_REQUESTS: usize = (1 << 31) - 2;

/// Why a policy cannot be run as asked.
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
    /// The size is zero objects.
    Size,
    /// An id is not below the number of objects.
    Id { at: usize, id: u32, objects: u32 },
    /// The number of flags is not the number of requests.
    Flags { flags: usize, requests: usize },
    /// The requests have no sizes, or not one each.
    Sizes { sizes: usize, requests: usize },
    /// The policy is not known for objects of different sizes.
    OneSize { policy: String, known: String },
    /// There are more requests than positions have numbers.
    TooLong(usize),
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Policy { name, known } => {
                let guess = names::suggestion(name, known.split(", "));
                write!(
                    f,
                    "there is no policy {name:?}: expected one of {known}{guess}"
                )
            }
            Error::Parameter {
                policy,
                parameter,
                known,
            } if known.is_empty() => {
                write!(f, "{policy} has no parameters: leave out {parameter:?}")
            }
            Error::Parameter {
                policy,
                parameter,
                known,
            } => {
                let guess = names::suggestion(parameter, known.split(", "));
                write!(
                    f,
                    "{policy} has no parameter {parameter:?}: expected one of {known}{guess}"
                )
            }
            Error::Value {
                policy,
                parameter,
                value,
                expected,
            } => write!(f, "{policy}: {parameter}={value}: expected {expected}"),
            Error::Size => write!(f, "size 0: a cache holds at least one object"),
            Error::Id { at, id, objects } => write!(
                f,
                "request {at}: object {id} is not below the trace's {objects} objects"
            ),
            Error::Flags { flags, requests } => {
                write!(
                    f,
                    "{flags} flags for {requests} requests: expected one for each"
                )
            }
            Error::Sizes { sizes: 0, .. } => write!(f, "the requests have no sizes"),
            Error::Sizes { sizes, requests } => write!(
                f,
                "{sizes} sizes for {requests} requests: expected one for each"
            ),
            Error::OneSize { policy, known } => write!(
                f,
                "{policy} is for objects of one size: expected one of {known}"
            ),
            Error::TooLong(requests) => write!(
                f,
                "{requests} requests or objects: at most {} are possible; split the trace",
                MAX_REQUESTS
            ),
        }
    }
}
