"""Counts, curves, sizes and results."""

from __future__ import annotations

from typing import Any

import pandas
import polars
import pyarrow
import pytest

import hotset
from conftest import slow_lru


def test_lru_beside_the_obvious_one(mix: hotset.Trace) -> None:
    keys = list(mix)
    results = hotset.simulate(mix, "lru", [1, 7, 500, 5000])
    curve = hotset.curve(mix, [1, 7, 500, 5000])
    for row, point in zip(results, curve):
        assert row["misses"] == point["misses"] == slow_lru(keys, row["size_objects"])
        assert row["requests"] == 200_000 and row["miss_ratio"] == row["misses"] / 200_000


def test_all_policies_as_the_command_counts(mix: hotset.Trace, tmp_path: Any, command: Any) -> None:
    path = tmp_path / "t.txt"
    path.write_text("".join(f"{key}\n" for key in mix))
    results = hotset.simulate(mix, sizes=["1%..50%:3", 64])
    theirs = command("sim", "sweep", path, "--size", "1%..50%:3,64", "--json")["rows"]
    assert len(results) == len(theirs) == 4 * len(hotset.policies())
    for mine, row in zip(results, theirs):
        assert (mine["policy"], mine["size_objects"]) == (row["policy"], row["size"])
        assert mine["misses"] == row["misses"] and mine["counters"] == row.get("counters", {})
        assert mine["miss_ratio"] == row["miss_ratio"]


def test_a_warm_up_is_served_and_not_counted(mix: hotset.Trace) -> None:
    from test_policies import Lru

    keys = list(mix)
    for warmup in (1, 5000, 199_999):
        whole = slow_lru(keys, 700) - slow_lru(keys[:warmup], 700)
        for row in hotset.simulate(mix, ["lru", Lru], [700], warmup=warmup):
            assert (row["misses"], row["requests"]) == (whole, 200_000 - warmup)
    for wrong in (-1, 200_000):
        with pytest.raises(ValueError, match="warmup"):
            hotset.simulate(mix, "lru", [1], warmup=wrong)


def test_linux_models_count_and_use_flags() -> None:
    names = [policy["name"] for policy in hotset.policies()]
    assert {"linux-two-list", "mglru"} <= set(names)
    keys = list(hotset.generate("zipf", 50_000, objects=2000))
    plain, anon = (
        hotset.simulate(hotset.Trace(keys, flags=[flags] * 50_000), "mglru", [200])[0]
        for flags in (0, hotset.Flags.ANON | hotset.Flags.MAPPED)
    )
    assert plain["counters"] and plain["counters"] != anon["counters"]


def test_the_number_of_threads_changes_nothing(mix: hotset.Trace) -> None:
    one = hotset.simulate(mix, ["arc", "random", "lirs"], [0.01, 0.1], jobs=1)
    assert one == hotset.simulate(mix, ["arc", "random", "lirs"], [0.01, 0.1], jobs=8)


def test_a_sampled_curve_has_intervals(mix: hotset.Trace) -> None:
    exact = hotset.curve(mix, [0.3])[0]["miss_ratio"]
    held = 0
    for seed in range(20):
        results = hotset.curve(mix, [0.3], sample=0.1, seed=seed)
        row = results[0]
        assert results.trace["sampled_share"] == 0.1
        held += row["miss_ratio_low_95"] <= exact <= row["miss_ratio_high_95"]
    assert held >= 16
    small = hotset.curve(mix, [1], sample=0.1)[0]
    assert small["misses"] is None and small["not_available"]
    assert len(hotset.curve(mix)) > 30
    assert [row["policy"] for row in hotset.curve(mix, [9], policies=["opt", "lru"])] == ["opt", "lru"]


def test_sizes_in_every_form(mix: hotset.Trace) -> None:
    def sizes(*asked: Any, **options: Any) -> list[int]:
        return [row["size_objects"] for row in hotset.simulate(mix, "fifo", list(asked), **options)]

    objects = mix.objects
    assert sizes(10, "10", "1e1") == [10]
    assert sizes(0.5, "50%") == [objects // 2]
    assert sizes("64K", object_size=1024) == [64]
    assert sizes("1..100:3") == [1, 10, 100]
    for wrong in (0, 0.0, 1.5, -0.1, "", "10k", "x", -3):
        with pytest.raises(ValueError):
            sizes(wrong)
    with pytest.raises(ValueError, match="no size"):
        sizes()
    with pytest.raises(ValueError, match="object_size"):
        sizes(1, object_size=0)


def test_wrong_policies_are_refused(mix: hotset.Trace) -> None:
    with pytest.raises(ValueError, match="did you mean"):
        hotset.simulate(mix, "lri", [1])
    with pytest.raises(ValueError, match="no parameter"):
        hotset.policy("lirs", histori=2)
    with pytest.raises(ValueError, match="expected"):
        hotset.simulate(mix, "lirs:history=x", [10])
    with pytest.raises(ValueError, match="no policy"):
        hotset.simulate(mix, [], [1])
    with pytest.raises(TypeError, match="7 is no policy"):
        hotset.simulate(mix, [7], [1])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="jobs=0"):
        hotset.simulate(mix, "lru", [1], jobs=0)
    with pytest.raises(ValueError, match="LRU alone"):
        hotset.curve(mix, policies="arc", sample=0.1)
    with pytest.raises(ValueError, match="share above 0"):
        hotset.curve(mix, sample=2)
    with pytest.raises(ValueError, match="no request"):
        hotset.Trace([])


def test_progress_comes_and_ends_at_the_total() -> None:
    trace = hotset.generate("zipf", 4_000_000, objects=400_000)
    for run in (
        lambda tell: hotset.simulate(trace, ["lru", "lirs", "arc"], [0.1, 0.2], progress=tell),
        lambda tell: hotset.curve(trace, progress=tell),
        lambda tell: trace.stats(progress=tell),
    ):
        told: list[tuple[int, int]] = []
        run(lambda done, total: told.append((done, total)))
        assert told[-1][0] == told[-1][1] > 0
        assert told == sorted(told)

    class Enough(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise Enough

    with pytest.raises(Enough):
        hotset.simulate(trace, "all", [0.1], progress=stop)


def test_tables_of_pandas_and_arrow(mix: hotset.Trace) -> None:
    results = hotset.simulate(mix, ["lru", "mglru"], [10, 100])
    frame = results.to_pandas()
    assert frame.shape[0] == 4 and frame["misses"].tolist() == [row["misses"] for row in results]
    assert frame.groupby("policy")["miss_ratio"].min()["lru"] == results[1]["miss_ratio"]
    counter = next(iter(results[2]["counters"]))
    assert frame[counter].isna().tolist() == [True, True, False, False]
    table = results.to_arrow()
    assert table.column_names == list(results.to_dict()) == list(frame.columns)
    assert table["misses"].type == pyarrow.int64() and table["miss_ratio"].type == pyarrow.float64()
    assert pyarrow.table(results).equals(table)
    assert polars.DataFrame(results)["misses"].to_list() == frame["misses"].tolist()
    assert pandas.DataFrame(results.to_dict())["size_objects"].tolist() == [10, 100, 10, 100]
    sampled = hotset.curve(mix, [1, 5000], sample=0.1)
    assert sampled.to_pandas()["misses"].isna().tolist() == [True, False]
    assert sampled.to_arrow()["misses"].null_count == 1
    assert "n/a" in repr(sampled) and "lru" in repr(sampled)
    csv = frame[["trace", "policy", "size_objects", "requests", "misses", "miss_ratio"]].to_csv()
    assert "mix,lru,10,200000," in csv


def test_stats(mix: hotset.Trace) -> None:
    stats = mix.stats()
    assert stats["requests"] == 200_000 and stats["objects"] == mix.objects
    assert stats["compulsory_miss_ratio"] == mix.objects / 200_000
    zipf = hotset.generate("zipf", 500_000, objects=5000, alpha=0.9).stats()
    assert abs(zipf["zipf_alpha"] - 0.9) < 0.05
