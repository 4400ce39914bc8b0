"""`advisor plan --run` that is interrupted and resumed: real server and client on this host."""

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.domain.records import TransferRecord
from advisor.store.history import Store
from tests.benchmarks.disk.files import difference

from .moved import make_files, pair_here
from .program import Run, Start, children_left, own_environment, wait_until
from .tool_servers import Server

# Of a path on which the files below are of three classes, and the large ones come in ranges.
PATH = ["--bandwidth", "20Mbit", "--rtt", "20ms"]
GROUPS = {"tiny": (40, 5000), "small": (10, 30_000), "large": (2, 24_000_000)}
FILES = 52
TOTAL_BYTES = 40 * 5000 + 10 * 30_000 + 2 * 24_000_000

# Keeps each client's list; of a run that is to hang the first client of each class is let through.
CLIENT = """#!/bin/sh
for word; do
    case "$last" in -f) list=$word && cat "$list" >> "$LISTS" ;; esac
    last=$word
done
case "$*" in *" -f "*) ;; *) exec {client} "$@" ;; esac
[ -n "$SLOTS" ] || exec {client} "$@"
class=$(sed -n 's;.*/\\(tiny\\|small\\|large\\)/.*;\\1;p' "$list" | head -n 1)
mkdir "$SLOTS/$class" 2> /dev/null || exec sleep 600
for slot in 1 2 3 4; do
    mkdir "$SLOTS/$slot" 2> /dev/null && exec {client} "$@"
done
exec sleep 600
"""
# In a line of the journal.
_SIZE = 6


class Mover:
    """Runs of one and the same transfer."""

    def __init__(self, start: Start, server: Server, folder: Path) -> None:
        self.source = folder / "run 42"
        self.target = server.folder / "there"
        self.home = folder
        self.store = Store(folder / "store")
        self.environment: dict[str, str] = {}
        self._start = start
        self._url = server.url
        self._number = 0
        make_files(self.source, GROUPS)
        (folder / "bin").mkdir()
        client = folder / "bin" / "globus-url-copy"
        client.write_text(CLIENT.format(client=shutil.which("globus-url-copy")))
        client.chmod(0o755)

    def run(self, *options: str, hangs: bool = False, let_through: int = 4) -> Run:
        """`hangs`: all clients but the first of each class, this many at most, do nothing."""
        self._number += 1
        path = own_environment(self.home)["PATH"]
        environment = {
            "PATH": f"{self.home / 'bin'}:{path}",
            "LISTS": str(self.lists),
            **self.environment,
        }
        if hangs:
            slots = self.home / f"slots {self._number}"
            slots.mkdir()
            for number in range(let_through, 4):
                (slots / f"{number + 1}").mkdir()
            environment["SLOTS"] = str(slots)
        return self._start(
            *("plan", str(self.source), "localhost", "--to", str(self.target), *PATH),
            *("--server", self._url, "--run", "--no-sample", "--json"),
            *("--store", self.store.argument, *options),
            environment=environment,
        )

    @property
    def lists(self) -> Path:
        """What the clients of the last run were given to move."""
        return self.home / f"lists {self._number}"

    def ordered_files(self) -> set[str]:
        """The names of all files of which the last run moved something."""
        text = self.lists.read_text() if self.lists.exists() else ""
        found = self.source.rglob("*.dat")
        names = [str(path.relative_to(self.source)) for path in found]
        return {name for name in names if f"/{name} " in text or f'/{name}" ' in text}

    @property
    def journals(self) -> list[Path]:
        state = self.environment.get("XDG_STATE_HOME", str(self.home / ".local/state"))
        return list(Path(state).glob("advisor/transfers/*.jsonl"))

    def pieces(self) -> list[list[Any]]:
        """The lines of the journal but its first."""
        lines = [line for path in self.journals for line in path.read_bytes().splitlines(True)]
        return [json.loads(line) for line in lines[1:] if line.endswith(b"\n")]

    def killed_after(
        self,
        holds: Callable[[list[list[Any]]], bool] = bool,
        let_through: int = 4,
        after_s: float = 0,
    ) -> int:
        """Killed this long after the journal holds enough; how many bytes are in it."""
        run = self.run(hangs=True, let_through=let_through)
        assert wait_until(lambda: holds(self.pieces()), 60)
        time.sleep(after_s)
        os.kill(run.process.pid, signal.SIGKILL)
        run.finish()
        assert wait_until(lambda: not children_left(self.home)), "its clients end with it"
        return _sum(self.pieces())

    def is_same(self) -> bool:
        return not difference(self.source, self.target)

    def transferred(self) -> list[int]:
        """The bytes of each transfer that the history has."""
        records = self.store.records(pair_here())
        return [one.total_bytes for one in records if isinstance(one, TransferRecord)]


@pytest.fixture
def mover(start: Start, server: Server, tmp_path: Path) -> Mover:
    return Mover(start, server, tmp_path)


def _sum(pieces: list[list[Any]]) -> int:
    return sum(piece[_SIZE] for piece in pieces)


def _notices(run: Run) -> list[str]:
    return [event["message"] for event in run.events if event["event"] == "notice"]


def _is_complete(run: Run) -> bool:
    """Whether it ended well, with the counts of the whole."""
    done, end = run.finish(), run.events[-1]
    counts = (end["complete"], end["exit_code"], end["files"], end["moved_bytes"])
    return done.returncode == 0 and counts == (True, 0, FILES, TOTAL_BYTES)


def test_killed_in_the_middle_it_resumes_from_where_it_was(mover: Mover) -> None:
    def has_range_and_whole(pieces: list[list[Any]]) -> bool:
        return {piece[1] == piece[_SIZE] for piece in pieces} == {True, False}

    there_bytes = mover.killed_after(has_range_and_whole)
    whole = {piece[0] for piece in mover.pieces() if piece[1] == piece[_SIZE]}
    assert 0 < there_bytes < TOTAL_BYTES
    run = mover.run()
    assert _is_complete(run)
    assert mover.is_same()
    [said] = [one for one in _notices(run) if one.startswith("resumes: ")]
    assert f"of {FILES} files" in said
    assert mover.transferred() == [TOTAL_BYTES - there_bytes]
    assert (
        mover.ordered_files()
        == {str(path.relative_to(mover.source)) for path in mover.source.rglob("*.dat")} - whole
    )
    seen = [event for event in run.events if event["event"] == "files_moving"]
    assert all(sum(c["moved_bytes"] for c in one["classes"]) >= there_bytes for one in seen)
    assert not mover.journals


def test_interrupted_it_says_how_to_resume(mover: Mover) -> None:
    run = mover.run(hangs=True)
    assert wait_until(lambda: bool(mover.pieces()), 60)
    run.process.send_signal(signal.SIGINT)
    assert run.finish().returncode == 130
    assert run.events[-1]["message"].endswith("; the same command resumes from there")
    there_bytes = _sum(mover.pieces())
    # What was noted in the moment of the interruption may not be counted yet.
    assert run.events[-1]["moved_bytes"] <= there_bytes
    assert _is_complete(mover.run("--sample"))
    assert mover.transferred() == [TOTAL_BYTES - there_bytes]
    assert mover.is_same()


def test_a_journal_with_a_torn_last_line(mover: Mover) -> None:
    mover.killed_after(lambda pieces: len(pieces) > 1)
    [journal] = mover.journals
    with journal.open("r+b") as file:
        file.truncate(journal.stat().st_size - 7)
    there_bytes = _sum(mover.pieces())
    assert _is_complete(mover.run("--method", "single-chunk"))
    assert mover.transferred() == [TOTAL_BYTES - there_bytes]
    assert mover.is_same()


def test_what_changed_here_or_is_gone_there_is_moved_again(mover: Mover) -> None:
    mover.killed_after(lambda pieces: sum(piece[0].startswith("tiny") for piece in pieces) > 2)
    tiny = sorted({piece[0] for piece in mover.pieces() if piece[0].startswith("tiny")})
    changed, gone, kept = tiny[:3]
    (mover.source / changed).write_bytes(os.urandom(5000))
    (mover.target / gone).unlink()
    assert _is_complete(mover.run())
    assert mover.is_same()
    ordered = mover.ordered_files()
    assert {changed, gone} <= ordered
    assert kept not in ordered


def test_what_was_gone_there_is_not_believed_a_run_later(mover: Mover) -> None:
    """Its end may be written first then, and it is as long as if all of it were there."""
    mover.killed_after(lambda pieces: any(piece[0].startswith("large") for piece in pieces))
    [name, *_] = [piece[0] for piece in mover.pieces() if piece[0].startswith("large")]
    (mover.target / name).unlink()
    run = mover.run(hangs=True, let_through=0)
    run.wait_for("files_moving")
    run.process.kill()
    run.finish()
    (mover.target / name).touch(0o666)
    os.truncate(mover.target / name, 24_000_000)
    (mover.target / name).chmod(0o666)
    assert _is_complete(mover.run())
    assert mover.is_same()


def test_killed_again_and_again(mover: Mover) -> None:
    moments, there_bytes = random.Random(3), 0

    def has_more(pieces: list[list[Any]]) -> bool:
        return _sum(pieces) > there_bytes

    for _ in range(4):
        there_bytes = mover.killed_after(has_more, let_through=1, after_s=moments.random() / 5)
    run = mover.run()
    assert _is_complete(run)
    assert sum(mover.transferred()) == TOTAL_BYTES - there_bytes
    assert mover.is_same()


def test_where_nothing_answers_it_says_how_to_resume(mover: Mover, server: Server) -> None:
    server.end()
    run = mover.run()
    assert run.finish().returncode == 1
    assert run.events[-1]["message"].endswith("; the same command resumes from there")


def test_the_second_of_two_at_once_says_so(mover: Mover) -> None:
    first = mover.run(hangs=True)
    assert wait_until(lambda: bool(mover.pieces()), 60)
    second = mover.run()
    done = second.finish()
    assert done.returncode == 1
    assert second.events[-1]["event"] == "gave_up"
    assert "is already running" in second.events[-1]["message"]
    assert not mover.ordered_files()
    first.process.send_signal(signal.SIGINT)
    assert first.finish().returncode == 130
    assert _is_complete(mover.run())


def test_restart_moves_everything(mover: Mover) -> None:
    assert mover.killed_after() > 0
    run = mover.run("--restart")
    assert _is_complete(run)
    assert not any(one.startswith("resumes: ") for one in _notices(run))
    assert mover.transferred() == [TOTAL_BYTES]
    assert mover.is_same()


@pytest.mark.as_root
def test_a_full_disk_leaves_the_transfer_as_it_is(
    mover: Mover, small_disk: Path, tmp_path: Path
) -> None:
    mover.environment["XDG_STATE_HOME"] = str(small_disk)
    (small_disk / "rest").write_bytes(b"x" * 12 * 1024)
    with pytest.raises(OSError, match="No space"), (small_disk / "more").open("wb") as more:
        more.write(b"x" * 2**16)
    run = mover.run("--lists", str(tmp_path / "plan"))
    assert _is_complete(run)
    assert len([one for one in _notices(run) if "cannot be recorded in" in one]) == 1
    assert mover.is_same()
    assert not mover.journals
