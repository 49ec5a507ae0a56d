"""Traces: requests for objects, in order."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any, Optional, Union, overload

from hotset import _hotset
from hotset._keys import in_memory, numbered, refuse_masked

if TYPE_CHECKING:
    import numpy
    import numpy.typing

    Ids = numpy.typing.NDArray[numpy.uint32]

#: Called with what is done and the total, in the unit that the function documents.
Progress = Callable[[int, int], object]


class Flags(enum.IntFlag):
    """What a request is besides its object. Linux's models use it.

    >>> import hotset
    >>> hotset.Flags.ANON | hotset.Flags.MAPPED == 6
    True
    """

    #: A write. Without this flag: a read.
    WRITE = 1
    #: Anonymous memory. Without this flag: memory of a file.
    ANON = 2
    #: An access through a mapping. Without this flag: an access through a file descriptor.
    MAPPED = 4
    #: An instruction fetch.
    EXEC = 8


class Trace:
    """Requests for objects, in order. It never changes, takes four bytes a request, and pickles.

    Objects are numbered densely, 0, 1, 2 and so on, in order of first appearance: :attr:`ids` has the number of each
    request's object.

    Parameters
    ----------
    keys
        The key of each request's object, of shape ``(requests,)``. Arrays of integers are read where they are, without
        a copy: NumPy's of any integer type and stride, Arrow's arrays, chunked arrays and streams, and columns of
        pandas and Polars. So are Arrow's strings. Anything else, such as a list, and strings of NumPy, is numbered key
        by key in Python, which is slower, and copies. The array must not change while it is read. A path is no array:
        :meth:`open` reads files.
    flags
        An array of integers of shape ``(requests,)``, each a sum of :class:`Flags`.
    name
        The trace's name in results.

    Raises
    ------
    ValueError
        The keys have a shape other than ``(requests,)``, are floats, or one is null, None or masked.
    TypeError
        The keys are one text, or nothing that can be iterated.

    Examples
    --------
    >>> import hotset
    >>> trace = hotset.Trace([7, 8, 7, 9], name="four")
    >>> trace
    Trace('four', requests=4, objects=3)
    >>> list(trace)
    [0, 1, 0, 2]
    >>> hotset.Trace(["a", "b", "a"]).objects
    2
    """

    __slots__ = ("_held",)
    _held: _hotset.Trace

    def __init__(self, keys: Any, *, flags: Any = None, name: str = "array") -> None:
        if isinstance(keys, Trace):
            raise TypeError("keys are a Trace already")
        if isinstance(keys, (str, bytes, PathLike)):
            raise TypeError(f"{keys!r}: expected a key for each request; Trace.open reads files")
        if flags is not None and not hasattr(flags, "__array_interface__"):
            flags = bytes(flags)
        refuse_masked("flag", flags)
        refuse_masked("key", keys)
        keys = in_memory(keys)
        if hasattr(keys, "__array_interface__"):
            self._held = _hotset.Trace.from_array(keys, name, flags)
        elif hasattr(keys, "__arrow_c_stream__") or hasattr(keys, "__arrow_c_array__"):
            self._held = _hotset.Trace.from_arrow(keys, name, flags)
        else:
            self._held = numbered(keys, name, flags)

    @classmethod
    def _of(cls, held: _hotset.Trace) -> Trace:
        trace = cls.__new__(cls)
        trace._held = held
        return trace

    @classmethod
    def open(
        cls,
        path: Union[str, PathLike[str]],
        format: Optional[str] = None,
        *,
        count: Optional[int] = None,
        flags: bool = True,
        memory: Union[int, str, None] = None,
        skip_bad: bool = False,
        writes: Optional[bool] = None,
        page_size: Optional[int] = None,
        unit_spaces: Optional[bool] = None,
        split: Optional[bool] = None,
        block_size: Optional[int] = None,
        names: Optional[str] = None,
        id_column: Union[str, int, None] = None,
        op_column: Union[str, int, None] = None,
        time_column: Union[str, int, None] = None,
        size_column: Union[str, int, None] = None,
        addresses: Optional[bool] = None,
        header: Optional[bool] = None,
        delimiter: Optional[str] = None,
        progress: Optional[Progress] = None,
    ) -> Trace:
        """Read a file, ``.zst`` and ``.gz`` unpacked. Python's lock is free meanwhile, and Ctrl-C works.

        Parameters
        ----------
        path
            The file; ``-`` is standard input.
        format
            oracleGeneral, spc, csv, text or lackey. None guesses it from the file's name and contents.
        count
            The most requests to read.
        flags
            Keep reads, writes, anonymous and mapped memory apart where the format has them: a byte a request.
        memory
            Bytes to spend on the trace and its simulation, as a number or as text: ``"512M"``. A larger trace becomes
            a sample of its objects, and results are estimates with 95% intervals. None is no bound.
        skip_bad
            Leave malformed lines and records out. :attr:`malformed` counts them.
        writes
            False leaves writes out. For spc, and csv with a column of operations.
        page_size
            Bytes of a page, a power of two, 4096 by default. Pages are the objects of spc, lackey and csv with
            addresses.
        unit_spaces, split, block_size
            For spc: each unit has its own addresses (True); a request counts for each of its pages (True); bytes of a
            block (512).
        names
            Objects are ``"numbers"``, ``"strings"``, or as the first one looks (``"auto"``). For text and csv.
        id_column, op_column, time_column, size_column
            Columns of csv, by name or by number from 1.
        addresses
            For csv: the id is an address in bytes.
        header
            For csv: the first line names the columns (True).
        delimiter
            For csv: one character, or "tab". None guesses it.
        progress
            Called with the bytes of the file read and its length, ten times a second; a length of 0 is not known.

        Raises
        ------
        OSError
            The file cannot be read.
        ValueError
            It is malformed or has no request, or an option does not fit its format.

        Warns
        -----
        UserWarning
            Of a csv, the object's column was guessed, or a first line that looks like a request names the columns.

        Examples
        --------
        >>> import hotset, tempfile, pathlib
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name, "small.csv")
        >>> _ = path.write_text("time,object\\n1,a\\n2,b\\n3,a\\n")
        >>> hotset.Trace.open(path, id_column="object")
        Trace('small.csv', requests=3, objects=2)
        """
        columns = (id_column, op_column, time_column, size_column)
        id_, op, time, size = (None if c is None else str(c) for c in columns)
        if not isinstance(memory, str):
            memory = _asked("memory", memory, _U64)
        options = {
            "format": format,
            "count": _asked("count", count, _U64),
            "flags": flags,
            "memory": memory,
            "skip_bad": skip_bad,
            "writes": writes,
            "page_size": _asked("page_size", page_size, _U32),
            "unit_spaces": unit_spaces,
            "split": split,
            "block_size": _asked("block_size", block_size, _U32),
            "names": names,
            "id_column": id_,
            "op_column": op,
            "time_column": time,
            "size_column": size,
            "addresses": addresses,
            "header": header,
            "delimiter": delimiter,
        }
        return cls._of(_hotset.Trace.open(path, options, progress))

    @property
    def name(self) -> str:
        """The file's name without its folder, or the name that was given."""
        return self._held.name

    @property
    def format(self) -> Optional[str]:
        """The format of the file; None for a trace of no file."""
        return self._held.about[1]

    @property
    def requests(self) -> int:
        """The number of requests in memory. ``len()`` is the same."""
        return len(self._held)

    @property
    def objects(self) -> int:
        """The number of distinct objects in memory: the footprint, unless the trace is a sample."""
        return self._held.about[0]

    @property
    def malformed(self) -> int:
        """Malformed lines or records that were left out."""
        return self._held.about[2]

    @property
    def sample(self) -> Optional[tuple[int, int]]:
        """Of a sample: that one object in so many was kept, and the requests of the whole trace. Else None."""
        return self._held.about[4]

    @property
    def ids(self) -> Ids:
        """The number of each request's object: a NumPy array of uint32, of shape ``(requests,)``, read-only. It shows
        the trace's own memory, so nothing is copied. Needs NumPy.
        """
        import numpy

        return numpy.asarray(self)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._held.__array_interface__

    def stats(self, *, progress: Optional[Progress] = None) -> dict[str, Any]:
        """Measure popularity and reuse in one pass.

        Parameters
        ----------
        progress
            Called with the requests measured and their number, ten times a second.

        Returns
        -------
        dict
            ``requests`` and ``objects``; ``compulsory_miss_ratio``, the share of requests that are the first of their
            object; ``one_hit_wonders``, objects requested once; ``zipf_alpha``, fitted, and ``zipf_distance``, how far
            the fit is off, None without popular objects; ``reuse_time_median`` in requests and
            ``reuse_distance_median`` in objects, None where no object is requested twice.

        Examples
        --------
        >>> import hotset
        >>> hotset.Trace([1, 2, 1, 2]).stats()["reuse_distance_median"]
        2
        """
        return self._held.stats(progress)

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[int]:
        for start in range(0, len(self), _CHUNK):
            yield from self._held.ids(start, start + _CHUNK)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Trace: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[int, Trace]:
        """The number of a request's object, or the trace of consecutive requests, its objects numbered anew.

        >>> import hotset
        >>> trace = hotset.Trace([7, 8, 9, 8])
        >>> trace[-1], trace[2:]
        (1, Trace('array', requests=2, objects=2))
        """
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                raise ValueError(f"a step of {step}: a part of a trace has consecutive requests")
            if self.sample is not None:
                raise ValueError("this trace is a sample: its requests are not consecutive")
            return Trace._of(self._held.part(start, max(start, stop)))
        at = range(len(self))[index]
        return self._held.ids(at, at + 1)[0]

    def __repr__(self) -> str:
        return f"Trace({self.name!r}, requests={self.requests}, objects={self.objects})"

    def __eq__(self, other: object) -> bool:
        """Whether all requests and their flags are the same, whatever the names and files. A sample is the same as no
        whole trace.
        """
        return self._held.same(other._held) if isinstance(other, Trace) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.requests, self.objects, self.sample))

    def __reduce__(self) -> tuple[Any, ...]:
        held = self._held
        return _restore, (held.name, held.id_bytes(), held.flag_bytes(), held.about)


#: The largest numbers of the compiled part.
_U32, _U64 = (1 << 32) - 1, (1 << 64) - 1


def whole(name: str, value: Any, most: int = _U64) -> int:
    """A whole number that was given: an int, one of NumPy, or a float without a fraction."""
    try:
        number = int(value)
        if number == value and 0 <= number <= most:
            return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{name}={value!r}: expected a whole number, 0 to {most}")


def _asked(name: str, value: Any, most: int) -> Optional[int]:
    return None if value is None else whole(name, value, most)


#: Requests whose numbers become Python's integers at once.
_CHUNK = 1 << 14


def _restore(name: str, ids: bytes, flags: Optional[bytes], about: Any) -> Trace:
    return Trace._of(_hotset.Trace.from_ids(name, ids, flags, about))
