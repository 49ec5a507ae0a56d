"""What the tests share: the command, slow policies to compare with, and a trace."""

from __future__ import annotations

import json
import os
import subprocess
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

import hotset

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def command() -> Any:
    """Runs ``hotset`` with arguments, and returns the document that it prints."""
    program = os.environ.get("HOTSET")
    if not program or not Path(program).exists():
        pytest.fail("HOTSET must be the path of the command hotset; tests/python sets it")

    def run(*arguments: object) -> Any:
        done = subprocess.run(
            [program, *map(str, arguments)], check=True, capture_output=True, text=True
        )
        return json.loads(done.stdout) if "--json" in arguments else done.stdout

    return run


@pytest.fixture(scope="session")
def mix() -> hotset.Trace:
    """A loop, a scan and zipf over 20,000 objects: 200,000 requests."""
    return hotset.generate("mix", 200_000, objects=20_000, seed=3)


def slow_lru(keys: Any, size: int) -> int:
    """LRU's misses, the obvious way."""
    cache: OrderedDict[Any, None] = OrderedDict()
    misses = 0
    for key in keys:
        if key in cache:
            cache.move_to_end(key)
            continue
        misses += 1
        if len(cache) == size:
            cache.popitem(last=False)
        cache[key] = None
    return misses
