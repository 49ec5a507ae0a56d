//! Reading a document of another version.
use serde::de::{Deserialize, Deserializer, IgnoredAny};

/// Reads a value; one of another type is the default.
///
/// # Errors
/// The document's syntax is wrong.
pub fn field<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Read<T> {
        Known(T),
        Unknown(IgnoredAny),
    }
    Ok(match Read::deserialize(from)? {
        Read::Known(value) => value,
        Read::Unknown(_) => T::default(),
    })
}

/// Declares structs of the document, each field read by [`field`].
macro_rules! document {
    ($(
        $(#[doc = $about:literal])*
        pub struct $name:ident {
            $($(#[doc = $what:literal])* pub $field:ident: $type:ty,)*
        }
    )*) => {$(
        $(#[doc = $about])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        pub struct $name {
            $(
                $(#[doc = $what])*
                #[serde(deserialize_with = "crate::tolerant::field")]
                pub $field: $type,
            )*
        }
    )*};
}
pub(crate) use document;
