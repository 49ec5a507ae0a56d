"""Policies and curves on traces."""

from __future__ import annotations

import itertools
import numbers
import os
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Optional, Union, cast

from hotset import _hotset
from hotset._policies import Policy
from hotset._results import Results, Row
from hotset._trace import Progress, Trace, whole

#: A policy's name, a subclass of Policy, or anything else that makes an object with ``access`` of a size.
AnyPolicy = Union[str, Callable[[int], Policy]]

#: Objects (an int), a share of the footprint (a float), or text such as "64M", "1%" and "1%..50%:12".
Size = Union[int, float, str]

#: Requests that a policy in Python serves at once.
_CHUNK = 1 << 13

#: Seconds between two calls of a progress function.
_PERIOD = 0.1


def simulate(
    trace: Trace,
    policies: Union[AnyPolicy, Sequence[AnyPolicy]] = "all",
    sizes: Union[Size, Iterable[Size]] = "10%",
    *,
    warmup: int = 0,
    object_size: int = 4096,
    jobs: Optional[int] = None,
    progress: Optional[Progress] = None,
) -> Results:
    """Run policies on a trace, and count misses exactly.

    Compiled policies run on several threads without Python's lock. Ctrl-C ends the call within a second. Policies
    written in Python run one after the other behind the compiled ones, and hold the lock.

    Parameters
    ----------
    trace
        The requests.
    policies
        Names that :func:`hotset.policies` lists, with parameters as in ``"lirs:history=2"``; ``"all"`` is all of them;
        or subclasses of :class:`hotset.Policy`.
    sizes
        Of the cache: an int counts objects; a float up to 1.0 is a share of the trace's distinct objects, rounded down;
        text is as on the command line: ``"10e3"`` objects, ``"64M"`` bytes, ``"1%"`` of the objects, and
        ``"1%..50%:12"`` for twelve sizes, each the same factor above the one before.
    warmup
        The first requests, so many, fill the caches and are not counted: neither as requests nor as misses. The
        counters of Linux's models count all.
    object_size
        Bytes of an object, for sizes in bytes.
    jobs
        Policies and sizes at once. None: one for each processor that this process may use.
    progress
        Called with the requests simulated and their number over all policies and sizes, ten times a second.

    Returns
    -------
    Results
        A row for each policy and size, policy by policy.

    Raises
    ------
    ValueError
        A policy, a parameter or a size is wrong.
    KeyboardInterrupt
        Somebody pressed Ctrl-C.

    Examples
    --------
    >>> import hotset
    >>> trace = hotset.generate("loop", 1000, objects=100)
    >>> results = hotset.simulate(trace, ["lru", "opt"], [50, 0.5, "100%"])
    >>> [(row["policy"], row["size_objects"], row["miss_ratio"]) for row in results]
    [('lru', 50, 1.0), ('lru', 100, 0.1), ('opt', 50, 0.55), ('opt', 100, 0.1)]
    """
    chosen = _policies(policies)
    room = _sizes(trace, sizes, object_size)
    names = [policy for policy in chosen if isinstance(policy, str)]
    written = len(chosen) - len(names)
    if written and trace.sample is not None:
        raise ValueError("a policy in Python needs the whole trace, and this one is a sample")
    if not 0 <= warmup < len(trace) or (warmup and trace.sample is not None):
        raise ValueError(f"warmup={warmup}: expected less than the requests of the trace, and 0 for a sample")
    seen = _Seen(progress, len(trace) * len(room) * written)
    held = trace._held
    threads = _threads(jobs)
    compiled = iter(
        _hotset.simulate(held, names, room, warmup, threads, seen.before) if names else []
    )
    rows: list[Row] = []
    for policy in chosen:
        if isinstance(policy, str):
            rows.extend(itertools.islice(compiled, len(room)))
        else:
            rows.extend(_run(policy, held, size, warmup, seen) for size in room)
    return Results(held.identity(), rows)


def curve(
    trace: Trace,
    sizes: Union[Size, Iterable[Size], None] = None,
    *,
    policies: Union[AnyPolicy, Sequence[AnyPolicy]] = "lru",
    sample: Optional[float] = None,
    seed: int = 0,
    object_size: int = 4096,
    jobs: Optional[int] = None,
    progress: Optional[Progress] = None,
) -> Results:
    """Miss ratio curves.

    LRU alone is exact at all sizes in one pass (R. L. Mattson et al., IBM Systems Journal 9(2), 1970). Other policies
    run size by size, as in :func:`simulate`.

    Parameters
    ----------
    trace
        The requests.
    sizes
        As for :func:`simulate`. None: 40 sizes from one object to all.
    policies
        As for :func:`simulate`.
    sample
        Estimate LRU from this share of the objects, above 0 and at most 1 (C. Waldspurger et al., SHARDS, FAST 2015).
        Rows then have 95% intervals, or ``not_available`` where the sample is too small.
    seed
        Another seed samples other objects.
    object_size, jobs, progress
        As for :func:`simulate`.

    Returns
    -------
    Results
        A row for each policy and size.

    Raises
    ------
    ValueError
        A policy or a size is wrong, or ``sample`` is given for other policies than LRU.

    Examples
    --------
    >>> import hotset
    >>> trace = hotset.generate("zipf", 100_000, objects=10_000)
    >>> exact, = hotset.curve(trace, [0.1])
    >>> estimated, = hotset.curve(trace, [0.1], sample=0.2)
    >>> estimated["miss_ratio_low_95"] < exact["miss_ratio"] < estimated["miss_ratio_high_95"]
    True
    """
    seed = whole("seed", seed)
    if sizes is None:
        one_in = trace.sample[0] if trace.sample else 1
        sizes = f"1..{max(2, trace.objects * one_in)}:40"
    chosen = _policies(policies)
    lru = chosen == ["lru"]
    if sample is not None:
        if not lru or trace.sample is not None:
            raise ValueError("sample estimates LRU alone, on a whole trace")
        if not 0.0 < sample <= 1.0:
            raise ValueError(f"sample={sample}: expected a share above 0 and at most 1")
    if not lru or trace.sample is not None:
        return simulate(
            trace, chosen, sizes, object_size=object_size, jobs=jobs, progress=progress
        )
    room = sorted(_sizes(trace, sizes, object_size))
    about = trace._held.identity()
    about["sampled_share"] = sample
    return Results(about, _hotset.curve(trace._held, room, sample, seed, progress))


def _policies(given: Union[AnyPolicy, Sequence[AnyPolicy]]) -> list[AnyPolicy]:
    """The policies, compiled ones by their names in results."""
    several = [given] if isinstance(given, str) or callable(given) else list(given)
    chosen: list[AnyPolicy] = []
    for policy in several:
        if policy == "all":
            chosen.extend(known["name"] for known in _hotset.policies())
        elif isinstance(policy, str):
            chosen.append(_hotset.policy(policy))
        elif callable(policy):
            chosen.append(policy)
        else:
            raise TypeError(f"{policy!r} is no policy: expected a name, or a subclass of hotset.Policy")
    if not chosen:
        raise ValueError("no policy: hotset.policies() lists them")
    return chosen


def _sizes(trace: Trace, given: Union[Size, Iterable[Size]], object_size: int) -> list[int]:
    # Numbers of NumPy are Real too.
    one = isinstance(given, (str, numbers.Real))
    several = [given] if one else list(cast(Iterable[Size], given))
    if not several:
        raise ValueError("no size: expected objects (4096), a share (0.1) or text (64M)")
    if object_size < 1:
        raise ValueError(f"object_size={object_size}: an object has at least one byte")
    return _hotset.sizes(trace._held, several, object_size)


def _threads(jobs: Optional[int]) -> int:
    if jobs is None:
        return len(os.sched_getaffinity(0))
    if jobs < 1:
        raise ValueError(f"jobs={jobs}: expected 1 or more")
    return jobs


class _Seen:
    """Progress over the compiled policies and those in Python."""

    def __init__(self, progress: Optional[Progress], behind: int) -> None:
        self._progress = progress
        self._behind = behind
        self._done = self._total = 0
        self._shown = 0.0
        self.before = None if progress is None else self._compiled

    def _compiled(self, done: int, total: int) -> None:
        self._done, self._total = done, total
        if self._progress is not None:
            self._progress(done, total + self._behind)

    def advance(self, more: int) -> None:
        self._done += more
        total = self._total + self._behind
        now = time.monotonic()
        if self._progress is not None and (now - self._shown > _PERIOD or self._done == total):
            self._shown = now
            self._progress(self._done, total)


def _run(
    make: Callable[[int], Policy], trace: _hotset.Trace, size: int, warmup: int, seen: _Seen
) -> Row:
    """One run of a policy in Python."""
    policy = make(size)
    name = getattr(policy, "name", None) or type(policy).__name__
    access = policy.access
    misses = 0
    start = 0
    while start < len(trace):
        end = warmup if start < warmup else len(trace)
        served = list(map(access, trace.ids(start, min(end, start + _CHUNK))))
        missed = served.count(False)
        if missed + served.count(True) != len(served):
            wrong = next(one for one in served if one not in (True, False))
            raise TypeError(f"{name}.access returned {wrong!r}: expected True for a hit, False for a miss")
        misses += missed if start >= warmup else 0
        start += len(served)
        seen.advance(len(served))
    requests = len(trace) - warmup
    return {
        "policy": name,
        "size_objects": size,
        "requests": requests,
        "misses": misses,
        "miss_ratio": misses / requests,
        "miss_ratio_low_95": None,
        "miss_ratio_high_95": None,
        "not_available": None,
        "counters": {},
    }
