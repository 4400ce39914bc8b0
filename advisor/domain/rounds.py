"""Which measurements of a profile are over, by what is recorded of them. Pure."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from advisor.domain.grid import Cell
from advisor.domain.measurement import Failure, FailureKind, is_rejected
from advisor.domain.records import ProbeRecord
from advisor.domain.space import setting_key

FAILURES_IN_A_ROW: Final = 12
"""After this many the path or the tool is the cause, not the settings."""

# What the peer, the files or the disks cause says nothing of the setting.
_OTHER_CAUSES: Final = frozenset(
    {FailureKind.PEER_GONE, FailureKind.NO_ACCESS, FailureKind.DISK_FULL}
)


def round_label(number: int) -> str:
    """What the measurements of one round are labelled with; `number` counts from 1."""
    return f"round {number}"


def rounds_over(
    cells: Iterable[Cell], repeats: int, probes: Iterable[ProbeRecord], tool: str = ""
) -> dict[Cell, set[str]]:
    """The labels of the rounds in which each cell was measured, or failed for good.

    `probes`: in the order they were measured. `tool`: what was profiled, "" for the network.

    Failures with another cause than the setting are to be made up. Those of a long row are made up
    once: where that many settings do not work, the profile still comes to its end. A setting that
    was refused is over in every round.
    """
    over: dict[Cell, set[str]] = {cell: set() for cell in cells}
    in_rows: set[tuple[Cell, str]] = set()
    for failed, group in groupby(_last_tries(probes), lambda one: isinstance(one.result, Failure)):
        row = list(group)
        for probe in row:
            cell, result = _cell(probe), probe.result
            if cell not in over:
                continue
            if is_rejected(result):
                over[cell].update(round_label(number + 1) for number in range(repeats))
                continue
            if isinstance(result, Failure) and _has_other_cause(probe.subject, result, tool):
                continue
            key = (cell, probe.label)
            if failed and len(row) >= FAILURES_IN_A_ROW and key not in in_rows:
                in_rows.add(key)
                continue
            over[cell].add(probe.label)
    return over


def _has_other_cause(subject: str, failure: Failure, tool: str) -> bool:
    """A transport is refused where its flows need more ports than there are; a tool by a server
    that is down."""
    is_down = failure.kind is FailureKind.REFUSED and subject == tool
    return failure.kind in _OTHER_CAUSES or is_down


def _cell(probe: ProbeRecord) -> Cell:
    return probe.subject, setting_key(probe.setting)


def _last_tries(probes: Iterable[ProbeRecord]) -> Iterator[ProbeRecord]:
    """The last of each measurement's tries, which follow each other."""
    for _, group in groupby(probes, lambda one: (_cell(one), one.label)):
        *_, last = group
        yield last
