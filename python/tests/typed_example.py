"""A user's program, for mypy --strict."""

from __future__ import annotations

import numpy

import hotset


class Fifo(hotset.EvictionPolicy):
    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.queue: list[int] = []

    def miss(self, page: int) -> None:
        self.queue.append(page)

    def evict(self, page: int) -> int:
        return self.queue.pop(0)


def best(trace: hotset.Trace, size: float) -> str:
    results = hotset.simulate(trace, ["lru", "arc", Fifo], size, progress=tell)
    known = [row for row in results if row["misses"] is not None]
    return min(known, key=lambda row: row["miss_ratio"] or 0.0)["policy"]


def tell(done: int, total: int) -> None:
    print(f"{done} of {total}")


keys = numpy.arange(1000, dtype=numpy.uint64) % 100
trace = hotset.Trace(keys, name="loop")
first: int = int(trace.ids[0])
name: str = best(trace, 0.5)
ratios: list[float | None] = [row["miss_ratio"] for row in hotset.curve(trace, sample=0.5)]
