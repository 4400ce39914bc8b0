"""Watches one transfer for a fixed time: the bytes received each second, and its reports."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

import msgspec

from advisor.domain import events as ev
from tests.benchmarks.transfers.results import Change, Flow, Look
from tests.benchmarks.wan.hosts import ROOT

_LOOK_EVERY_S: Final = 1.0
_BEGIN_S: Final = 60.0
_END_S: Final = 30.0
_BLOCK_BYTES: Final = 512


Turn = tuple[float, Callable[[], None]] | None


@dataclass(slots=True)
class Reported:
    """A transfer's reports so far; times since it began to move files."""

    began_s: float | None = None
    began_at_s: float = 0.0
    moved_bytes: int = 0
    flows: list[Flow] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    gave_up: str = ""

    def take(self, event: ev.AnyEvent) -> None:
        match event:
            case ev.TransferStarted():
                self.began_s, self.began_at_s = time.monotonic(), event.at_s
            case ev.FilesMoving(classes=[now]):
                self.moved_bytes = now.moved_bytes
                self.flows.append(Flow(self._at_s(event), now.clients, now.parallelism))
            case ev.SettingChanged(new=new):
                concurrency, parallelism = new.get("concurrency", 1), new.get("parallelism", 1)
                at_s = self._at_s(event)
                self.changes.append(Change(at_s, event.epoch, int(concurrency), int(parallelism)))
            case ev.GaveUp():
                self.gave_up = event.message
            case _:
                pass

    def _at_s(self, event: ev.Event) -> float:
        return round(event.at_s - self.began_at_s, 2)


@dataclass(frozen=True, slots=True)
class Seen:
    """A transfer that was stopped. `trouble`: why it does not count, or ""."""

    reported: Reported
    looks: list[Look]
    turned_s: float | None
    trouble: str


class Watch:
    """Runs a command, of `advisor transfer --json` or any that moves files, for `seconds`.

    `turn`: what to do after this many seconds of it. `prints_events`: the time of one that does not
    print them counts from its start.
    """

    def __init__(
        self,
        argv: list[str],
        target: Path,
        seconds: float,
        *,
        more: dict[str, str],
        turn: Turn = None,
        prints_events: bool = True,
    ) -> None:
        self._argv = argv
        self._target = target
        self._seconds = seconds
        self._environment = os.environ | {"PYTHONPATH": str(ROOT)} | more
        self._turn = turn
        self._reported = Reported()
        self._prints_events = prints_events

    def run(self) -> Seen:
        """To its end, which comes by SIGINT."""
        with tempfile.TemporaryFile("w+") as words, self._child(words) as child:
            reader = threading.Thread(target=self._read, args=(child,), daemon=True)
            reader.start()
            looks, turned_s = self._look_on(child)
            ended_early = child.poll() is not None
            _end(child)
            reader.join(_END_S)
            trouble = self._trouble(words) if ended_early or not looks else ""
        return Seen(self._reported, looks, turned_s, trouble)

    @contextlib.contextmanager
    def _child(self, words: IO[str]) -> Iterator[subprocess.Popen[str]]:
        """In a session of its own, which is ended with the block."""
        child = subprocess.Popen(
            self._argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=words,
            text=True,
            env=self._environment,
            cwd=ROOT,
            start_new_session=True,
        )
        if not self._prints_events:
            self._reported.began_s = time.monotonic()
        try:
            yield child
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            if child.stdout:
                child.stdout.close()

    def _read(self, child: subprocess.Popen[str]) -> None:
        assert child.stdout
        for line in child.stdout:
            if self._prints_events:
                self._reported.take(msgspec.json.decode(line, type=ev.AnyEvent))

    def _look_on(self, child: subprocess.Popen[str]) -> tuple[list[Look], float | None]:
        """Until its time is up or it ends."""
        deadline_s = time.monotonic() + _BEGIN_S
        while (began_s := self._reported.began_s) is None:
            if child.poll() is not None or time.monotonic() > deadline_s:
                return [], None
            time.sleep(0.02)
        looks = [Look(0.0, 0)]
        turned_s: float | None = None
        turning = threading.Thread(target=self._turn[1], daemon=True) if self._turn else None
        while looks[-1].at_s < self._seconds and child.poll() is None:
            due_s = min(looks[-1].at_s + _LOOK_EVERY_S, self._seconds)
            time.sleep(max(0.0, began_s + due_s - time.monotonic()))
            at_s = time.monotonic() - began_s
            looks.append(Look(round(at_s, 3), stored_bytes(self._target)))
            if self._turn and turning and turned_s is None and at_s >= self._turn[0]:
                turned_s = at_s
                turning.start()
        if turning and turned_s is not None:
            turning.join()
        return looks, turned_s

    def _trouble(self, words: IO[str]) -> str:
        words.seek(0)
        lines = words.read().strip().splitlines()
        return self._reported.gave_up or (
            lines[-1] if lines else "it ended early and printed nothing"
        )


def _end(child: subprocess.Popen[str]) -> None:
    """End it as a user does, or kill it if that takes too long."""
    for number in (signal.SIGINT, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_END_S)
            return


def stored_bytes(folder: Path) -> int:
    """The space that the files take in the file system; holes take none."""
    total = 0
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(folder):
            if entry.is_file(follow_symlinks=False):
                total += entry.stat().st_blocks * _BLOCK_BYTES
    return total


def advisor_argv(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "advisor", *words]
