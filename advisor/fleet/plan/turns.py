"""The planner's decisions, and what it decides on."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Literal, NamedTuple

import msgspec

News = Literal["none", "suspected", "changed"]
"""What a result says beside the pair's own history: see models/change_point.py."""


class Reason(StrEnum):
    """Why a pair is measured now."""

    NEVER = "never measured"
    AGE = "age"
    SUSPECTED = "a change is suspected"
    CHANGED = "a change was seen"
    PLANNED = "traffic is planned"
    RETRY = "it failed before"


class Turn(NamedTuple):
    """A pair to measure now: both hosts and what they share are held for it.

    `due_s`: since when it is due, the head start of urgent reasons included. `last_s`: when it was
    measured last, None for never. `most_bytes`: what it may move at most.
    """

    task: int
    source: int
    destination: int
    reason: Reason
    due_s: float
    last_s: float | None
    most_bytes: float


class Wait(NamedTuple):
    """Nothing is due that can be measured now.

    `until_s`: when that may be otherwise, if nothing ends before; infinite for never.
    """

    until_s: float


class Result(msgspec.Struct, frozen=True):
    """A measurement that succeeded. `moved_bytes`: what it sent, all of it.

    `rate_bps`, `rtt_s`: what was measured, None where it was not.
    """

    moved_bytes: float
    rate_bps: float | None = None
    rtt_s: float | None = None
    news: News = "none"


class KnownPair(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a pair of a task.

    `failures`: in succession, since the last success; `gave_way`: how often it ended for a user
    since then, and when last. `checks`: how often in succession it was measured because of `news`.
    """

    task: int
    source: int
    destination: int
    last_s: float | None = None
    failures: int = 0
    failed_s: float = 0.0
    gave_way: int = 0
    gave_way_s: float = 0.0
    rate_bps: float | None = None
    rtt_s: float | None = None
    news: News = "none"
    checks: int = 0


class KnownTraffic(msgspec.Struct, frozen=True, kw_only=True):
    """A measurement that ended in the last 24 hours."""

    source: int
    destination: int
    ended_s: float
    moved_bytes: float


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What is known before planning begins; the rest has never been measured.

    `running`: measurements of other workers, which count for `at_once` of the fleet. `held`: hosts
    that are in use, by a user or by other workers, each as often as it is held.
    `resources`: of each resource how many measurements use it. `down`: of each host that could not
    be reached, how often in succession and when last.
    """

    pairs: Sequence[KnownPair] = ()
    traffic: Sequence[KnownTraffic] = ()
    running: int = 0
    held: Sequence[int] = ()
    resources: dict[int, int] = {}
    down: dict[int, tuple[int, float]] = {}
