"""Ctrl-C ends every long call within a second, and other threads run meanwhile."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import hotset

#: Each of these takes many seconds.
LONG = {
    "simulate": "hotset.simulate(trace, 'all', [0.01, 0.1], jobs=2)",
    "simulate a sample": "hotset.simulate(sampled, 'all', ['1%..50%:60'], jobs=2)",
    "curve": "[hotset.curve(trace) for _ in range(99)]",
    "sampled curve": "hotset.curve(trace, ['1..1000000:9999'], sample=0.9)",
    "stats": "[trace.stats() for _ in range(99)]",
    "generate": "hotset.generate('zipf', 2_000_000_000, objects=1000)",
    "open": "[hotset.Trace.open(path) for _ in range(99)]",
    "small chunks": "hotset.Trace(pyarrow.chunked_array([pyarrow.array(['a', 'b'] * 2**18)] * 2000))",
    "policy in Python": "hotset.simulate(trace, Mine, [10_000])",
}

SCRIPT = """
import hotset, pyarrow, sys, time

class Mine(hotset.EvictionPolicy):
    def evict(self, page):
        return next(iter(self.resident))

path = sys.argv[1]
trace = hotset.generate("zipf", 10_000_000, objects=2_000_000)
sampled = hotset.Trace.open(path, memory="60M")
assert sampled.sample
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(0)
print("ended")
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory, command: Any) -> Path:
    path = tmp_path_factory.mktemp("long") / "t.bin"
    command("trace", "generate", "zipf", "--count", 3_000_000, "--objects", 2_000_000, path)
    return path


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_ends_it(name: str, path: Path) -> None:
    script = SCRIPT.replace("{call}", LONG[name])
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - sent < 1
        assert process.wait(10) == 0


def test_other_threads_run_meanwhile() -> None:
    trace = hotset.generate("zipf", 3_000_000, objects=500_000)
    turns = 0
    over = threading.Event()

    def count() -> None:
        nonlocal turns
        while not over.is_set():
            turns += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.monotonic()
    hotset.simulate(trace, ["lru", "arc", "lirs", "mglru"], [0.1], jobs=1)
    lasted = time.monotonic() - begun
    over.set()
    thread.join()
    # With the lock held it would have had no turn. A loaded machine gives few.
    assert turns > 10 * lasted
