"""One run of `advisor`, seen from outside: its events, its clients and its journal."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import psutil

from tests.soak.clients import Clients
from tests.soak.ranges import Range, Ranges

Phase: TypeAlias = Literal[
    "start", "listing", "resuming", "moving", "settling", "waiting", "ending"
]
"""Where a run is: before it knows the path, before its journal, before its first client; with
clients at work, with one that ended and is not noted, with none; with nothing left to note."""

_MARK: Final = "ADVISOR_SOAK_RUN"
_LOOK_EVERY_S: Final = 0.002


class Journal:
    """The one journal in a folder, as it is on the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def state(self) -> tuple[int, int] | None:
        """Which file it is and its size in bytes; None where there is none."""
        for path in self._folder.glob("*.jsonl"):
            with contextlib.suppress(FileNotFoundError):
                status = path.stat()
                return status.st_ino, status.st_size
        return None

    def ranges(self) -> Ranges:
        """What it says has arrived; a line that was torn off says nothing."""
        return Ranges(self._lines())

    def _lines(self) -> Iterator[Range]:
        for path in self._folder.glob("*.jsonl"):
            for line in _whole_lines(path)[1:]:
                name, *_, offset, length, _ = json.loads(line)
                yield Range(name, offset, offset + length)


def _whole_lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []


class AdvisorRun:
    """From its start on. `mark`: in the environment of all its processes."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        place: Path,
        clients: Clients,
        journal: Journal,
        sizes: Mapping[str, int],
    ) -> None:
        """`place`: what it prints goes there, with suffixes. `sizes`: of the files by name."""
        self.mark = str(place)
        self.client_runs = clients
        self._journal = journal
        self._sizes = sizes
        self._begun_as = self._last = journal.state
        self.there_before = journal.ranges()
        self.had_journal = self._begun_as is not None
        self.notes = 0
        self._out, self._errors = Path(f"{place}.out"), Path(f"{place}.err")
        with self._out.open("wb") as out, self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "advisor", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                env={**environment, **clients.environment, _MARK: self.mark},
                start_new_session=True,
            )

    def wait_for(self, condition: Callable[[], bool], timeout_s: float) -> bool:
        """Whether it holds while it runs, within the time."""
        deadline_s = time.monotonic() + timeout_s
        while self.process.poll() is None and time.monotonic() < deadline_s:
            self._look()
            if condition():
                return True
            time.sleep(_LOOK_EVERY_S)
        return False

    def _look(self) -> None:
        state = self._journal.state
        if state != self._last and self.clients:
            self.notes += 1
        self._last = state

    def kill(self) -> None:
        """The advisor alone."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, 9)

    def kill_all(self) -> None:
        """With all that it started, as a machine that goes down does."""
        found = processes_of(self.mark)
        self.kill()
        kill(found)

    def events(self) -> list[dict[str, Any]]:
        """Those that it reported whole."""
        return [json.loads(line) for line in _whole_lines(self._out)]

    @property
    def errors(self) -> str:
        """What it printed to its standard error."""
        return self._errors.read_text(errors="replace")

    def has_reported(self, event: str) -> bool:
        """Whether there was an event of this kind."""
        return f'{{"event":"{event}"'.encode() in self._out.read_bytes()

    @property
    def has_resumed(self) -> bool:
        """Whether its journal is what it resumes from."""
        return self._journal.state not in (self._begun_as, None)

    @property
    def clients(self) -> int:
        """How many were started."""
        return self.client_runs.count

    @property
    def has_idle_client(self) -> bool:
        """Whether a client has ended."""
        return self.client_runs.has_idle

    @property
    def is_all_reported(self) -> bool:
        """Whether clients were given all that was missing."""
        reported = (one for batch in self.client_runs.reported() for one in batch)
        return self._is_all(Ranges([*self.there_before, *reported]))

    def _is_all(self, ranges: Ranges) -> bool:
        return all(ranges.has(Range(name, 0, size)) for name, size in self._sizes.items())

    def phase(self) -> Phase:
        """Where it is at this moment."""
        state = self._journal.state
        if not self.has_reported("path_found"):
            return "start"
        if not self.clients:
            if self.has_reported("transfer_ended"):
                return "ending"
            return "listing" if state == self._begun_as else "resuming"
        noted = self._journal.ranges()
        if state is None or self._is_all(noted):
            return "ending"
        if any(is_open(batch, noted) for batch in self.client_runs.reported(ended=True)):
            return "settling"
        return "moving" if self.client_runs.has_busy else "waiting"


def kill(processes: Iterable[psutil.Process]) -> None:
    """At once; those that are gone are passed over."""
    for one in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()


def is_open(batch: Sequence[Range], noted: Ranges) -> bool:
    """Whether something that a client was to move is not noted."""
    return any(not noted.has(one) for one in batch)


def processes_of(mark: str) -> list[psutil.Process]:
    """Those that run with this mark."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(_MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found
