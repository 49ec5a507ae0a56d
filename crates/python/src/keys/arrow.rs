//! Arrays and streams of Arrow's C data interface, in capsules of its PyCapsule interface.
use super::integers::{Integers, Type};
use super::strings::{Layout, Strings};
use super::{Column, Encoded};
use crate::errors;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::ffi::{c_char, c_int, c_void, CStr};
use std::ptr;

/// `struct ArrowSchema`.
#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

/// `struct ArrowArrayStream`.
#[repr(C)]
struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

/// A structure that a stream has filled in, and that is ours to release.
struct Owned<T>(T, fn(&mut T));

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        (self.1)(&mut self.0);
    }
}

/// Gives `take` the column of an Arrow array, or that of each array of an Arrow stream in turn.
///
/// # Errors
/// `take`'s; the arrays hold nulls, or neither integers nor strings; the stream fails.
pub fn each_array(
    object: &Bound<'_, PyAny>,
    take: &mut dyn FnMut(&Column) -> PyResult<()>,
) -> PyResult<()> {
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let capsule = capsule.cast_into::<PyCapsule>()?;
        let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
        // SAFETY: a capsule of this name holds a stream, which lives until the capsule goes at the end of this function.
        return unsafe { read_stream(stream.as_ptr().cast(), take) };
    }
    let both = object.call_method0("__arrow_c_array__")?;
    let both = both.cast_into::<PyTuple>()?;
    let (schema, array) = (both.get_item(0)?, both.get_item(1)?);
    let (schema, array) = (schema.cast::<PyCapsule>()?, array.cast::<PyCapsule>()?);
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?;
    let array = array.pointer_checked(Some(c"arrow_array"))?;
    // SAFETY: capsules of these names hold a schema and its array, which live until the tuple goes.
    let (schema, array) = unsafe {
        (
            schema.cast::<Schema>().as_ref(),
            array.cast::<Array>().as_ref(),
        )
    };
    // SAFETY: as above.
    take(&unsafe { column(&type_of(schema)?, array) }?)
}

/// # Safety
/// `stream` is a valid stream.
unsafe fn read_stream(
    stream: *mut Stream,
    take: &mut dyn FnMut(&Column) -> PyResult<()>,
) -> PyResult<()> {
    // SAFETY: the caller's promise.
    let (get_schema, get_next) = unsafe { ((*stream).get_schema, (*stream).get_next) };
    let (Some(get_schema), Some(get_next)) = (get_schema, get_next) else {
        return Err(errors::value("an Arrow stream that was read already"));
    };
    let release = |schema: &mut Schema| {
        if let Some(release) = schema.release {
            // SAFETY: the stream filled the schema in, with the function that releases it.
            unsafe { release(schema) }
        }
    };
    // SAFETY: all fields may be zero, and a structure without `release` counts as empty.
    let mut schema = Owned(unsafe { std::mem::zeroed::<Schema>() }, release);
    // SAFETY: the stream is valid, and the schema is empty.
    check(stream, unsafe { get_schema(stream, &mut schema.0) })?;
    // SAFETY: the stream filled the schema in.
    let of = unsafe { type_of(&schema.0) }?;
    loop {
        let release = |array: &mut Array| {
            if let Some(release) = array.release {
                // SAFETY: as for the schema.
                unsafe { release(array) }
            }
        };
        // SAFETY: as for the schema.
        let mut array = Owned(unsafe { std::mem::zeroed::<Array>() }, release);
        // SAFETY: the stream is valid, and the array is empty.
        check(stream, unsafe { get_next(stream, &mut array.0) })?;
        if array.0.release.is_none() {
            return Ok(());
        }
        // SAFETY: the stream filled the array in, by its schema.
        take(&unsafe { column(&of, &array.0) }?)?;
    }
}

/// The error of a stream's function that returned `status`.
fn check(stream: *mut Stream, status: c_int) -> PyResult<()> {
    if status == 0 {
        return Ok(());
    }
    // SAFETY: the stream is valid.
    let last = unsafe { (*stream).get_last_error };
    // SAFETY: as above; the stream's function has just failed.
    let text = last.map_or(ptr::null(), |last| unsafe { last(stream) });
    let text = match text.is_null() {
        true => format!("error {status}"),
        // SAFETY: the stream keeps the text until it is called again.
        false => unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned(),
    };
    Err(errors::value(format!("the Arrow stream failed: {text}")))
}

/// The type of an array's keys.
enum Keys {
    Integers(Type),
    Strings(Layout),
    /// Places of this type in a dictionary of these keys.
    Encoded(Type, Box<Keys>),
}

/// # Safety
/// `schema` is filled in.
unsafe fn type_of(schema: &Schema) -> PyResult<Keys> {
    // SAFETY: a schema's format is a text.
    let format = unsafe { CStr::from_ptr(schema.format) }.to_bytes();
    let integers = |bytes, signed| {
        Some(Keys::Integers(Type {
            bytes,
            signed,
            swapped: false,
        }))
    };
    let keys = match format {
        b"c" => integers(1, true),
        b"C" => integers(1, false),
        b"s" => integers(2, true),
        b"S" => integers(2, false),
        b"i" => integers(4, true),
        b"I" => integers(4, false),
        b"l" => integers(8, true),
        b"L" => integers(8, false),
        b"u" | b"z" => Some(Keys::Strings(Layout::Offsets)),
        b"U" | b"Z" => Some(Keys::Strings(Layout::LargeOffsets)),
        b"vu" | b"vz" => Some(Keys::Strings(Layout::Views)),
        _ => None,
    };
    let keys = keys.ok_or_else(|| {
        errors::value(format!(
            "an Arrow array of format {}: expected integers or strings; of a table name a column",
            format.escape_ascii()
        ))
    })?;
    match keys {
        Keys::Integers(places) if !schema.dictionary.is_null() => {
            // SAFETY: the dictionary's schema is filled in where there is one.
            let inner = unsafe { type_of(&*schema.dictionary) }?;
            Ok(Keys::Encoded(places, Box::new(inner)))
        }
        keys => Ok(keys),
    }
}

/// # Safety
/// `array` is filled in, with keys of this type, and outlives the column.
unsafe fn column(keys: &Keys, array: &Array) -> PyResult<Column> {
    let (length, offset) = (array.length as usize, array.offset as usize);
    // SAFETY: arrays of integers and of strings have two buffers or more: which are valid, and values or offsets.
    let (valid, data) = unsafe { (*array.buffers, *array.buffers.add(1)) };
    if array.null_count != 0 && !valid.is_null() {
        let valid = valid.cast::<u8>();
        let is_null = |at: &usize| {
            let bit = at + offset;
            // SAFETY: the buffer has a bit for each key.
            let byte = unsafe { *valid.add(bit / 8) };
            byte & (1 << (bit % 8)) == 0
        };
        if let Some(at) = (0..length).find(is_null) {
            return Err(errors::value(format!(
                "key {at} of the array is null: every request needs one"
            )));
        }
    }
    let integers = |of: Type| {
        let first = data.cast::<u8>().wrapping_add(offset * of.bytes);
        // SAFETY: the buffer has `offset + length` integers, and Arrow's arrays never change.
        unsafe { Integers::new(first, length, of.bytes as isize, of) }
    };
    Ok(match keys {
        Keys::Integers(of) => Column::Integers(integers(*of)?),
        Keys::Strings(layout) => {
            // SAFETY: the caller's promise, and Arrow's arrays never change.
            Column::Strings(unsafe { Strings::new(*layout, array.buffers.cast(), offset, length) })
        }
        Keys::Encoded(places, inner) => {
            // SAFETY: an array of this type has a dictionary of the inner type.
            let dictionary = unsafe { column(inner, &*array.dictionary) }?;
            Column::Encoded(Encoded::new(integers(*places)?, dictionary))
        }
    })
}
