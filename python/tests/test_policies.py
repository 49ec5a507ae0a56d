"""Policies written in Python."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

import hotset


class Lru(hotset.Policy):
    """LRU by one method."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.pages: OrderedDict[int, None] = OrderedDict()

    def access(self, page: int) -> bool:
        if page in self.pages:
            self.pages.move_to_end(page)
            return True
        if len(self.pages) == self.size:
            self.pages.popitem(last=False)
        self.pages[page] = None
        return False


class Mru(hotset.EvictionPolicy):
    """MRU by hooks."""

    name = "my-mru"

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.last = -1

    def hit(self, page: int) -> None:
        self.last = page

    def miss(self, page: int) -> None:
        self.last = page

    def evict(self, page: int) -> int:
        return self.last


def test_they_count_as_the_compiled_ones(mix: hotset.Trace) -> None:
    sizes = [1, 50, 3000]
    results = hotset.simulate(mix, [Lru, "lru", Mru, "mru"], sizes)
    by_name = {
        name: [row["misses"] for row in results if row["policy"] == name]
        for name in ("Lru", "lru", "my-mru", "mru")
    }
    order = [row["policy"] for row in results[::3]]
    assert order == ["Lru", "lru", "my-mru", "mru"]
    assert by_name["Lru"] == by_name["lru"] and by_name["my-mru"] == by_name["mru"]
    assert len(results.to_pandas()) == 12


def test_any_maker_of_an_object_with_access_will_do(mix: hotset.Trace) -> None:
    class Duck:
        def access(self, page: int) -> bool:
            return page == 0

    (row,) = hotset.simulate(mix, lambda size: Duck(), [5])  # type: ignore[arg-type,return-value]
    assert row["policy"] == "Duck" and row["requests"] - row["misses"] == list(mix).count(0)


def test_mistakes_are_named(mix: hotset.Trace) -> None:
    class Forgetful(Lru):
        def access(self, page: int) -> Any:
            super().access(page)

    class Wrong(Mru):
        def evict(self, page: int) -> int:
            return page

    with pytest.raises(TypeError, match="Forgetful.access returned None"):
        hotset.simulate(mix, Forgetful, [5])
    with pytest.raises(ValueError, match="Wrong.evict returned .* not in the cache"):
        hotset.simulate(mix, Wrong, [5])
    with pytest.raises(TypeError, match="abstract"):
        hotset.simulate(mix, hotset.Policy, [5])


def test_progress_covers_both_kinds(mix: hotset.Trace) -> None:
    told: list[tuple[int, int]] = []
    hotset.simulate(mix, ["lru", Lru], [5, 50], progress=lambda *both: told.append(both))
    assert told == sorted(told) and told[-1] == (800_000, 800_000)
    assert {total for _, total in told} == {800_000}
