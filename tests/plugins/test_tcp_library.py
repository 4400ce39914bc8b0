"""libiperf is loaded by its name: the binding alone would run compilers to find it."""

import re
from pathlib import Path

import iperf3
import pytest

from advisor.api.network import LIBIPERF

ROOT = Path(__file__).parents[2]
MADE = re.compile(r"iperf3\.(?:Client|Server)\(([^)]*)\)")


def test_no_compiler_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(name: str) -> str:
        raise AssertionError(f"looks for {name}")

    monkeypatch.setattr("ctypes.util.find_library", search)
    for kind in (iperf3.Client, iperf3.Server):
        assert kind(lib_name=LIBIPERF).lib._name == LIBIPERF


def test_every_end_names_it() -> None:
    files = [*(ROOT / "advisor").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]
    made = [words for file in files for words in MADE.findall(file.read_text())]
    assert len(made) == 4
    assert all(words.startswith("lib_name=LIBIPERF") for words in made), made
