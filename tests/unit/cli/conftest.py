"""The command as a user types it, run in the process of the tests."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from advisor.cli.main import main

Typed = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's home is this test's folder."""
    for kind in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.delenv(f"XDG_{kind}_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ADVISOR_RUNTIME_DIR", str(tmp_path / "advisor"))


@pytest.fixture
def typed(own_home: None, capfd: pytest.CaptureFixture[str]) -> Typed:
    """`typed("advise", "localhost")`, by a user whose home is this test's folder.

    For words that are refused, or answered at once: a process of their own would take half a
    second to begin.
    """

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        arguments = [str(word) for word in words]
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        out, err = capfd.readouterr()
        assert isinstance(ended.value.code, int)
        return subprocess.CompletedProcess(arguments, ended.value.code, out, err)

    return run
