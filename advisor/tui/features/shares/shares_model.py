"""The state of a transfer to several destinations, rebuilt from its events alone. Pure."""

from collections import deque
from collections.abc import Iterable
from typing import Final, TypeAlias

from advisor.domain import events as ev
from advisor.domain.plan import ClassProgress
from advisor.domain.shares import ServedRow, SharePlan

LoggedShares: TypeAlias = ev.SharesSeen | ev.SharesChanged | ev.DestinationEnded | ev.Notice
"""Events shown in the log: of the epochs those in which a destination got nothing."""

_MOST_LOGGED: Final = 400


class DestinationModel:
    """One destination. `concurrency`: files at a time now. Rates are in bit/s, None if unknown.

    `expected_bps`: the newest prediction; `interval_bps`: the plan's 90 % interval, None once the
    concurrencies differ from the plan. `asked_bps`: the requested rate. `seen`: its last epoch.
    `progress`: how far it is; `ended`: how it ended. `mean_bps`: its mean rate, known at the end.
    """

    def __init__(self) -> None:
        self.concurrency = 0
        self.expected_bps: float | None = None
        self.interval_bps: tuple[float, float] | None = None
        self.asked_bps: float | None = None
        self.seen: ServedRow | None = None
        self.progress: ClassProgress | None = None
        self.ended: ev.DestinationEnded | None = None
        self.mean_bps: float | None = None

    @property
    def now_bps(self) -> float | None:
        """The present rate; None where nothing is being moved."""
        return self.progress.rate_bps if self.progress and not self.ended else None

    @property
    def got_bps(self) -> float | None:
        """The mean rate of the whole run once it ended, else of the last epoch, else at present."""
        if self.mean_bps is not None:
            return self.mean_bps
        return self.seen.measured_bps if self.seen else self.now_bps


class SharesModel:
    """Applies events; its attributes are the present state. `version` grows with each event.

    `epoch`: the present one, which began at `epoch_began_s`; 0 before the first. `destinations`: by
    name. `moving`: total progress.
    """

    def __init__(self, events: Iterable[ev.AnyEvent] = ()) -> None:
        self.version = 0
        self.at_s = 0.0
        self.plan: SharePlan | None = None
        self.started: ev.SharesStarted | None = None
        self.epoch = 0
        self.epoch_began_s = 0.0
        self.destinations: dict[str, DestinationModel] = {}
        self.moving: ev.FilesMoving | None = None
        self.log: deque[tuple[float, LoggedShares]] = deque(maxlen=_MOST_LOGGED)
        self.ended: ev.SharesEnded | None = None
        self.gave_up: ev.GaveUp | None = None
        for event in events:
            self.apply(event)

    @property
    def is_over(self) -> bool:
        """Whether the last event has come."""
        return self.ended is not None or self.gave_up is not None

    def apply(self, event: ev.AnyEvent) -> None:
        """Take the next event."""
        self.version += 1
        # Some notices have no time.
        self.at_s = max(self.at_s, event.at_s)
        if not self._apply_to_all(event):
            self._apply_to_some(event)

    def _of(self, destination: str) -> DestinationModel:
        return self.destinations.setdefault(destination, DestinationModel())

    def _apply_to_all(self, event: ev.AnyEvent) -> bool:
        match event:
            case ev.SharesPlanned():
                self._take_plan(event.plan)
            case ev.SharesStarted():
                self.started = event
                self.epoch, self.epoch_began_s = 1, event.at_s
                self._set(event.concurrency)
            case ev.FilesMoving():
                self.moving = event
                for one in event.classes:
                    self._of(one.size).progress = one
            case ev.SharesEnded():
                self.ended = event
                for outcome in event.rows:
                    self._of(outcome.destination).mean_bps = outcome.rate_bps
            case ev.GaveUp():
                self.gave_up = event
            case _:
                return False
        return True

    def _apply_to_some(self, event: ev.AnyEvent) -> None:
        match event:
            case ev.SharesSeen():
                self._take_epoch(event)
            case ev.SharesChanged():
                self._set(event.new)
                self.log.append((self.at_s, event))
            case ev.DestinationEnded():
                self._of(event.destination).ended = event
                self.log.append((self.at_s, event))
            case ev.Notice():
                self.log.append((self.at_s, event))

    def _take_plan(self, plan: SharePlan) -> None:
        self.plan = plan
        for row in plan.rows:
            one = self._of(row.destination)
            one.expected_bps, one.interval_bps = row.expected_bps, row.interval_bps
            one.asked_bps = row.asked_bps

    def _take_epoch(self, event: ev.SharesSeen) -> None:
        self.epoch, self.epoch_began_s = event.epoch + 1, event.at_s
        for row in event.rows:
            one = self._of(row.destination)
            one.seen = row
            if row.expected_bps is not None:
                one.expected_bps = row.expected_bps
            if row.asked_bps is not None:
                one.asked_bps = row.asked_bps
        if any(row.failure for row in event.rows):
            self.log.append((self.at_s, event))

    def _set(self, levels: dict[str, int]) -> None:
        """Set the concurrencies."""
        for name, level in levels.items():
            self._of(name).concurrency = level
        planned = {row.destination: row.concurrency for row in self.plan.rows} if self.plan else {}
        if levels != planned:
            for one in self.destinations.values():
                one.interval_bps = None
