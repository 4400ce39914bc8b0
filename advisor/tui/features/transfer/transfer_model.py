"""The state of a tuned transfer, rebuilt from its events alone. Pure."""

from collections import deque
from collections.abc import Iterable
from typing import Final, TypeAlias

from advisor.domain import events as ev
from advisor.domain.endpoints import Pair
from advisor.domain.plan import NodeProgress
from advisor.domain.space import Setting, concurrency_of, parallelism_of
from advisor.tui.kit.charts.thinning import Thinned

LoggedTransfer: TypeAlias = (
    ev.TransferStarted | ev.SettingChanged | ev.EpochEnded | ev.LoadChanged | ev.Notice
)
"""Events shown in the log: of the starts all but the first, of the epochs those that failed."""

_MOST_LOGGED: Final = 400
_MOST_LOADS: Final = 100


class TransferModel:
    """Applies events; its attributes are the present state. `version` grows with each event.

    Times are seconds since the first start, consecutive runs joined; `runs`: when each began to
    move files. `setting`: that of the present epoch, whose number is `epoch` and which began at
    `epoch_began_s`; 0 before the first. `changed`: the last change of setting. `nodes`: of a
    transfer over several. `moving`: the
    progress. Curves: `rates` in bit/s about each second, `epochs` the mean of each at its middle
    with `epoch_errors`, and `concurrency` and `parallelism` as they change. `loads`: the external
    load from each time on. Long transfers have thinned curves, and only the newest of everything
    else.
    """

    def __init__(self, events: Iterable[ev.AnyEvent] = ()) -> None:
        self.version = 0
        self.at_s = 0.0
        self.started: ev.TransferStarted | None = None
        self.runs: list[float] = []
        self.setting: Setting = {}
        self.nodes: list[NodeProgress] = []
        self.epoch = 0
        self.epoch_began_s = 0.0
        self.changed: ev.SettingChanged | None = None
        self.moving: ev.FilesMoving | None = None
        self.rates = Thinned()
        self.epochs = Thinned()
        self.epoch_errors = Thinned()
        self.concurrency = Thinned("last")
        self.parallelism = Thinned("last")
        self.loads: deque[tuple[float, ev.LoadChanged]] = deque(maxlen=_MOST_LOADS)
        self.log: deque[tuple[float, LoggedTransfer]] = deque(maxlen=_MOST_LOGGED)
        self.ended: ev.TransferEnded | None = None
        self.gave_up: ev.GaveUp | None = None
        # Each run counts its seconds from zero: this offset joins it to the runs before.
        self._before_s = 0.0
        for event in events:
            self.apply(event)

    @property
    def pair(self) -> Pair | None:
        """The pair, once it is known."""
        return self.started.pair if self.started else None

    @property
    def is_over(self) -> bool:
        """Whether the last event has come."""
        return self.ended is not None or self.gave_up is not None

    @property
    def is_verifying(self) -> bool:
        """Whether everything arrived and the checksums are being compared."""
        return self.moving is not None and self.moving.phase == "verify"

    def resume(self) -> None:
        """Prepare for a resumed run: the events to come belong to it."""
        self.version += 1
        self._before_s = self.at_s
        self.ended = self.gave_up = self.moving = None
        self.epoch = 0

    def apply(self, event: ev.AnyEvent) -> None:
        """Take the next event."""
        self.version += 1
        # Some notices have no time.
        self.at_s = at_s = max(self.at_s, self._before_s + event.at_s)
        if not self._apply_transfer(event, at_s):
            self._apply_tuning(event, at_s)

    def _apply_transfer(self, event: ev.AnyEvent, at_s: float) -> bool:
        match event:
            case ev.TransferStarted():
                if self.runs:
                    self.log.append((at_s, event))
                self.started = event
                self.runs.append(at_s)
                self.epoch, self.epoch_began_s = 1, at_s
                if not event.nodes:
                    self._set(at_s, event.setting)
            case ev.NodesMoving():
                self.nodes = event.nodes
                self._set_all(at_s, event)
            case ev.FilesMoving():
                self.moving = event
                if event.phase == "transfer":
                    self.rates.add(at_s, sum(one.rate_bps for one in event.classes))
            case ev.IntervalSeen():
                self.rates.add(at_s, event.throughput_bps)
            case ev.TransferEnded():
                self.ended = event
            case ev.GaveUp():
                self.gave_up = event
            case _:
                return False
        return True

    def _apply_tuning(self, event: ev.AnyEvent, at_s: float) -> None:
        match event:
            case ev.EpochEnded():
                middle_s = (self.epoch_began_s + at_s) / 2
                self.epochs.add(middle_s, event.throughput_bps)
                self.epoch_errors.add(middle_s, event.stderr_bps)
                self.epoch, self.epoch_began_s = event.epoch + 1, at_s
                if event.failure:
                    self.log.append((at_s, event))
            case ev.SettingChanged():
                self.changed = event
                self._set(at_s, event.new)
                self.log.append((at_s, event))
            case ev.LoadChanged():
                self.loads.append((at_s, event))
                self.log.append((at_s, event))
            case ev.Notice():
                self.log.append((at_s, event))

    def _set_all(self, at_s: float, event: ev.NodesMoving) -> None:
        """Files of all nodes together, and the most streams for each."""
        moving = [one for one in event.nodes if one.concurrency]
        setting: Setting = {
            "concurrency": sum(one.concurrency for one in moving),
            "parallelism": max((one.parallelism for one in moving), default=0),
        }
        if moving and setting != self.setting:
            self._set(at_s, setting)

    def _set(self, at_s: float, setting: Setting) -> None:
        self.setting = setting
        self.concurrency.add(at_s, concurrency_of(setting))
        self.parallelism.add(at_s, parallelism_of(setting))
