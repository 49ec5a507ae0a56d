"""Traces made by a rule."""

from __future__ import annotations

from hotset import _hotset
from hotset._trace import Trace, whole


def generate(rule: str, requests: int, *, seed: int = 1, **options: object) -> Trace:
    """Make a trace by a rule. The same arguments make the same requests on every machine.

    ============  =====================================================  ==================================
    rule          requests                                               options and their defaults
    ============  =====================================================  ==================================
    zipf          the object of rank k in proportion to 1 / k**alpha     objects=1e6, alpha=1.0
    self-similar  a share alpha of requests to a share beta of objects,  objects=1e3, alpha=0.8, beta=0.2
                  and likewise within these
    uniform       all objects equally likely                             objects=1e6
    scan          each object once, in order                             in a mix: objects=1e6
    loop          all objects in order, repeated                         objects=1e5
    two-pool      one of a small pool and one of a large pool in turn    first=100, second=1e4
    markov        phases, each with its own working set                  phases=10, objects=1e4,
                                                                         overlap=0.0, mean=1e5
    mix           bursts of several rules                                parts, burst=64.0, objects=2e6
    ============  =====================================================  ==================================

    Zipf draws as ``numpy.random.Generator(numpy.random.PCG64(seed))`` does. ``parts`` of a mix is a list of tuples
    ``(weight, rule, options)``; without it a mix is a loop, a scan and zipf over ``objects`` objects.

    Parameters
    ----------
    rule
        A rule's name.
    requests
        The number of requests.
    seed
        Another seed draws other requests. 0 or more.
    options
        Those of the rule. Counts may be floats without a fraction, such as ``1e6``.

    Raises
    ------
    ValueError
        A rule or an option is unknown, or a value is out of range.

    Examples
    --------
    >>> import hotset
    >>> hotset.generate("loop", 1000, objects=100)
    Trace('loop', requests=1000, objects=100)
    >>> parts = [(0.7, "zipf", {"objects": 1000}), (0.3, "scan", {})]
    >>> len(hotset.generate("mix", 5000, parts=parts, seed=7))
    5000
    """
    requests, seed = whole("requests", requests), whole("seed", seed)
    return Trace._of(_hotset.Trace.generate(rule, requests, seed, dict(options)))
