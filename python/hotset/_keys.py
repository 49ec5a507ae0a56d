"""Keys of requests: where they are in memory, and what is no key."""

from __future__ import annotations

import numbers
from array import array
from collections.abc import Iterable
from typing import Any

from hotset import _hotset


def refuse_masked(what: str, array: Any) -> None:
    """Refuses values that ``numpy.ma`` masks: the memory that is read has them like any other."""
    mask: Any = getattr(array, "mask", None)
    if hasattr(mask, "any") and mask.any():
        raise ValueError(f"a {what} is masked: every request needs one")


def in_memory(keys: Any) -> Any:
    """The part of the keys that is an array in memory: pandas' columns hold arrays of NumPy, of Arrow, or codes."""
    if hasattr(keys, "columns") and hasattr(keys, "iloc"):
        raise ValueError('a table: expected one column of it, such as frame["page"]')
    kind = getattr(getattr(keys, "dtype", None), "kind", "")
    if not hasattr(keys, "iloc"):
        # NumPy's strings and objects.
        if kind in ("O", "S", "U") and keys.ndim != 1:
            raise ValueError(f"an array of {keys.ndim} dimensions: expected one, a key for each request")
        return keys.tolist() if kind in ("O", "S", "U") else keys
    if kind in ("i", "u") and not hasattr(keys.dtype, "na_value"):
        # Columns of NumPy's integers cannot lack a key.
        return keys.to_numpy()
    if keys.isna().any():
        raise ValueError("a key is missing: every request needs one")
    values = keys.array
    if hasattr(values, "codes"):
        return values.codes
    # pandas' columns in Arrow's memory, which are chunked arrays.
    if type(values).__name__.startswith("Arrow"):
        return values.__arrow_array__()
    if kind not in ("i", "u", "f", "b"):
        return keys.tolist()
    return values.to_numpy(dtype=getattr(keys.dtype, "numpy_dtype", None), copy=False)


def _is_no_key(kind: type) -> bool:
    """Whether objects of this type are floats, or stand for a missing key: None, and those of pandas."""
    if kind is type(None) or kind.__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    return issubclass(kind, numbers.Real) and not issubclass(kind, numbers.Rational)


def numbered(keys: Iterable[Any], name: str, flags: Any) -> _hotset.Trace:
    """The trace of keys that Python numbers, one by one."""
    keys = keys if isinstance(keys, (list, tuple)) else list(keys)
    # By their types, not as keys of the dictionary: 1.0 is the same key as 1.
    wrong = tuple(kind for kind in set(map(type, keys)) if _is_no_key(kind))
    if wrong:
        at, key = next((at, key) for at, key in enumerate(keys) if type(key) in wrong)
        raise ValueError(f"key {at} is {key!r}: expected integers, strings or other keys, and no floats")
    known: dict[Any, int] = {}
    ids = array("I", [known.setdefault(key, len(known)) for key in keys])
    if ids.itemsize != 4:
        raise RuntimeError("this machine's unsigned int has no four bytes")
    return _hotset.Trace.from_ids(name, ids.tobytes(), flags, (len(known), None, 0, 0, None))
