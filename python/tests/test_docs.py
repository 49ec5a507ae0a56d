"""Examples run: those of docstrings and of the guide. Types hold."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hotset
from conftest import ROOT

MODULES = ["", "._generate", "._policies", "._results", "._simulate", "._trace"]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    module = sys.modules[f"hotset{name}"]
    failed, tried = doctest.testmod(module)
    assert tried > 0 and failed == 0


def test_every_public_name_has_a_docstring() -> None:
    for name in hotset.__all__:
        if name.startswith("__"):
            continue
        thing = getattr(hotset, name)
        assert thing.__doc__, name
        if isinstance(thing, type):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert value.__doc__, f"{name}.{member}"


def test_the_guides_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [ROOT / "docs/guide/python.md", ROOT / "python/README.md"]
    for page in pages:
        monkeypatch.chdir(tmp_path)
        blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
        assert blocks, page
        names: dict[str, object] = {}
        for block in blocks:
            exec(compile(block, str(page), "exec"), names)


def mypy(folder: Path, *what: object) -> str:
    """What mypy says, run strictly in another folder, of the package as it is installed."""
    settings = ROOT / "python/pyproject.toml"
    words = [sys.executable, "-m", "mypy", "--config-file", settings, "--cache-dir", folder, *what]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, cwd=folder)
    return done.stdout + done.stderr


def test_types_are_strict(tmp_path: Path) -> None:
    for what in (["-p", "hotset"], [Path(__file__).parent / "typed_example.py"]):
        assert "Success: no issues found" in mypy(tmp_path, *what)


def test_mypy_sees_mistakes(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import hotset\nhotset.simulate([1, 2], 'lru', [1])\nx: int = hotset.__version__\n")
    assert "Found 2 errors" in mypy(tmp_path, wrong)
