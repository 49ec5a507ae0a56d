"""Replacement policies: the compiled ones by name, and those written in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Optional

from hotset import _hotset


def policies() -> list[dict[str, Any]]:
    """The compiled policies, Linux's models among them: for each its ``name``, its ``paper``, and its ``parameters``,
    each with ``name``, ``default`` and ``help``.

    >>> import hotset
    >>> [policy["name"] for policy in hotset.policies()][-2:]
    ['linux-two-list', 'mglru']
    """
    return _hotset.policies()


def policy(name: str, **parameters: object) -> str:
    """A compiled policy with parameters, as :func:`simulate` takes it and as results name it.

    Parameters
    ----------
    name
        The policy's name. Case and hyphens do not matter.
    parameters
        Those that :func:`policies` lists.

    Raises
    ------
    ValueError
        The policy or a parameter is unknown.

    Examples
    --------
    >>> import hotset
    >>> hotset.policy("LIRS", history=2)
    'lirs:history=2'
    """
    pairs = ",".join(f"{parameter}={value}" for parameter, value in parameters.items())
    return _hotset.policy(f"{name}:{pairs}" if pairs else name)


class Policy(ABC):
    """A policy written in Python. It is about a hundred times slower than a compiled one.

    A subclass has ``access``. :func:`simulate` makes one object of the class for each size, as ``cls(size)``, with the
    size in objects. In results the policy has its class's name, or the class's attribute ``name``.

    Nothing checks that the objects for which ``access`` returns True would fit into ``size`` places.
    :class:`EvictionPolicy` does.

    Examples
    --------
    >>> import hotset
    >>> class MyLru(hotset.Policy):
    ...     def __init__(self, size):
    ...         self.size = size
    ...         self.pages = {}
    ...
    ...     def access(self, page):
    ...         hit = self.pages.pop(page, False)
    ...         if not hit and len(self.pages) == self.size:
    ...             del self.pages[next(iter(self.pages))]
    ...         self.pages[page] = True
    ...         return hit
    >>> trace = hotset.generate("zipf", 5000, objects=500)
    >>> mine, compiled = hotset.simulate(trace, [MyLru, "lru"], [50])
    >>> mine["policy"], mine["misses"] == compiled["misses"]
    ('MyLru', True)
    """

    #: The policy's name in results. None: the class's name.
    name: Optional[str] = None

    def __init__(self, size: int) -> None:
        #: Objects that the cache holds.
        self.size = size

    @abstractmethod
    def access(self, page: int) -> bool:
        """Serve a request for object ``page``, and return whether it hits. Every miss is admitted. Requests come in the
        order of the trace.
        """


class EvictionPolicy(Policy):
    """A policy as three hooks. What is resident is kept and checked here, and the hooks decide what goes.

    Examples
    --------
    >>> import hotset
    >>> class MyFifo(hotset.EvictionPolicy):
    ...     def __init__(self, size):
    ...         super().__init__(size)
    ...         self.queue = []
    ...
    ...     def miss(self, page):
    ...         self.queue.append(page)
    ...
    ...     def evict(self, page):
    ...         return self.queue.pop(0)
    >>> trace = hotset.generate("zipf", 5000, objects=500)
    >>> mine, compiled = hotset.simulate(trace, [MyFifo, "fifo"], [50])
    >>> mine["misses"] == compiled["misses"]
    True
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        #: Objects in the cache. Hooks may look, and must not change it.
        self.resident: set[int] = set()

    # A hook that is not overridden has nothing to do.
    def hit(self, page: int) -> None:  # noqa: B027
        """``page`` is resident and was requested."""

    def miss(self, page: int) -> None:  # noqa: B027
        """``page`` was requested, and has just become resident."""

    @abstractmethod
    def evict(self, page: int) -> int:
        """The cache is full, and there must be room for ``page``: return a resident object, which goes."""

    def access(self, page: int) -> bool:
        """Serve a request by the hooks."""
        resident = self.resident
        if page in resident:
            self.hit(page)
            return True
        if len(resident) >= self.size:
            victim = self.evict(page)
            if victim not in resident:
                raise ValueError(
                    f"{type(self).__name__}.evict returned {victim!r}, which is not in the cache"
                )
            resident.remove(victim)
        resident.add(page)
        self.miss(page)
        return False
