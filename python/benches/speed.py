"""Speed on a trace in memory: hotset's package, the command, and libcachesim's package, interleaved in one run.

    python python/benches/speed.py [--requests N] [--repetitions N] [--written N]

Needs the wheel, libcachesim of PyPI, and HOTSET, the path of the command's release build. Times are CPU seconds in
user mode of one simulation on one thread: other programs of the machine disturb them least, and the kernel's share in
reading a file varies more than a simulation lasts. The command also reads the file, so it runs many sizes and one size, and the
difference counts. The package is measured likewise. libcachesim runs in a process of its own, so that its memory is not
in our way. It reads the file as it simulates, and has no other way: "package, file" reads it too.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Optional

import libcachesim

import hotset

POLICIES = {"fifo": "FIFO", "lru": "LRU", "arc": "ARC", "s3-fifo": "S3FIFO", "sieve": "Sieve", "lirs": "LIRS"}

#: Simulations whose time is measured at once.
MORE = 20

#: The process of libcachesim.
THEIRS = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))

#: A time in seconds, and misses.
Run = tuple[float, int]


def timed(work: Callable[[], Any], whose: int = resource.RUSAGE_SELF) -> tuple[float, Any]:
    """CPU seconds in user mode, of this process or of its children, and what the work made."""
    begun = resource.getrusage(whose).ru_utime
    made = work()
    return resource.getrusage(whose).ru_utime - begun, made


def misses_of(results: hotset.Results) -> int:
    count: Optional[int] = results[-1]["misses"]
    assert count is not None
    return count


class Compiled:
    """The same simulation in four ways."""

    def __init__(self, path: Path, trace: hotset.Trace, program: str) -> None:
        self.path, self.trace, self.program = path, trace, program
        size = trace.objects // 10
        self.sizes = [size + more for more in range(MORE + 1)]

    def package(self, policy: str) -> Run:
        one, _ = timed(lambda: hotset.simulate(self.trace, policy, self.sizes[:1], jobs=1))
        several, results = timed(lambda: hotset.simulate(self.trace, policy, self.sizes, jobs=1))
        return (several - one) / MORE, misses_of(results)

    def package_file(self, policy: str) -> Run:
        def work() -> hotset.Results:
            trace = hotset.Trace.open(self.path, flags=False)
            return hotset.simulate(trace, policy, self.sizes[-1], jobs=1)

        lasted, results = timed(work)
        return lasted, misses_of(results)

    def command(self, policy: str) -> Run:
        def run(sizes: list[int]) -> Run:
            text = ",".join(map(str, sizes))
            words = [self.program, "sim", "run", str(self.path), "-p", policy, "-s", text, "-j", "1", "--csv"]
            work = partial(subprocess.run, words, check=True, capture_output=True, text=True)
            lasted, done = timed(work, resource.RUSAGE_CHILDREN)
            return lasted, int(done.stdout.splitlines()[-1].split(",")[4])

        one, _ = run(self.sizes[:1])
        several, misses = run(self.sizes)
        return (several - one) / MORE, misses

    def libcachesim(self, policy: str) -> Run:
        lasted, ratio = THEIRS.submit(theirs, self.path, policy, self.sizes[-1], -1).result()
        return lasted, round(ratio * len(self.trace))


def theirs(path: Path, policy: str, size: int, requests: int) -> tuple[float, float]:
    """The time and the miss ratio of libcachesim, in a process of its own."""
    cache = plugin(size) if policy == "plugin" else getattr(libcachesim, POLICIES[policy])(cache_size=size)
    # A reader of its own each time: one that was read to its end stays there.
    lasted, (ratio, _) = timed(lambda: cache.process_trace(reader(path), max_req=requests))
    return lasted, ratio


def reader(path: Path) -> Any:
    kind = libcachesim.TraceType.ORACLE_GENERAL_TRACE
    return libcachesim.TraceReader(str(path), kind, libcachesim.ReaderInitParam(ignore_obj_size=True))


class Lru(hotset.Policy):
    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.pages: OrderedDict[int, None] = OrderedDict()

    def access(self, page: int) -> bool:
        if page in self.pages:
            self.pages.move_to_end(page)
            return True
        if len(self.pages) == self.size:
            self.pages.popitem(last=False)
        self.pages[page] = None
        return False


class HookedLru(hotset.EvictionPolicy):
    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.pages: OrderedDict[int, None] = OrderedDict()

    def hit(self, page: int) -> None:
        self.pages.move_to_end(page)

    def miss(self, page: int) -> None:
        self.pages[page] = None

    def evict(self, page: int) -> int:
        return self.pages.popitem(last=False)[0]


def plugin(size: int) -> Any:
    """The same LRU as hooks of libcachesim."""

    def hit(pages: OrderedDict[int, None], request: Any) -> None:
        pages.move_to_end(request.obj_id)

    def miss(pages: OrderedDict[int, None], request: Any) -> None:
        pages[request.obj_id] = None

    return libcachesim.PluginCache(
        cache_size=size,
        cache_init_hook=lambda _: OrderedDict(),
        cache_hit_hook=hit,
        cache_miss_hook=miss,
        cache_eviction_hook=lambda pages, _: pages.popitem(last=False)[0],
        cache_remove_hook=lambda pages, page: pages.pop(page, None),
        cache_free_hook=lambda pages: pages.clear(),
    )


class Written:
    """LRU written in Python, and the compiled one."""

    def __init__(self, path: Path, trace: hotset.Trace) -> None:
        self.path, self.trace = path, trace
        self.size = trace.objects // 10

    def ours(self, policy: Any) -> Run:
        lasted, results = timed(lambda: hotset.simulate(self.trace, policy, self.size, jobs=1))
        return lasted, misses_of(results)

    def theirs(self, _: Any) -> Run:
        requests = len(self.trace)
        lasted, ratio = THEIRS.submit(theirs, self.path, "plugin", self.size, requests).result()
        return lasted, round(ratio * requests)


def measure(title: str, runs: dict[str, Callable[[], Run]], repetitions: int) -> None:
    """Each of the runs in turn, forwards and backwards. Ratios are of times of the same turn."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    misses: dict[str, int] = {}
    for repetition in range(repetitions):
        for name in list(runs)[:: 1 if repetition % 2 == 0 else -1]:
            lasted, misses[name] = runs[name]()
            times[name].append(lasted)
    first = next(iter(runs))
    for name, all_ in times.items():
        ratios = sorted(time / base for time, base in zip(all_, times[first]))
        print(
            f"{title:10}{name:16}{statistics.median(all_):8.3f} s ({min(all_):.3f} to {max(all_):.3f})"
            f"{statistics.median(ratios):9.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f}) times {first}'s"
            f"{misses[name]:10} misses",
            flush=True,
        )


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--requests", type=int, default=10_000_000)
    options.add_argument("--repetitions", type=int, default=5)
    options.add_argument("--only", nargs="+", default=list(POLICIES), choices=list(POLICIES), help="policies")
    options.add_argument("--alone", action="store_true", help="the package and the command alone")
    options.add_argument("--written", type=int, default=1_000_000, help="requests for policies in Python")
    asked = options.parse_args()
    program = os.environ.get("HOTSET", "hotset")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mix.oracleGeneral.bin")
        words = [program, "trace", "generate", "mix", "--seed", "4242", "--objects", "2e6"]
        subprocess.run([*words, "--count", str(asked.requests), str(path)], check=True)
        trace = hotset.Trace.open(path)
        compiled = Compiled(path, trace, program)
        print(f"{trace!r}, size {compiled.sizes[-1]}, {asked.repetitions} repetitions; medians (least to most)")
        for policy in asked.only:
            ways: dict[str, Callable[[str], Run]] = {
                "package": compiled.package,
                "command": compiled.command,
            }
            if not asked.alone:
                ways |= {"package, file": compiled.package_file, "libcachesim": compiled.libcachesim}
            runs = {name: (lambda way=way, policy=policy: way(policy)) for name, way in ways.items()}
            measure(policy, runs, asked.repetitions)
        if asked.alone:
            return 0
        written = Written(path, trace[: asked.written])
        print(f"{written.trace!r}, size {written.size}: LRU written in Python")
        measure(
            "lru",
            {
                "compiled": lambda: written.ours("lru"),
                "Policy": lambda: written.ours(Lru),
                "EvictionPolicy": lambda: written.ours(HookedLru),
                "PluginCache": lambda: written.theirs(None),
            },
            asked.repetitions,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
