"""What `make test` says at its end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stages.__main__ import plan
from tests.stages.summary import Failure, Outcome, of_command, of_pytest

ROOT = Path(__file__).parents[2]
HOLDER = ROOT / "tests" / "stages" / "holder.py"
TESTS = """
import os, sys, unittest
import pytest

def test_good(): pass

@pytest.mark.parametrize("word", ["a b", "[x]"])
def test_bad(word):
    assert word == "a" + chr(10) + "b"

class TestInside:
    def test_raises(self):
        raise ValueError("no [such] thing")

@pytest.fixture
def broken():
    raise OSError("no room")

def test_not_set_up(broken): pass

@pytest.fixture
def left():
    yield
    raise RuntimeError("something is left")

def test_not_cleaned_up(left): pass

def test_skipped(): pytest.skip("not here")
"""


def ran(folder: Path, text: str, *options: str) -> tuple[int, str | None, list[str]]:
    """Exit status, results and output of pytest on these tests."""
    (folder / "test_it.py").write_text(text)
    results = folder / "junit.xml"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-c", "/dev/null", "--rootdir", str(folder)),
            *("-p", "xdist"),
            *(f"--junitxml={results}", "--override-ini=junit_family=xunit1", *options),
        ],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    text_ = results.read_text() if results.exists() else None
    return done.returncode, text_, done.stdout.splitlines()


def lines(outcome: Outcome) -> list[str]:
    return str(outcome).splitlines()


@pytest.mark.parametrize("options", [(), ("--numprocesses=2",)])
def test_a_line_for_each_failed_test(tmp_path: Path, options: tuple[str, ...]) -> None:
    outcome = of_pytest("quick", *ran(tmp_path, TESTS, *options))
    reported = lines(outcome)
    assert sorted(reported[:-1]) == [
        "FAILED quick: test_it.py::TestInside::test_raises: ValueError: no [such] thing",
        "FAILED quick: test_it.py::test_bad[[x]]: AssertionError: assert '[x]' == 'a\\nb'",
        "FAILED quick: test_it.py::test_bad[a b]: AssertionError: assert 'a b' == 'a\\nb'",
        'FAILED quick: test_it.py::test_not_cleaned_up: failed on teardown with "RuntimeError:'
        ' something is left"',
        'FAILED quick: test_it.py::test_not_set_up: failed on setup with "OSError: no room"',
    ]
    assert reported[-1] == "1 passed, 5 failed, 1 skipped"


def test_all_went_well(tmp_path: Path) -> None:
    outcome = of_pytest("quick", *ran(tmp_path, "def test_good(): pass"))
    assert lines(outcome) == ["1 passed, 0 failed, 0 skipped"]


def test_a_pytest_that_crashes_has_a_line(tmp_path: Path) -> None:
    crash = "import os, signal\ndef test_it(): os.kill(os.getpid(), signal.SIGSEGV)"
    (line, _) = lines(of_pytest("system", *ran(tmp_path, crash)))
    assert line.startswith("FAILED system: pytest: killed by SIGSEGV: ")


def test_a_worker_that_is_lost_has_a_line(tmp_path: Path) -> None:
    crash = "import os\ndef test_it(): os._exit(7)\ndef test_other(): pass"
    reported = lines(of_pytest("system", *ran(tmp_path, crash, "--numprocesses=1")))
    assert any("test_it" in line for line in reported[:-1]), reported


def test_tests_that_cannot_be_read_have_a_line(tmp_path: Path) -> None:
    reported = lines(of_pytest("quick", *ran(tmp_path, "import no_such_module")))
    assert any("test_it" in line for line in reported[:-1]), reported
    assert not reported[-1].startswith("0 passed, 0 failed")


@pytest.mark.parametrize("results", [None, "", "<testsuites><test", "<testsuites/>"])
@pytest.mark.parametrize("status", [0, 1, -signal.SIGKILL])
def test_no_results_are_a_failure(status: int, results: str | None) -> None:
    (line, count) = lines(of_pytest("quick", status, results, ["first", "", "last words", ""]))
    assert line.endswith(": last words")
    assert count == "0 passed, 1 failed, 0 skipped"


def test_a_status_that_no_test_explains_is_a_failure() -> None:
    passed = '<testsuites><testcase classname="a" name="test_b"/></testsuites>'
    (line, count) = lines(of_pytest("quick", 1, passed, ["!!! stopping"]))
    assert line == "FAILED quick: pytest: exit status 1: !!! stopping"
    assert count == "1 passed, 1 failed, 0 skipped"


def test_a_linter_fails_as_a_whole() -> None:
    assert lines(of_command("check", "mypy", 0, []))[0].startswith("0 passed, 0 failed")
    (line, _) = lines(of_command("check", "mypy", 1, ["a.py: error", "Found 1 error", ""]))
    assert line == "FAILED check: mypy: exit status 1: Found 1 error"


def test_outcomes_add_up() -> None:
    outcome = Outcome(passed=2, skipped=1)
    outcome.add(Outcome(passed=3, failures=[Failure("a", "b", "c" * 1000)]))
    line, count = lines(outcome)
    assert count == "5 passed, 1 failed, 1 skipped"
    assert len(line) == 300


def test_a_stage_says_what_it_left(tmp_path: Path) -> None:
    """Also what left its parent and its session; and it is ended."""
    report, written = tmp_path / "report", tmp_path / "pid"
    script = f"setsid sh -c 'echo $$ > {written}; exec sleep 600' & sleep 0.5; exit 3"
    ended = [sys.executable, str(HOLDER), str(report), "--", "sh", "-c", script]
    subprocess.run(ended, check=True, timeout=60)
    assert report.read_text() == '[3, ["sleep 600"]]'
    assert not Path("/proc", written.read_text().strip()).exists()


def test_a_stage_that_is_left_out_has_a_line() -> None:
    outcome = Outcome(passed=1)
    outcome.skip("an ordinary user's stages", "unshare failed: Operation not permitted")
    line, count = lines(outcome)
    assert line == "SKIPPED an ordinary user's stages: unshare failed: Operation not permitted"
    assert count == "1 passed, 0 failed, 1 skipped"


@pytest.mark.parametrize("with_both", [True, False])
def test_every_test_is_in_a_stage(with_both: bool) -> None:
    stages = [stage for lanes in plan(with_both) for lane in lanes for stage in lane]
    assert any(stage.as_ordinary_user for stage in stages) is with_both
    words = {word for stage in stages for command in stage.commands for word in command}
    for folder in ("tests/unit", "tests/plugins", "tests/tui", "tests/system"):
        assert folder in words
    for word in words:
        if word.startswith(("tests/", "--ignore=")):
            assert (ROOT / word.removeprefix("--ignore=")).exists()
    chosen = [
        command[command.index("-m") + 1]
        for stage in stages
        for command in stage.commands
        if "tests/system" in command
    ]
    for figures in (True, False):
        marks = {"figures": figures, "as_root": False, "soak": False}
        assert [eval(marked, marks) for marked in chosen].count(True) == 1
