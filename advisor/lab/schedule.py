"""Schedules: timed changes, from a file of lines.

# external traffic, then a bad minute
at 60s: transfers 64
at 2min: loss 1%, rate 500Mbit
at 150s: cut
at 155s: restore
at 200s: kraken rtt 80ms
"""

import re
from typing import Any, Final

from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.quantities import parse_duration
from advisor.lab.messages import (
    MOST_COMPUTE,
    MOST_TRANSFERS,
    Action,
    Cut,
    ScheduledStep,
    SetLoad,
    SetPath,
)
from advisor.lab.paths import ENTRIES, BadPath, EmulatedPath, changed, read_changes

_LINE: Final = re.compile(r"at\s+(?P<time>[^:]+):\s*(?P<what>.+)")
_COUNTS: Final = {"transfers": MOST_TRANSFERS, "compute": MOST_COMPUTE}
_WORDS: Final = [*_COUNTS, "cut", "restore", *ENTRIES]


class BadSchedule(ProblemError, ValueError):
    """An invalid schedule; the message says which line, and what is wrong with it."""

    kind = ProblemKind.INVALID


def parse_schedule(text: str) -> list[ScheduledStep]:
    """The steps in the order of time. Raises BadSchedule."""
    steps = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].strip()
        if words:
            try:
                steps.append(_step(words))
            except ValueError as error:
                raise BadSchedule.about(f"line {number}", error) from None
    return sorted(steps, key=lambda step: step.at_s)


def _step(line: str) -> ScheduledStep:
    match = _LINE.fullmatch(line)
    if not match:
        raise ValueError(f"'{line}' is not 'at TIME: WHAT', as in 'at 60s: transfers 64'")
    time = match["time"].strip()
    at_s = 0.0 if time in {"0", "0s"} else parse_duration(time)
    host: str | None = None
    words: dict[str, str] = {}
    for part in match["what"].split(","):
        if not part.strip():
            raise ValueError("there is an empty part between commas")
        first, *rest = part.split()
        if first not in _WORDS and rest and host is None and not words:
            host, (first, *rest) = first, rest
        if first not in _WORDS:
            raise ValueError(f"'{first}' is not one of {', '.join(_WORDS)}")
        if first in words:
            raise ValueError(f"'{first}' is given twice")
        words[first] = " ".join(rest)
    return ScheduledStep(at_s=at_s, actions=_actions(words, host))


def _actions(words: dict[str, str], host: str | None) -> list[Action]:
    actions: list[Action] = []
    if "cut" in words and "restore" in words:
        raise ValueError("cut or restore: not both at once")
    for name in ("cut", "restore"):
        if name in words:
            if words.pop(name):
                raise ValueError(f"'{name}' takes no value")
            actions.append(Cut(is_cut=name == "cut", host=host))
    counts: dict[str, Any] = {name: words.pop(name) for name in _COUNTS if name in words}
    if counts:
        for name, value in counts.items():
            if not value.isdecimal() or int(value) > _COUNTS[name]:
                raise ValueError(f"{name} is a number from 0 to {_COUNTS[name]}, not '{value}'")
            counts[name] = int(value)
        actions.append(SetLoad(host=host, **counts))
    if words:
        changes = read_changes(words)
        if changes.mtu_bytes or changes.tcp_buffer_bytes:
            raise BadPath("mtu and tcp_buffer cannot change while the lab is up")
        changed(EmulatedPath(), changes)  # Report invalid numbers now, not at their time.
        actions.append(SetPath(changes=changes, host=host))
    return actions
