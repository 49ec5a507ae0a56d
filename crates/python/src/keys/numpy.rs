//! Arrays with NumPy's array interface, version 3: a dictionary with address, type, shape and strides. Python's buffers
//! are in the stable interface from 3.11 on only.
use super::integers::{Integers, Type};
use crate::errors;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use trace::Flags;

/// The column of an array's integers. `array` must live as long as the column.
///
/// # Errors
/// It is no array of one dimension, or not of integers.
pub fn of_array(array: &Bound<'_, PyAny>) -> PyResult<Integers> {
    let interface = array
        .getattr("__array_interface__")?
        .cast_into::<PyDict>()?;
    let item = |name: &str| {
        let item = interface.get_item(name)?;
        item.ok_or_else(|| errors::value(format!("an array interface without {name}")))
    };
    let shape: Vec<usize> = item("shape")?.extract()?;
    let &[length] = &shape[..] else {
        let count = shape.len();
        return Err(errors::value(format!(
            "an array of {count} dimensions: expected one, a key for each request"
        )));
    };
    let (address, _): (usize, bool) = item("data")?.extract()?;
    let of = type_of(&item("typestr")?.extract::<String>()?)?;
    let strides: Option<Vec<isize>> = match interface.get_item("strides")? {
        Some(strides) => strides.extract()?,
        None => None,
    };
    let stride = strides.map_or(of.bytes as isize, |strides| strides[0]);
    // SAFETY: the interface promises that the memory can be read while `array` lives, which the caller sees to.
    // Python's lock is held while it is read, so no Python code writes to it.
    unsafe { Integers::new(address as *const u8, length, stride, of) }
}

/// Reads a type as NumPy writes it: `<i8`, `|u1`.
fn type_of(text: &str) -> PyResult<Type> {
    let wrong = || {
        errors::value(format!(
            "an array of type {text:?}: expected integers; number other keys first, as pandas.factorize does"
        ))
    };
    let (order, rest) = text.split_at_checked(1).ok_or_else(wrong)?;
    let (kind, bytes) = rest.split_at_checked(1).ok_or_else(wrong)?;
    let signed = match kind {
        "i" => true,
        "u" => false,
        _ => return Err(wrong()),
    };
    let others = if cfg!(target_endian = "little") {
        ">"
    } else {
        "<"
    };
    Ok(Type {
        bytes: bytes.parse().map_err(|_| wrong())?,
        signed,
        swapped: order == others,
    })
}

/// The flags of a trace of this length: bytes, or an array of integers.
///
/// # Errors
/// There are not as many, or one is no sum of flags.
pub fn flags_of(object: &Bound<'_, PyAny>, length: usize) -> PyResult<Vec<Flags>> {
    // Before they are read: an array can have any length without the memory.
    let check = |found: usize| match found == length {
        true => Ok(()),
        false => Err(errors::value(format!(
            "{found} flags for {length} requests: expected one for each"
        ))),
    };
    let mut wide = Vec::new();
    match object.cast::<PyBytes>() {
        Ok(bytes) => {
            check(bytes.as_bytes().len())?;
            wide.extend(bytes.as_bytes().iter().map(|&byte| u64::from(byte)));
        }
        Err(_) => {
            let column = of_array(object)?;
            check(column.len())?;
            column.read(0, column.len(), &mut wide);
        }
    }
    let all = Flags::WRITE | Flags::ANON | Flags::MAPPED | Flags::EXEC;
    let flags = wide.iter().map(|&flags| match u8::try_from(flags) {
        Ok(flags) if flags & !all.0 == 0 => Ok(Flags(flags)),
        _ => Err(errors::value(format!(
            "flags {flags}: expected a sum of hotset.Flags"
        ))),
    });
    flags.collect()
}
