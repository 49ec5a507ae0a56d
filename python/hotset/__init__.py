"""Cache replacement policies on traces of requests.

A :class:`Trace` holds requests. :func:`simulate` runs policies on it and counts misses exactly, :func:`curve` gives
miss ratio curves, and :func:`generate` makes traces by a rule. Every object takes one place in a cache: sizes and miss
ratios count objects, not bytes.

>>> import hotset
>>> trace = hotset.generate("zipf", 100_000, objects=10_000, seed=1)
>>> results = hotset.simulate(trace, ["lru", "arc", "opt"], ["10%"])
>>> for row in results:
...     print(row["policy"], row["size_objects"], row["misses"])
lru 857 34694
arc 857 29414
opt 857 20654
"""

from __future__ import annotations

from hotset._generate import generate
from hotset._hotset import __version__
from hotset._policies import EvictionPolicy, Policy, policies, policy
from hotset._results import Results, Row
from hotset._simulate import curve, simulate
from hotset._trace import Flags, Trace

__all__ = [
    "EvictionPolicy",
    "Flags",
    "Policy",
    "Results",
    "Row",
    "Trace",
    "__version__",
    "curve",
    "generate",
    "policies",
    "policy",
    "simulate",
]
