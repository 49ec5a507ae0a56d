"""Speed on a trace in memory: hotset's package, the command, and libcachesim's package, interleaved in one run.

    python python/benches/speed.py [--requests N] [--repetitions N]

Needs the wheel, libcachesim of PyPI, and HOTSET, the path of the command's release build. Each time is of one simulation on
one thread. The command also reads the file, so it runs six sizes and one size: the difference is that of five simulations.
libcachesim reads the file as it simulates, and has no other way.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Optional

import hotset

POLICIES = {"lru": "LRU", "arc": "ARC", "s3-fifo": "S3FIFO", "sieve": "Sieve", "lirs": "LIRS"}


#: Simulations whose time is measured at once.
MORE = 5


def misses_of(count: Optional[int]) -> int:
    assert count is not None
    return count


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--requests", type=int, default=10_000_000)
    options.add_argument("--repetitions", type=int, default=5)
    asked = options.parse_args()
    program = os.environ.get("HOTSET", "hotset")
    import libcachesim

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mix.oracleGeneral.bin")
        make = ["trace", "generate", "mix", "--seed", "4242", "--objects", "2e6"]
        subprocess.run([program, *make, "--count", str(asked.requests), str(path)], check=True)
        trace = hotset.Trace.open(path)
        size = trace.objects // 10

        sizes = [size + more for more in range(MORE + 1)]

        def package(policy: str) -> tuple[float, int]:
            begun = time.perf_counter()
            results = hotset.simulate(trace, policy, sizes[1:], jobs=1)
            lasted = time.perf_counter() - begun
            return lasted / MORE, misses_of(results[-1]["misses"])

        def command(policy: str) -> tuple[float, int]:
            def run(some: list[int]) -> tuple[float, int]:
                text = ",".join(map(str, some))
                asked = [program, "sim", "run", str(path), "-p", policy, "-s", text, "-j", "1", "--csv"]
                begun = time.perf_counter()
                done = subprocess.run(asked, check=True, capture_output=True, text=True)
                lasted = time.perf_counter() - begun
                return lasted, int(done.stdout.splitlines()[-1].split(",")[4])

            one, _ = run(sizes[:1])
            all_, misses = run(sizes)
            return (all_ - one) / MORE, misses

        def theirs(policy: str) -> tuple[float, int]:
            # A reader of its own each time: one that was read to its end stays there.
            reader = libcachesim.TraceReader(
                str(path),
                libcachesim.TraceType.ORACLE_GENERAL_TRACE,
                libcachesim.ReaderInitParam(ignore_obj_size=True),
            )
            cache = getattr(libcachesim, POLICIES[policy])(cache_size=sizes[-1])
            begun = time.perf_counter()
            ratio, _ = cache.process_trace(reader)
            lasted = time.perf_counter() - begun
            return lasted, round(ratio * len(trace))

        times: dict[tuple[str, str], list[float]] = {}
        counts: dict[tuple[str, str], int] = {}
        for repetition in range(asked.repetitions):
            for policy in POLICIES:
                runs = {"package": package, "command": command, "libcachesim": theirs}
                order = list(runs) if repetition % 2 == 0 else list(runs)[::-1]
                for name in order:
                    lasted, counts[policy, name] = runs[name](policy)
                    times.setdefault((policy, name), []).append(lasted)

    print(f"{asked.requests} requests, {trace.objects} objects, size {size}, {asked.repetitions} repetitions")
    print("medians in s (least, most)")
    for policy in POLICIES:
        for name in ("package", "command", "libcachesim"):
            all_ = sorted(times[policy, name])
            ratio = statistics.median(b / a for a, b in zip(times[policy, "package"], times[policy, name]))
            print(
                f"{policy:10}{name:14}{statistics.median(all_):8.3f} ({all_[0]:.3f}, {all_[-1]:.3f})"
                f"   {ratio:7.3f} times the package's   {counts[policy, name]} misses"
            )
        assert counts[policy, "package"] == counts[policy, "command"]
    return 0


if __name__ == "__main__":
    sys.exit(main())
