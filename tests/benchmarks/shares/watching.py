"""Watches one `advisor share` command by its events, until it has reported enough epochs."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Final

import msgspec

from advisor.domain import events as ev
from advisor.domain.shares import ServedRow, ShareRow
from tests.benchmarks.shares.results import Epoch
from tests.benchmarks.wan.hosts import ROOT

_END_S: Final = 60.0


@dataclass(slots=True)
class Watched:
    """What a command has reported so far. `failures`: its messages on failures.

    `is_over`: it has ended by itself, complete.
    """

    seen: list[Epoch] = field(default_factory=list)
    planned: list[ShareRow] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    is_over: bool = False

    def take(self, event: ev.AnyEvent) -> None:
        match event:
            case ev.SharesPlanned(plan=plan):
                self.planned = [
                    msgspec.structs.replace(row, destination=_short(row.destination))
                    for row in plan.rows
                ]
            case ev.SharesSeen(rows=rows):
                self.seen.append(Epoch(when_s=round(time.time(), 2), rows=_of_hosts(rows)))
            case ev.SharesEnded(complete=complete):
                self.is_over = complete
            case ev.DestinationEnded(destination=destination, message=message):
                self.failures.append(f"{_short(destination)}: {message}")
            case ev.GaveUp(message=message):
                self.failures.append(message)
            case _:
                pass


def _of_hosts(rows: list[ServedRow]) -> list[ServedRow]:
    return [
        msgspec.structs.replace(
            row,
            destination=_short(row.destination),
            measured_bps=round(row.measured_bps),
            expected_bps=row.expected_bps and round(row.expected_bps),
            asked_bps=row.asked_bps and round(row.asked_bps),
        )
        for row in rows
    ]


def _short(destination: str) -> str:
    """The host's own name, without its lab's."""
    return destination.rpartition(":")[2]


def watch(
    argv: list[str], epochs: int, *, timeout_s: float, more: dict[str, str]
) -> tuple[Watched, str]:
    """Run it until it has reported this number of epochs, then end it as a user does.

    0 epochs: to its own end.

    Returns its reports, and why it does not count, or "": it reported too little, or not all
    destinations were served that long. `more`: additional environment variables.
    """
    watched = Watched()
    with tempfile.TemporaryFile("w+") as words, _child(argv, words, more) as child:
        assert child.stdout
        guard = threading.Timer(timeout_s, _kill, [child])
        guard.start()
        try:
            for line in child.stdout:
                watched.take(msgspec.json.decode(line, type=ev.AnyEvent))
                if epochs and len(watched.seen) == epochs:
                    break
        finally:
            guard.cancel()
        _end(child)
        is_good = not watched.failures and (
            len(watched.seen) == epochs or (not epochs and watched.is_over)
        )
        return watched, "" if is_good else _trouble(watched, words)


@contextlib.contextmanager
def _child(
    argv: list[str], words: IO[str], more: dict[str, str]
) -> Iterator[subprocess.Popen[str]]:
    """In a session of its own, which is ended with the block."""
    child = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=words,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | more,
        cwd=ROOT,
        start_new_session=True,
    )
    try:
        yield child
    finally:
        _kill(child)
        child.wait()
        if child.stdout:
            child.stdout.close()


def _end(child: subprocess.Popen[str]) -> None:
    """End it as a user does, or kill it if that takes too long. Later output is not read."""
    child.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.communicate(timeout=_END_S)


def _kill(child: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _trouble(watched: Watched, words: IO[str]) -> str:
    words.seek(0)
    lines = words.read().strip().splitlines()
    why = watched.failures or lines[-1:] or ["it printed nothing"]
    return f"{len(watched.seen)} epochs, then: {why[-1]}"
