"""Standard streams that are full or closed, and Ctrl-C before the program is read."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

FULL = "advisor: standard output cannot be written: No space left on device\n"
ADVISOR = [sys.executable, "-P", "-m", "advisor"]

INTERRUPTED = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv = ["advisor", "doctor"]
from advisor.cli.start import main
main()
"""

CLOSED = """
import sys
from advisor.cli.streams import prepare_streams
prepare_streams()
with open(sys.argv[1], "w") as file:
    print("for standard output")
    print("for standard error", file=sys.stderr)
    sys.exit(file.fileno())
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    named = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    return {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"} | named


@pytest.mark.parametrize("buffering", [{}, {"PYTHONUNBUFFERED": "1"}])
@pytest.mark.parametrize(
    "words",
    [["--version"], ["doctor"], ["advise", "--help"], ["plugins", "--json"]],
)
def test_a_full_standard_output_is_one_sentence(
    words: list[str], buffering: dict[str, str], environment: dict[str, str]
) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*ADVISOR, *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment | buffering,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, FULL)


def test_so_it_is_if_standard_error_is_full_too(environment: dict[str, str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*ADVISOR, "--version"], stdout=full, stderr=full, env=environment, check=False
        )
    assert done.returncode == 1


@pytest.mark.parametrize("left", ["--version", "plugins"])
def test_of_a_reader_that_has_left_nothing_is_said(left: str, environment: dict[str, str]) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "w") as pipe:
        done = subprocess.run(
            [*ADVISOR, left], stdout=pipe, stderr=subprocess.PIPE, env=environment, check=False
        )
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("closed", [">&-", "<&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_no_harm(
    closed: str, environment: dict[str, str], tmp_path: Path
) -> None:
    def ran(argv: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", f'exec "$@" {closed}', "sh", *argv],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )

    done = ran([*ADVISOR, "--version"])
    assert (done.returncode, done.stderr) == (0, "")
    # What is opened next does not get what is printed.
    done = ran([sys.executable, "-c", CLOSED, str(tmp_path / "file")])
    assert done.returncode > 2
    assert (tmp_path / "file").read_text() == ""


@pytest.mark.parametrize(
    ("module", "status"), [("typer", -signal.SIGINT), ("advisor.cli.doctor", 130)]
)
def test_ctrl_c_during_the_imports_is_quiet(
    module: str, status: int, environment: dict[str, str]
) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", INTERRUPTED.format(module=module)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")
