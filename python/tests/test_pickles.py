"""Everything pickles: traces, results and policies, to other processes too."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from typing import Any

import dask
import joblib
import pytest

import hotset
from test_policies import Lru


def misses(trace: hotset.Trace, policy: Any) -> hotset.Results:
    """What another process is asked for."""
    return hotset.simulate(trace, policy, [0.1], jobs=1)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_traces_and_results_come_back_as_they_were(mix: hotset.Trace, protocol: int) -> None:
    flags = [0, 15, 3]
    for trace in (mix, hotset.Trace(["a", "b", "a"], flags=flags, name="ä")):
        back = pickle.loads(pickle.dumps(trace, protocol))
        assert back == trace and back.name == trace.name and hash(back) == hash(trace)
        assert copy.deepcopy(trace) == trace
        results = hotset.simulate(trace, ["lru", "mglru", Lru], [2])
        assert pickle.loads(pickle.dumps(results, protocol)) == results


def test_a_sample_stays_a_sample(tmp_path: Any, command: Any) -> None:
    path = tmp_path / "t.bin"
    command("trace", "generate", "zipf", "--count", 400_000, "--objects", 100_000, path)
    trace = hotset.Trace.open(path, memory="8M")
    back = pickle.loads(pickle.dumps(trace))
    restore, (*requests, about) = trace.__reduce__()
    assert restore(*requests, (*about[:4], None)) != trace
    assert back == trace and back.sample == trace.sample and back.format == "oracleGeneral"
    assert hotset.simulate(back, "lru", [0.2]) == hotset.simulate(trace, "lru", [0.2])


def test_a_damaged_pickle_is_refused() -> None:
    restore, (name, ids, flags, about) = hotset.Trace([1, 2, 3]).__reduce__()
    for wrong in (ids[:-1], ids[:-4] + b"\xff" * 4, b""):
        with pytest.raises(ValueError):
            restore(name, wrong, flags, about)
    with pytest.raises(ValueError):
        restore(name, ids, b"\x00", about)


def test_processes_that_are_spawned(mix: hotset.Trace) -> None:
    policies = ["lru", "mglru", Lru]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        results = pool.starmap(misses, [(mix, policy) for policy in policies])
    assert results == [misses(mix, policy) for policy in policies]


def test_joblib(mix: hotset.Trace) -> None:
    policies = ["fifo", "arc", Lru]
    run = joblib.Parallel(n_jobs=2)
    results = run(joblib.delayed(misses)(mix, policy) for policy in policies)
    assert results == [misses(mix, policy) for policy in policies]


def test_dask(mix: hotset.Trace) -> None:
    shared = dask.delayed(mix)
    policies = ["fifo", "arc", Lru]
    tasks = [dask.delayed(misses)(shared, policy) for policy in policies]
    results = dask.compute(*tasks, scheduler="processes", num_workers=2)
    assert list(results) == [misses(mix, policy) for policy in policies]
