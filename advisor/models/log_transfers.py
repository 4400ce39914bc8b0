"""Reassembles transfers from the files that a server logged one by one.

A server does not know which files belong together: it logs each when it ends. Here, files with the
same `Movement` are one transfer as long as the pauses between them, with none in flight, are no
longer than usual there: five times their median, where overlapping files count as a pause of zero.
Pauses below `LEAST_PAUSE_S` never divide, as a busy file system may cause them; those above `GAP_S`
always do, as no program pauses that long between two files. So commands that a script runs one
after another are distinguished, unless they are that close, or each moves one file.

A file that takes hours ends long after those it ran in parallel with, and logs may be read in any
order. So a transfer stays open until the log is `STAYS_OPEN_S` past it; memory grows with the open
transfers and their files, not with the log.
"""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

LEAST_PAUSE_S: Final = 0.5
GAP_S: Final = 10.0
STAYS_OPEN_S: Final = 24 * 3600.0
MOST_OPEN: Final = 50_000
_UNUSUAL: Final = 5
# A movement's pauses are kept up to this number; then the older half of the files is divided.
_MOST_RUNS: Final = 4096

Place = tuple[str, int]


class Movement(NamedTuple):
    """What the files of one transfer have in common.

    `host` logged it. It received the files from `peer` if `received`, else it sent them there.
    `task`: the client's name for it, "" without. `streams`: per file. `sizes`: of buffer and block
    as logged, which differ between commands.
    """

    host: str
    peer: str
    user: str
    task: str
    received: bool
    streams: int
    sizes: tuple[str, str]


class LoggedFile(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One moved file, between two Unix times.

    `retransmits`: None where the sender's are not known. `place`: log and line.
    """

    movement: Movement
    name: str
    size_bytes: int
    start_s: float
    end_s: float
    retransmits: int | None
    place: Place


class LoggedTransfer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Files that were moved together, from the start of the first to the end of the last.

    `concurrency`: the mean number in flight while any was, at least 1. `place`: the first of their
    lines.
    """

    movement: Movement
    files: int
    total_bytes: int
    start_s: float
    end_s: float
    concurrency: int
    retransmits: int | None
    place: Place

    @property
    def elapsed_s(self) -> float:
        """The whole time, including pauses between files."""
        return self.end_s - self.start_s


class LogTransfers:
    """Takes files in any order and returns transfers; fastest in the order of their ends."""

    def __init__(self, most_open: int = MOST_OPEN) -> None:
        self._most_open = most_open
        # Per movement, in order of time and disjoint.
        self._runs: dict[Movement, list[_Run]] = defaultdict(list)

    def add(self, file: LoggedFile) -> bool:
        """Add a file; False if the identical one is already open."""
        runs = self._runs[file.movement]
        first = bisect_left(runs, file.start_s, key=lambda run: run.end_s)
        behind = first
        while behind < len(runs) and runs[behind].start_s <= file.end_s:
            behind += 1
        new = _Run(file)
        if any(new.marks <= run.marks for run in runs[first:behind]):
            return False
        for run in runs[first:behind]:
            new = new.overlapping(run)
        runs[first:behind] = [new]
        if len(runs) > _MOST_RUNS:
            runs[: _MOST_RUNS // 2] = _divided(runs[: _MOST_RUNS // 2])
        return True

    def ended(self, now_s: float) -> list[LoggedTransfer]:
        """The transfers that count as complete once the log has reached `now_s`."""
        found = self._taken_before(now_s - STAYS_OPEN_S)
        left = [run.end_s for runs in self._runs.values() for run in runs]
        if len(left) > self._most_open:
            found += self._taken_before(sorted(left)[len(left) // 2])
        return found

    def rest(self) -> list[LoggedTransfer]:
        """All transfers that are still open, at the end of the log."""
        return self._taken_before(math.inf)

    def _taken_before(self, time_s: float) -> list[LoggedTransfer]:
        taken: list[LoggedTransfer] = []
        for movement, runs in list(self._runs.items()):
            count = bisect_left(runs, time_s, key=lambda run: run.end_s)
            while 0 < count < len(runs) and not _is_apart(*runs[count - 1 : count + 1]):
                count -= 1
            taken += [run.transfer(movement) for run in _divided(runs[:count])]
            del runs[:count]
            if not runs:
                del self._runs[movement]
        return sorted(taken, key=lambda transfer: transfer.start_s)


class _Run:
    """Files without a pause between them, or such runs found to be one transfer.

    `file_s`: the sum of the files' durations. `busy_s`: the time with any in flight. `overlaps`:
    the number of files that started before another ended. `ended`: what follows is another
    transfer.
    """

    __slots__ = (
        "busy_s",
        "end_s",
        "ended",
        "file_s",
        "files",
        "marks",
        "overlaps",
        "place",
        "retransmits",
        "start_s",
        "total_bytes",
    )

    def __init__(self, file: LoggedFile) -> None:
        self.start_s, self.end_s = file.start_s, file.end_s
        self.file_s = self.busy_s = file.end_s - file.start_s
        self.files = 1
        self.total_bytes = file.size_bytes
        self.overlaps = 0
        self.marks = {hash((file.start_s, file.end_s, file.size_bytes, file.name))}
        self.retransmits = file.retransmits
        self.place = file.place
        self.ended = False

    def overlapping(self, other: "_Run") -> "_Run":
        """Merge both; the other's figures are modified."""
        shared_s = min(self.end_s, other.end_s) - max(self.start_s, other.start_s)
        # Pauses inside a run are not recorded, so how many of them both share is unknown.
        busy_s = self.busy_s + other.busy_s - min(shared_s, self.busy_s, other.busy_s)
        one = other.with_(self)
        one.busy_s = busy_s
        one.overlaps += 1
        return one

    def with_(self, other: "_Run") -> "_Run":
        """Add another run to this one."""
        self.start_s, self.end_s = min(self.start_s, other.start_s), max(self.end_s, other.end_s)
        self.file_s += other.file_s
        self.busy_s += other.busy_s
        self.files += other.files
        self.total_bytes += other.total_bytes
        self.overlaps += other.overlaps
        # Merge the smaller set into the larger, so that marks are rarely copied.
        small, large = sorted((self.marks, other.marks), key=len)
        large |= small
        self.marks = large
        known = self.retransmits is not None and other.retransmits is not None
        self.retransmits = (self.retransmits or 0) + (other.retransmits or 0) if known else None
        self.place = min(self.place, other.place)
        self.ended = False
        return self

    def transfer(self, movement: Movement) -> LoggedTransfer:
        return LoggedTransfer(
            movement=movement,
            files=self.files,
            total_bytes=self.total_bytes,
            start_s=self.start_s,
            end_s=self.end_s,
            concurrency=max(1, round(self.file_s / self.busy_s)) if self.busy_s > 0 else 1,
            retransmits=self.retransmits,
            place=self.place,
        )


def _divided(runs: Sequence[_Run]) -> list[_Run]:
    """The runs of each transfer merged. All have `ended`, the last only if it had before."""
    if not runs:
        return []
    last_ended = runs[-1].ended
    whole: list[_Run] = []
    for near in _apart(runs, GAP_S):
        for group in _apart(near, max(LEAST_PAUSE_S, _UNUSUAL * _usual_pause_s(near))):
            one, *others = group
            for other in others:
                one.with_(other)
            one.ended = True
            whole.append(one)
    whole[-1].ended = last_ended
    return whole


def _apart(runs: Iterable[_Run], pause_s: float) -> Iterator[list[_Run]]:
    """The runs in groups separated by pauses longer than this."""
    group: list[_Run] = []
    for run in runs:
        if group and (group[-1].ended or _pause_s(group[-1], run) > pause_s):
            yield group
            group = []
        group.append(run)
    if group:
        yield group


def _is_apart(one: _Run, following: _Run) -> bool:
    return one.ended or _pause_s(one, following) > GAP_S


def _usual_pause_s(runs: Sequence[_Run]) -> float:
    """The median pause, where each overlap of files counts as a pause of 0."""
    pauses_s = sorted(_pause_s(*two) for two in pairwise(runs))
    overlaps = sum(run.overlaps for run in runs)
    middle = (len(pauses_s) + overlaps) // 2 - overlaps
    return pauses_s[middle] if 0 <= middle < len(pauses_s) else 0.0


def _pause_s(one: _Run, following: _Run) -> float:
    return following.start_s - one.end_s
