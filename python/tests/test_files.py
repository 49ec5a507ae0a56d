"""Files of traces: read as the command reads them, and refused with Python's words."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path
from typing import Any

import numpy
import pytest

import hotset


#: Files, and the formats that their names and contents tell.
FORMATS = {
    "t.oracleGeneral.bin.zst": "oracleGeneral",
    "t.spc": "spc",
    "t.csv": "csv",
    "t.txt.gz": "text",
    "t.lackey": "lackey",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, command: Any) -> Path:
    """The same requests in every format."""
    folder = tmp_path_factory.mktemp("traces")
    generate = ("trace", "generate", "mix", "--count", 30_000, "--objects", 2000, "--seed", 5)
    for name in FORMATS:
        command(*generate, folder / name)
    return folder


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_as_the_command_reads_it(folder: Path, name: str, command: Any) -> None:
    trace = hotset.Trace.open(folder / name)
    results = hotset.simulate(trace, ["lru", "mglru"], [100])
    theirs = command("sim", "sweep", folder / name, "--policy", "lru,mglru", "--size", 100, "--json")
    assert results.trace["digest"] == theirs["trace"]["digest"]
    assert [row["misses"] for row in results] == [row["misses"] for row in theirs["rows"]]
    assert (trace.name, trace.requests, trace.format) == (name, 30_000, FORMATS[name])


def test_progress_of_a_file_counts_its_bytes(tmp_path: Path, command: Any) -> None:
    path = tmp_path / "t.txt"
    command("trace", "generate", "loop", "--count", 1_000_000, path)
    length = path.stat().st_size
    seen: list[tuple[int, int]] = []
    trace = hotset.Trace.open(path, progress=lambda *now: seen.append(now))
    assert trace.requests == 1_000_000
    # The last MiB is not reported by itself.
    done, total = seen[-1]
    assert total == length and length - (1 << 20) < done <= length
    assert seen == sorted(seen)

    def stop(done: int, total: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        hotset.Trace.open(path, progress=stop)


@pytest.mark.parametrize("wrong", [-1, 1.5, "64K", 2**64, float("nan"), [1]])
@pytest.mark.parametrize("name", ["count", "page_size", "block_size", "memory"])
def test_numbers_are_refused_with_their_names(folder: Path, name: str, wrong: Any) -> None:
    if (name, wrong) == ("memory", "64K"):
        wrong = "64 apples"
    with pytest.raises(ValueError, match="apples" if wrong == "64 apples" else f"{name}=.*whole number"):
        hotset.Trace.open(folder / "t.spc", **{name: wrong})


def test_seeds_and_requests_are_whole_numbers() -> None:
    assert hotset.generate("loop", numpy.int64(7), objects=3).requests == 7
    assert hotset.generate("loop", 1e3).requests == 1000
    for requests in (1.5, -1, "7"):
        with pytest.raises(ValueError, match="requests=.*whole number"):
            hotset.generate("loop", requests)  # type: ignore[arg-type]
    for seed in (-1, 0.5, 2**64):
        with pytest.raises(ValueError, match="seed=.*whole number"):
            hotset.generate("loop", 7, seed=seed)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="seed=.*whole number"):
            hotset.curve(hotset.Trace([1, 2]), seed=seed)  # type: ignore[arg-type]


def test_generated_traces_are_those_of_the_command(folder: Path) -> None:
    read = hotset.Trace.open(folder / "t.txt.gz")
    assert list(read) == list(hotset.generate("mix", 30_000, objects=2000, seed=5))


@pytest.mark.parametrize(
    ("rule", "options"),
    [
        ("zipf", {"objects": 500, "alpha": 0.8}),
        ("self-similar", {"objects": 300, "alpha": 0.7, "beta": 0.3}),
        ("uniform", {"objects": 1e3}),
        ("scan", {}),
        ("loop", {"objects": 77}),
        ("two-pool", {"first": 10, "second": 300}),
        ("markov", {"phases": 3, "objects": 50, "overlap": 0.5, "mean": 100}),
    ],
)
def test_every_rule_is_the_commands(
    rule: str, options: dict[str, Any], tmp_path: Path, command: Any
) -> None:
    path = tmp_path / "t.txt"
    flags = [text for name, value in options.items() for text in (f"--{name}", value)]
    command("trace", "generate", rule, "--count", 5000, "--seed", 9, *flags, path)
    assert list(hotset.Trace.open(path)) == list(hotset.generate(rule, 5000, seed=9, **options))


def test_a_mix_of_parts_is_the_commands(tmp_path: Path, command: Any) -> None:
    path = tmp_path / "t.txt"
    parts = ("--part", "0.7:zipf,objects=1e3", "--part", "0.3:loop,objects=50", "--part", "0.2:scan,objects=300")
    command("trace", "generate", "mix", "--count", 5000, "--burst", 8, *parts, path)
    mine = [(0.7, "zipf", {"objects": 1000}), (0.3, "loop", {"objects": 50}), (0.2, "scan", {"objects": 3e2})]
    assert list(hotset.Trace.open(path)) == list(hotset.generate("mix", 5000, parts=mine, burst=8))


def test_a_scan_in_a_mix_starts_over_as_the_commands(tmp_path: Path, command: Any) -> None:
    path = tmp_path / "t.bin"
    command("trace", "generate", "mix", "--count", 1_200_000, "--part", "3:scan", "--part", "0.1:two-pool", path)
    parts = [(3, "scan", {}), (0.1, "two_pool", {})]
    mine = hotset.generate("mix", 1_200_000, parts=parts)
    assert mine == hotset.Trace.open(path, flags=False)
    assert 1_000_000 < mine.objects <= 1_010_100


def test_a_part_is_no_mix() -> None:
    with pytest.raises(ValueError, match="mix is no rule of a part"):
        hotset.generate("mix", 10, parts=[(1, "mix", {})])
    inside: dict[str, Any] = {}
    inside["parts"] = [(1, "mix", inside)]
    with pytest.raises(ValueError, match="parts"):
        hotset.generate("mix", 10, **inside)
    with pytest.raises(ValueError, match="without parts"):
        hotset.generate("mix", 10, objects=100, parts=[(1, "zipf", {})])
    with pytest.raises(ValueError, match="expected tuples"):
        hotset.generate("mix", 10, parts=["1:zipf"])


def test_an_option_is_one_number() -> None:
    with pytest.raises(ValueError, match="one number"):
        hotset.generate("zipf", 10, alpha="1,objects=5")
    with pytest.raises(ValueError, match="no rule"):
        hotset.generate("zipf,objects=5", 10)
    with pytest.raises(ValueError, match="no option objects"):
        hotset.generate("scan", 10, objects=5)


def test_wrong_rules_are_refused() -> None:
    with pytest.raises(ValueError, match="zipff.*did you mean"):
        hotset.generate("zipff", 10)
    with pytest.raises(ValueError, match='no option "alfa"; .*did you mean alpha'):
        hotset.generate("zipf", 10, alfa=1)
    with pytest.raises(ValueError, match="objects=1.5"):
        hotset.generate("zipf", 10, objects=1.5)
    with pytest.raises(ValueError, match="alpha"):
        hotset.generate("zipf", 10, alpha=-1.0)
    with pytest.raises(ValueError, match="0 requests"):
        hotset.generate("zipf", 0)


def test_the_same_requests_are_equal_whatever_their_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("page,op\n1,r\n2,w\nx,r\n3,r\n1,r\n")
    read = hotset.Trace.open(path, names="numbers", skip_bad=True, writes=False, flags=False)
    assert read.format == "csv" and read.malformed == 1
    same = hotset.Trace([1, 3, 1])
    assert read == same and hash(read) == hash(same) and len({read, same}) == 1
    assert read != hotset.Trace([1, 3, 3]) and read != hotset.Trace([1, 3, 1], flags=[0, 1, 0])


def test_options_of_csv(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("when;page;op\n1;a;r\n2;b;w\n3;a;r\n4;c;r\n")
    trace = hotset.Trace.open(path, id_column="page", op_column="op", writes=False)
    assert list(trace) == [0, 0, 1]
    assert list(hotset.Trace.open(path, id_column=2, count=2)) == [0, 1]
    with pytest.raises(ValueError, match='no column "x"'):
        hotset.Trace.open(path, id_column="x")


def test_a_request_that_names_the_columns_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("1,7\n2,8\n3,7\n")
    with pytest.warns(UserWarning, match="t.csv: .*looks like a request.* header=False") as caught:
        assert hotset.Trace.open(path, id_column=2).requests == 2
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="column 1; id_column=N names another"):
        hotset.Trace.open(path, header=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hotset.Trace.open(path, header=False, id_column=2).requests == 3
        with pytest.raises(UserWarning):
            hotset.Trace.open(path, id_column=2)


def test_blocks_have_a_size(folder: Path) -> None:
    assert hotset.Trace.open(folder / "t.spc", block_size=4096).objects > 1
    with pytest.raises(ValueError, match="a block size of 0 bytes"):
        hotset.Trace.open(folder / "t.spc", block_size=0)


def test_errors_have_the_names_of_python(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent.txt"):
        hotset.Trace.open(tmp_path / "absent.txt")
    with pytest.raises(ValueError, match="a folder"):
        hotset.Trace.open(tmp_path)
    path = tmp_path / "t.txt"
    path.write_text("1\n2\nx y\n3\n")
    with pytest.raises(ValueError, match='line 3: .*names="strings"'):
        hotset.Trace.open(path)
    trace = hotset.Trace.open(str(path), skip_bad=True)
    assert (trace.requests, trace.malformed) == (3, 1)
    with pytest.raises(ValueError, match="split: .* is read as text; the option is for spc"):
        hotset.Trace.open(path, split=False)
    with pytest.raises(ValueError, match="no format"):
        hotset.Trace.open(path, "txet")
    with pytest.raises(ValueError, match='names="x"'):
        hotset.Trace.open(path, names="x")
    packed = tmp_path / "t.txt.gz"
    packed.write_bytes(gzip.compress(b"1\n2\n" * 9999)[:-20])
    with pytest.raises(ValueError, match="skip_bad=True"):
        hotset.Trace.open(packed)


def test_a_trace_beyond_its_memory_is_a_sample(tmp_path: Path, command: Any) -> None:
    path = tmp_path / "t.bin"
    command("trace", "generate", "zipf", "--count", 400_000, "--objects", 100_000, path)
    trace = hotset.Trace.open(path, memory="8M")
    assert trace.sample is not None and trace.sample[1] == 400_000
    exact = hotset.simulate(hotset.Trace.open(path), ["lru", "mru"], ["20%"])
    lru, mru = hotset.simulate(trace, ["lru", "mru"], ["20%"])
    low, high = lru["miss_ratio_low_95"], lru["miss_ratio_high_95"]
    assert low is not None and high is not None
    assert low < lru["miss_ratio"] < high and high - low < 0.2
    assert low - 0.05 < exact[0]["miss_ratio"] < high + 0.05
    assert mru["misses"] is None and "mru" in str(mru["not_available"])
    assert len(hotset.curve(trace)) > 10
    with pytest.raises(ValueError, match="too few"):
        hotset.Trace.open(path, memory=1000)
