"""The results of simulations, as rows and as tables of other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional, TypedDict, Union, overload

if TYPE_CHECKING:
    import pandas
    import pyarrow


class Row(TypedDict):
    """One policy at one size."""

    #: The policy with its parameters.
    policy: str
    #: The size of the cache in objects.
    size_objects: int
    #: Requests of the trace.
    requests: int
    #: Requests that missed. An estimate has an interval; None where a sample was too small.
    misses: Optional[int]
    #: Misses divided by requests, from 0 to 1.
    miss_ratio: Optional[float]
    #: The ends of an estimate's 95% interval. None where misses are exact.
    miss_ratio_low_95: Optional[float]
    miss_ratio_high_95: Optional[float]
    #: Why there is no estimate. None where there is.
    not_available: Optional[str]
    #: The policy's own counts, by name: Linux's models count refaults, activations and scans.
    counters: dict[str, int]


class Results:
    """Rows of :func:`hotset.simulate` and :func:`hotset.curve`, in order. They pickle.

    ``len()``, iteration and indices are those of a list of :class:`Row`.

    Examples
    --------
    >>> import hotset
    >>> results = hotset.simulate(hotset.Trace([1, 2, 1, 3]), ["lru"], [1, 2])
    >>> len(results), results[1]["misses"]
    (2, 3)
    >>> results.trace["requests"]
    4
    """

    #: The trace: ``name``, ``requests``, ``objects``, ``digest``, ``objects_estimated``, ``sampled_share``,
    #: ``malformed_left_out``, ``writes_left_out``.
    trace: dict[str, Any]
    #: The rows.
    rows: list[Row]

    def __init__(self, trace: dict[str, Any], rows: list[Row]) -> None:
        self.trace = trace
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Row, list[Row]]:
        return self.rows[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Results):
            return NotImplemented
        return self.trace == other.trace and self.rows == other.rows

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lines = [f"{self.trace['name']}: {self.trace['requests']} requests, {self.trace['objects']} objects"]
        lines.append(f"{'policy':<24}{'size':>12}{'misses':>14}{'miss ratio':>12}")
        for row in self.rows:
            ratio = "n/a" if row["miss_ratio"] is None else f"{row['miss_ratio']:.6f}"
            misses = "n/a" if row["misses"] is None else str(row["misses"])
            lines.append(f"{row['policy']:<24}{row['size_objects']:>12}{misses:>14}{ratio:>12}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns by name, each a list with a value for each row: those of ``hotset sim sweep --csv``, then
        ``not_available``, then a column for each counter that any policy has.

        >>> import hotset
        >>> hotset.simulate(hotset.Trace([1, 2, 1]), "lru", [1]).to_dict()["misses"]
        [3]
        """
        columns: dict[str, list[Any]] = {"trace": [self.trace["name"]] * len(self.rows)}
        for name in _COLUMNS:
            columns[name] = [row[name] for row in self.rows]  # type: ignore[literal-required]
        counters = sorted({name for row in self.rows for name in row["counters"]})
        for name in counters:
            columns[name] = [row["counters"].get(name) for row in self.rows]
        return columns

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each policy and size, with the columns of :meth:`to_dict`. Counts that may lack are ``Int64``,
        ratios ``float64``. Needs pandas.
        """
        import pandas

        columns = self.to_dict()
        frame = pandas.DataFrame(columns)
        types = {name: _PANDAS.get(name, "Int64") for name in columns}
        return frame.astype(types)

    def to_arrow(self) -> pyarrow.Table:
        """As :meth:`to_pandas`, as a table of Arrow: counts are int64, ratios double. Needs pyarrow."""
        import pyarrow

        columns = self.to_dict()
        types = {"object": pyarrow.string(), "float64": pyarrow.float64()}
        whole = pyarrow.int64()
        fields = [(name, types.get(_PANDAS.get(name, ""), whole)) for name in columns]
        return pyarrow.table(columns, schema=pyarrow.schema(fields))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


#: The columns that every row has.
_COLUMNS = (
    "policy",
    "size_objects",
    "requests",
    "misses",
    "miss_ratio",
    "miss_ratio_low_95",
    "miss_ratio_high_95",
    "not_available",
)

#: pandas' types of columns that are no counts.
_PANDAS = {
    "trace": "object",
    "policy": "object",
    "size_objects": "int64",
    "requests": "int64",
    "miss_ratio": "float64",
    "miss_ratio_low_95": "float64",
    "miss_ratio_high_95": "float64",
    "not_available": "object",
}
