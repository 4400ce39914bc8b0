"""Profiling xdd on this host: one end is started here for a probe, the other by an agent."""

import contextlib
import filecmp
import os
import shutil
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from advisor.report.ndjson import schema

from .conftest import Agent, StartAgent
from .program import Run, Start, wait_until

pytestmark = pytest.mark.skipif(
    shutil.which("xdd") is None, reason="xdd is absent: build it from https://github.com/bws/xdd"
)

OPTIONS = ["--tool", "xdd", "--json", "--seed", "1"]
BUDGET = ["--budget", "12"]
# Of a session that does not come to its end.
LONG = ["--budget", "36"]
# With time for every part.
AMPLE = ["--budget", "120"]
# None of those that are given to whoever asks for any.
PORTS = (19200, 19215)
LARGE = 2**29
PLAIN = 30_000_001


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "it's one"
    file.write_bytes(os.urandom(PLAIN))
    return file


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """One that is still under way when something is done to its probe."""
    file = tmp_path / "large"
    file.touch()
    os.truncate(file, LARGE)
    return file


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "there"
    folder.mkdir()
    return folder / "the copy"


def _advise(start: Start, source: Path, target: Path, *options: str) -> Run:
    paths = ["--data", str(source), "--to", str(target)]
    where = [] if "--agent" in options else ["localhost"]
    return start("advise", *where, *OPTIONS, *BUDGET, *paths, *options)


def _ended(run: Run) -> list[dict[str, Any]]:
    events = [e for e in run.events if e["event"] == "probe_ended"]
    return [e for e in events if e["transport"] == "xdd"]


def _failures(run: Run) -> list[str]:
    results = (e["result"] for e in _ended(run))
    return [result["message"] for result in results if result["outcome"] == "failed"]


def _lines(word: str, side: str) -> dict[int, list[str]]:
    """The command lines of xdd itself that are on this side and have the word in them, by PID."""
    found = {}
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if process.name.isdigit():
                line = os.fsdecode((process / "cmdline").read_bytes()).split("\0")
                if line[0] == "xdd" and side in line and word in " ".join(line):
                    found[int(process.name)] = line
    return found


def _xdds(word: str, side: str) -> list[int]:
    return list(_lines(word, side))


def _under_way(run: Run, word: str, side: str) -> int:
    """Until a probe moves something; the process of this side, which has the word in its line."""
    run.wait_for("probe_started", transport="xdd")
    while True:
        run.wait_for("interval")
        # A short probe may be over before it is heard of.
        if found := _xdds(word, side):
            return found[0]


def _carry_out(commands: list[dict[str, Any]]) -> list[int]:
    """The lines as a user runs them: the destination's in the background, then the source's."""
    there, here = commands
    with subprocess.Popen(
        there["shell"], shell=True, stderr=subprocess.PIPE, text=True
    ) as receiving:
        assert receiving.stderr is not None
        while "All targets should start now" not in receiving.stderr.readline():
            assert receiving.poll() is None
        sent = subprocess.run(here["shell"], shell=True, check=False)
        receiving.communicate(timeout=30)
        return [receiving.returncode, sent.returncode]


def test_the_lines_that_are_advised_do_what_was_said(
    start: Start, source: Path, target: Path
) -> None:
    run = _advise(start, source, target)
    done = run.finish()
    assert done.returncode == 0, done.stderr
    validator = jsonschema.Draft202012Validator(schema())
    for event in run.events:
        validator.validate(event)
    assert not _failures(run)
    assert all(e["result"]["throughput_bps"] > 0 for e in _ended(run))
    assert "baseline" in {e["purpose"] for e in _ended(run)}
    assert not list(target.parent.iterdir()), "what the probes moved is taken away again"
    advice = run.events[-1]
    assert advice["event"] == "advice"
    assert advice["transport"] == "xdd"
    assert [command["side"] for command in advice["commands"]] == ["destination", "source"]
    assert _carry_out(advice["commands"]) == [0, 0]
    assert filecmp.cmp(source, target, shallow=False)


def test_xdd_is_measured_from_memory_to_memory_too(
    start: Start, start_agent: StartAgent, source: Path, target: Path
) -> None:
    agent = _with_files(start_agent, target.parent)
    run = _advise(start, source, target, *agent.options, *AMPLE)
    done = run.finish(timeout_s=170)
    assert done.returncode == 0, done.stderr
    composition = run.events[-1]["composition"]
    [alone] = [s for s in composition["subsystems"] if s["what"] == "tool memory to memory"]
    assert alone["setting"] == run.events[-1]["setting"]
    assert alone["throughput_bps"] > 0
    assert not list(target.parent.iterdir())


def test_the_first_bytes_stay(start: Start, source: Path, target: Path) -> None:
    run = _advise(start, source, target, "--keep")
    done = run.finish()
    assert done.returncode == 0, done.stderr
    assert list(target.parent.iterdir()) == [target]
    size = target.stat().st_size
    assert 0 < size <= PLAIN
    assert source.read_bytes()[:size] == target.read_bytes()


def _with_files(start_agent: StartAgent, folder: Path) -> Agent:
    return start_agent("--ports", "{}-{}".format(*PORTS), "--files", str(folder))


def test_a_listening_agent_keeps_to_its_ports(
    start: Start, start_agent: StartAgent, source: Path, target: Path
) -> None:
    agent = _with_files(start_agent, target.parent)
    run = _advise(start, source, target, *agent.options)
    seen: set[int] = set()
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.02):
            for words in _lines(str(target.parent), "isdest").values():
                base, flows = words[words.index("dest") + 1].split(":")[1].split(",")
                seen.update({int(base), int(base) + int(flows) - 1})

    looking = threading.Thread(target=look)
    looking.start()
    try:
        done = run.finish()  # It reads what is printed: who prints into a full pipe waits forever.
    finally:
        over.set()
        looking.join()
    assert done.returncode == 0, done.stderr
    assert not _failures(run)
    assert seen
    assert PORTS[0] <= min(seen) <= max(seen) <= PORTS[1]
    assert not list(target.parent.iterdir())


def test_a_listening_agent_without_rights_to_the_folder(
    start: Start, start_agent: StartAgent, source: Path, target: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    agent = _with_files(start_agent, tmp_path / "other")
    done = _advise(start, source, target, *agent.options).finish()
    assert done.returncode != 0
    assert "--files" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("side", "sentence"),
    [
        ("isdest", "The destination's xdd ended too early: check its output there."),
        ("issource", "The source's xdd ended during the transfer: run both again."),
    ],
)
def test_an_end_that_is_killed_in_the_middle(
    start: Start, large: Path, target: Path, side: str, sentence: str
) -> None:
    run = _advise(start, large, target)
    word = str(target.parent if side == "isdest" else large)
    os.kill(_under_way(run, word, side), signal.SIGKILL)
    done = run.finish()
    assert done.returncode == 0, "the second try is measured"
    assert "Traceback" not in done.stderr
    assert _failures(run) == [sentence]
    assert not list(target.parent.iterdir())


def test_ctrl_c_leaves_nothing_behind(start: Start, large: Path, target: Path) -> None:
    run = _advise(start, large, target, *LONG)
    _under_way(run, str(target.parent), "isdest")
    run.process.send_signal(signal.SIGINT)
    done = run.finish()
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    assert not list(target.parent.iterdir())
    assert not _xdds(str(target.parent), "isdest")
    assert not _xdds(str(large), "issource")


def test_kill_9_ends_both_sides(start: Start, large: Path, target: Path) -> None:
    run = _advise(start, large, target, *LONG)
    _under_way(run, str(target.parent), "isdest")
    assert _xdds(str(large), "issource")
    run.process.send_signal(signal.SIGKILL)
    run.process.wait()
    assert wait_until(lambda: not _xdds(str(target.parent), "isdest"))
    assert wait_until(lambda: not _xdds(str(large), "issource"))


def test_a_folder_is_more_than_it_moves(start: Start, tmp_path: Path, target: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "one").write_bytes(b"1" * 1000)
    done = _advise(start, folder, target).finish()
    assert done.returncode == 2
    assert "xdd moves one file: give --data FILE" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(target.parent.iterdir())


def test_a_path_that_it_cannot_open(start: Start, source: Path, tmp_path: Path) -> None:
    """What the plugin says of it is shown; nothing is tried again and again."""
    deep = tmp_path / "there"
    for _ in range(9):
        deep /= "d" * 240
        deep.mkdir(parents=True)
    run = _advise(start, source, deep / "copy")
    done = run.finish()
    assert done.returncode == 1
    assert run.events[-1]["event"] == "gave_up"
    assert "2047 bytes" in run.events[-1]["message"]
    assert len(_ended(run)) == 1
    assert "Traceback" not in done.stderr
    assert not list(deep.iterdir())
