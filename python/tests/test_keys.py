"""Traces from arrays: what is read where it is, and what is refused."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy
import pandas
import polars
import pyarrow
import pytest

import hotset

KEYS = [5, 9, 5, 2**40, 0, 9, 5, 7]
IDS = [0, 1, 0, 2, 3, 1, 0, 4]
SMALL = [5, 9, 5, 100, 0, 9, 5, 7]


def test_any_iterable_is_numbered_in_order_of_first_appearance() -> None:
    assert list(hotset.Trace(KEYS)) == IDS
    assert list(hotset.Trace(str(key) for key in KEYS)) == IDS
    assert list(hotset.Trace([(key, "x") for key in KEYS])) == IDS


@pytest.mark.parametrize("kind", ["u1", "i1", "<u2", ">u2", "<i4", ">i4", "<u4", "<i8", ">i8", "<u8", ">u8"])
def test_numpy_arrays_of_every_integer_type(kind: str) -> None:
    array = numpy.array(SMALL, dtype=kind)
    assert list(hotset.Trace(array)) == IDS
    assert list(hotset.Trace(numpy.repeat(array, 3)[::3])) == IDS
    backwards = hotset.Trace(array[::-1])
    assert list(backwards) == list(hotset.Trace(SMALL[::-1]))


def test_negative_keys_are_keys_of_their_own() -> None:
    for kind in ("i1", "i2", "i4", "i8"):
        assert list(hotset.Trace(numpy.array([-1, 1, -2, -1], dtype=kind))) == [0, 1, 2, 0]


@pytest.mark.parametrize(
    "column",
    [
        pandas.Series(KEYS),
        pandas.Series(KEYS, dtype="uint64"),
        pandas.Series(KEYS, dtype="Int64"),
        pandas.Series(KEYS, dtype="int64[pyarrow]"),
        pandas.Series([str(key) for key in KEYS]),
        pandas.Series([str(key) for key in KEYS], dtype="category"),
        pandas.Series([str(key) for key in KEYS], dtype="string[pyarrow]"),
        pandas.DataFrame({"a": KEYS, "b": KEYS})["b"],
        pandas.Index(KEYS).to_series(),
        numpy.array([str(key) for key in KEYS]),
        numpy.array(KEYS, dtype=object),
    ],
    ids=lambda column: str(column.dtype),
)
def test_columns_of_pandas_and_numpy(column: Any) -> None:
    assert list(hotset.Trace(column)) == IDS


@pytest.mark.parametrize("kind", [pyarrow.int64(), pyarrow.uint64()])
def test_arrow_arrays_slices_and_chunks(kind: Any) -> None:
    array = pyarrow.array(KEYS, type=kind)
    assert list(hotset.Trace(array)) == IDS
    assert list(hotset.Trace(pyarrow.array([1, 2, *KEYS, 3], type=kind)[2:-1])) == IDS
    assert list(hotset.Trace(pyarrow.chunked_array([array[:3], array[3:3], array[3:]]))) == IDS
    assert hotset.Trace(array.filter(pyarrow.array([True] * 8))) == hotset.Trace(KEYS)


def test_columns_of_polars() -> None:
    assert list(hotset.Trace(polars.Series(KEYS))) == IDS
    frame = polars.DataFrame({"page": [f"a name of some length: {key}" for key in KEYS]})
    assert list(hotset.Trace(frame["page"])) == IDS
    assert list(hotset.Trace(frame["page"].cast(polars.Categorical))) == IDS


def test_arrow_strings() -> None:
    words = ["", "a", "", "b" * 40, "é", "a", "", "c"]
    for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.binary(), pyarrow.string_view()):
        array = pyarrow.array(words).cast(kind)
        assert list(hotset.Trace(array)) == IDS, kind
        assert list(hotset.Trace(pyarrow.chunked_array([array[:5], array[5:]]))) == IDS, kind
    assert list(hotset.Trace(pyarrow.array(["x", *words])[1:])) == IDS


def test_arrow_dictionaries() -> None:
    words = pyarrow.array(["", "a", "", "b", "c", "a", "", "d"]).dictionary_encode()
    assert list(hotset.Trace(words)) == IDS and list(hotset.Trace(words[1:])) == [0, 1, 2, 3, 0, 1, 4]
    numbers = pyarrow.array(KEYS).dictionary_encode()
    assert list(hotset.Trace(numbers)) == IDS
    # Each chunk has a dictionary of its own, and a dictionary may have a word twice.
    first = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 2]), ["x", "y", "x"])
    second = pyarrow.DictionaryArray.from_arrays(pyarrow.array([1, 0]), ["x", "z"])
    assert list(hotset.Trace(pyarrow.chunked_array([first, second]))) == [0, 1, 0, 2, 0]


def test_a_null_is_refused_with_its_place() -> None:
    with pytest.raises(ValueError, match="key 1 of the array is null"):
        hotset.Trace(pyarrow.array([1, None, 2]))
    with pytest.raises(ValueError, match="key 0 of the array is null"):
        hotset.Trace(pyarrow.array([1, None, 2])[1:])
    with pytest.raises(ValueError, match="key 2 of the array is null"):
        hotset.Trace(pyarrow.array(["a", "b", None]))
    with pytest.raises(ValueError, match="missing"):
        hotset.Trace(pandas.Series([1, None], dtype="Int64"))
    with pytest.raises(ValueError, match="missing"):
        hotset.Trace(pandas.Series(["a", None]))


def test_what_is_no_column_of_keys_is_refused() -> None:
    with pytest.raises(ValueError, match='"<f8"'):
        hotset.Trace(numpy.array([1.0, 2.0]))
    with pytest.raises(ValueError, match='".b1"'):
        hotset.Trace(numpy.array([True, False]))
    with pytest.raises(ValueError, match="2 dimensions"):
        hotset.Trace(numpy.zeros((2, 2), dtype="i8"))
    with pytest.raises(ValueError, match="expected integers"):
        hotset.Trace(pyarrow.array([1.5]))
    with pytest.raises(ValueError, match="2 dimensions"):
        hotset.Trace(numpy.array([["a", "b"]]))
    with pytest.raises(ValueError, match="0 dimensions"):
        hotset.Trace(numpy.array("trace.bin"))
    with pytest.raises(ValueError, match="column"):
        hotset.Trace(pyarrow.table({"a": [1], "b": [2]}))
    with pytest.raises(ValueError, match="one column"):
        hotset.Trace(pandas.DataFrame({"a": [1], "b": [2]}))
    with pytest.raises(TypeError):
        hotset.Trace(7)


@pytest.mark.parametrize("missing", [None, 2.5, 1.0, float("nan"), numpy.float32(1), pandas.NA, pandas.NaT])
def test_a_list_with_a_float_or_a_missing_key_is_refused(missing: Any) -> None:
    for keys in ([1, missing, 2], (1, missing), iter([1, missing]), numpy.array([1, missing], dtype=object)):
        with pytest.raises(ValueError, match="key 1 is "):
            hotset.Trace(keys)


def test_masked_values_are_refused() -> None:
    for kind in ("i8", object, "U3"):
        whole = numpy.ma.array(numpy.array([1, 2, 1], dtype=kind))
        assert list(hotset.Trace(whole)) == [0, 1, 0]
        whole[1] = numpy.ma.masked
        with pytest.raises(ValueError, match="a key is masked"):
            hotset.Trace(whole)
    with pytest.raises(ValueError, match="a flag is masked"):
        hotset.Trace([1, 2], flags=numpy.ma.array([0, 1], mask=[False, True]))


@pytest.mark.parametrize("path", ["trace.bin", b"trace.bin", Path("trace.bin")])
def test_a_path_is_no_trace_of_characters(path: Any) -> None:
    with pytest.raises(TypeError, match="Trace.open reads files"):
        hotset.Trace(path)


def test_a_length_without_the_memory_is_refused() -> None:
    class Stream:
        """Says that it is longer than it is."""

        def __len__(self) -> int:
            return int(1e14)

        def __arrow_c_stream__(self, asked: Any = None) -> Any:
            return pyarrow.chunked_array([[1, 2]]).__arrow_c_stream__(asked)

    long = numpy.broadcast_to(numpy.int8(7), 10**14)
    with pytest.raises(ValueError, match="100000000000000 requests: a trace has 2147483646 at most"):
        hotset.Trace(long)
    with pytest.raises(ValueError, match="requests: a trace has"):
        hotset.Trace(Stream())
    with pytest.raises(ValueError, match="100000000000000 flags for 2 requests"):
        hotset.Trace([1, 2], flags=long)


@pytest.mark.parametrize(("gigabytes", "expected"), [(0.7, "MemoryError"), (1.3, "200000000")])
def test_too_little_memory_is_an_error(gigabytes: float, expected: str) -> None:
    # The ids take 0.8 GB. An array of small keys would take as much again, and is made smaller.
    script = f"""
import numpy, resource
import hotset
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
most = used + int({gigabytes} * 1e9)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
try:
    print(hotset.Trace(numpy.broadcast_to(numpy.int8(7), 200_000_000)).requests)
except MemoryError:
    print("MemoryError")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == expected + "\n", done.stderr


def test_flags_are_kept_and_checked() -> None:
    array = numpy.array(KEYS)
    flags = numpy.array([0, 1, 2, 6, 0, 0, 15, 4], dtype="u1")
    one = hotset.Trace(array, flags=flags)
    assert one == hotset.Trace(KEYS, flags=list(flags)) == hotset.Trace(array, flags=flags.astype("i8"))
    assert one != hotset.Trace(array)
    with pytest.raises(ValueError, match="7 flags for 8 requests"):
        hotset.Trace(array, flags=flags[:7])
    with pytest.raises(ValueError, match="flags 16"):
        hotset.Trace(array, flags=flags + 1)


def test_a_large_array_is_not_copied() -> None:
    # NumPy and pandas report their memory to tracemalloc, so a copy of 16 MB would show.
    keys = numpy.arange(2_000_000, dtype="int64") % 1000
    column = pandas.Series(keys, copy=False)
    tracemalloc.start()
    for source in (keys, keys[::2], column):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[1]
        hotset.Trace(source)
        assert tracemalloc.get_traced_memory()[1] - before < 1_000_000
    tracemalloc.stop()


def test_ids_show_the_traces_own_memory() -> None:
    trace = hotset.Trace(KEYS)
    ids = trace.ids
    assert ids.dtype == numpy.uint32 and ids.tolist() == IDS
    assert ids.ctypes.data == trace.ids.ctypes.data
    with pytest.raises(ValueError):
        ids[0] = 1
    del trace
    assert ids.tolist() == IDS


def test_parts_are_traces_of_consecutive_requests() -> None:
    flags = list(range(8))
    trace = hotset.Trace(KEYS, flags=flags)
    for start, stop in ((0, 8), (2, 5), (3, None), (None, -3), (-4, -1)):
        assert trace[start:stop] == hotset.Trace(KEYS[start:stop], flags=flags[start:stop])
    assert [trace[at] for at in range(-8, 8)] == IDS + IDS
    with pytest.raises(IndexError):
        trace[8]
    with pytest.raises(ValueError, match="step"):
        trace[::2]
    with pytest.raises(ValueError, match="no request"):
        trace[5:3]
