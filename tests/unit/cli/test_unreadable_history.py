"""Commands whose history may not be read: one sentence and exit code 1, whatever they do."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Root reads everything, unless it gives up the right to.
_AS_A_USER = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
_PREFIX = [] if os.geteuid() else _AS_A_USER

pytestmark = pytest.mark.skipif(
    bool(_PREFIX) and not shutil.which("setpriv"), reason="setpriv is not installed"
)


@pytest.fixture
def history(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "history"
    folder.mkdir(mode=0)
    yield folder
    folder.chmod(0o700)


def typed(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*_PREFIX, sys.executable, "-P", "-m", "advisor", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        ["path", "localhost"],
        ["resume"],
        ["resume", "--more", "3s"],
        ["history"],
        ["share", "models"],
    ],
)
def test_every_command_says_so_in_one_sentence(words: list[str], history: Path) -> None:
    done = typed(*words, "--store", history)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert f"cannot read {history}" in last
    assert "permission denied: give access to it or name another place with --store" in last
    assert "Traceback" not in done.stderr


def test_it_is_an_event_for_programs(history: Path) -> None:
    done = typed("path", "localhost", "--json", "--store", history)
    last = json.loads(done.stdout.splitlines()[-1])
    assert (last["event"], last["exit_code"]) == ("gave_up", 1)
    assert last["problem"]["kind"] == "no access"
    assert done.stderr == ""


def test_a_folder_below_one_that_may_not_be_searched(history: Path) -> None:
    done = typed("history", "--store", history / "below")
    assert done.returncode == 2
    assert done.stderr.startswith(f"advisor: --store: cannot read {history}/below: permission")
