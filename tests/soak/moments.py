"""When a run is killed, and which processes with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final, Literal, Protocol, TypeAlias

import msgspec

Victim: TypeAlias = Literal["advisor", "all its processes", "connections", "server"]
"""What is killed first. Of the last two, the advisor follows a moment later, if it still runs."""

_VICTIMS: Final[Mapping[Victim, int]] = {
    "advisor": 6,
    "all its processes": 2,
    "connections": 1,
    "server": 1,
}
"""With how often, by their share."""

_HANGING: Final = "clients hang"
_SERVER_FIRST_S: Final = 2.5
_LONGEST_PAUSE_S: Final = 0.5


class Seen(Protocol):
    """A run as it is seen from outside."""

    def has_reported(self, event: str) -> bool:
        """Whether there was an event of this kind."""

    @property
    def has_resumed(self) -> bool:
        """Whether its journal is what it resumes from."""

    @property
    def clients(self) -> int:
        """How many were started."""

    @property
    def has_idle_client(self) -> bool:
        """Whether a client has ended."""

    @property
    def notes(self) -> int:
        """How often the journal was seen to grow since clients were started."""

    @property
    def is_all_reported(self) -> bool:
        """Whether clients were given all that was missing."""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """So long after a run is at this point `victim` is killed.

    `advisor_after_s`: and then the advisor, where it is not the victim itself. `pause_s`: before
    the next run is begun; 0 for one that is begun while clients of this one may not be gone yet.
    """

    point: str
    after_s: float
    victim: Victim
    advisor_after_s: float
    pause_s: float

    @property
    def clients_hang(self) -> bool:
        """Whether they move nothing: no end of their work ends them."""
        return self.point == _HANGING

    def is_due(self, run: Seen) -> bool:
        """Whether the run is at the point."""
        return _POINTS[self.point][0](run)


def moments(rng: Random, count: int) -> list[Moment]:
    """This many: each point in turn, those near the end of a transfer among the last."""
    points = list(_POINTS)
    first = rng.randrange(len(points))
    chosen = sorted((points[(first + n) % len(points)] for n in range(count)), key=_is_late)
    early = [one for one in chosen if not _is_late(one)]
    rng.shuffle(early)
    return [_moment(rng, point) for point in early + chosen[len(early) :]]


def sooner(moment: Moment) -> Moment:
    """One that comes in every run that has something to move."""
    return msgspec.structs.replace(moment, point="first client", after_s=0.0)


def _is_late(point: str) -> bool:
    return point in ("all drawn", "over")


def _moment(rng: Random, point: str) -> Moment:
    least_s, most_s = _POINTS[point][1]
    [victim] = rng.choices(list(_VICTIMS), weights=list(_VICTIMS.values()))
    return Moment(
        point=point,
        after_s=rng.uniform(least_s, most_s),
        victim=victim,
        advisor_after_s=rng.uniform(0, _SERVER_FIRST_S),
        pause_s=rng.choice((0.0, rng.uniform(0, _LONGEST_PAUSE_S))),
    )


_POINTS: Final[Mapping[str, tuple[Callable[[Seen], bool], tuple[float, float]]]] = {
    "start": (lambda run: True, (0.05, 0.8)),
    "path found": (lambda run: run.has_reported("path_found"), (0.0, 0.1)),
    "resumed": (lambda run: run.has_resumed, (0.0, 0.005)),
    _HANGING: (lambda run: run.clients > 0, (0.0, 0.4)),
    "first client": (lambda run: run.clients > 0, (0.0, 0.4)),
    "a few clients": (lambda run: run.clients > 4, (0.0, 0.2)),
    "client ended": (lambda run: run.has_idle_client, (0.0, 0.02)),
    "first note": (lambda run: run.notes > 0, (0.0, 0.02)),
    "some notes": (lambda run: run.notes > 2, (0.0, 0.2)),
    "all drawn": (lambda run: run.is_all_reported, (0.0, 0.1)),
    "over": (lambda run: run.has_reported("transfer_ended"), (0.0, 0.1)),
}
"""Each with the seconds after it."""
