"""Replays a session's events: at any time and speed, forward and back."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from advisor.domain import events as ev
from advisor.tui.features.advising.session_model import SessionModel

_SPEEDS: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0)
# Nobody would wait for more: time without events is skipped.
_LONGEST_PAUSE_S: Final = 3.0


class Replay:
    """The replay of a session's events. `model` is its state at `at_s`.

    `at_s` and `length_s` are seconds since the session began, resumed runs joined.
    """

    def __init__(self, events: Sequence[ev.AnyEvent]) -> None:
        self._events = list(events)
        self._times = _times(events)
        # The times at which a probe ended, to step to.
        self._stops = [
            moment
            for moment, event in zip(self._times, self._events, strict=True)
            if isinstance(event, ev.ProbeEnded)
        ]
        self._applied = 0
        self.model = SessionModel()
        self.at_s = 0.0
        self.playing = False
        self.speed = 10.0
        self.end()

    @property
    def length_s(self) -> float:
        """The time of its last event."""
        return self._times[-1] if self._times else 0.0

    @property
    def probes(self) -> int:
        """The number of probes."""
        return len(self._stops)

    @property
    def probes_before(self) -> int:
        """The number of probes that ended by `at_s`."""
        return bisect_right(self._stops, self.at_s)

    def go_to(self, moment_s: float) -> None:
        """Go to this time."""
        self.at_s = min(max(moment_s, 0.0), self.length_s)
        wanted = bisect_right(self._times, self.at_s)
        if wanted < self._applied:
            self.model, self._applied = SessionModel(), 0
        for event in self._events[self._applied : wanted]:
            self.model.apply(event)
        self._applied = wanted

    def whole(self) -> SessionModel:
        """The state at the session's end, wherever the replay is."""
        return SessionModel(self._events)

    def end(self) -> None:
        """Go to the end, and stop."""
        self.go_to(self.length_s)
        self.playing = False

    def play_or_pause(self) -> None:
        """Play or pause; at the end start over."""
        self.playing = not self.playing
        if self.playing and self.at_s >= self.length_s:
            self.go_to(0.0)

    def step(self, probes: int) -> None:
        """Pause where this many more, or fewer, probes have ended."""
        self.playing = False
        wanted = self.probes_before + probes
        if wanted <= 0:
            self.go_to(0.0)
        elif wanted > self.probes:
            self.end()
        else:
            self.go_to(self._stops[wanted - 1])

    def change_speed(self, by: int) -> None:
        """Change to the next higher or lower speed."""
        index = _SPEEDS.index(self.speed) + by
        self.speed = _SPEEDS[min(max(index, 0), len(_SPEEDS) - 1)]

    def advance(self, passed_s: float) -> bool:
        """Advance by this much real time; returns whether it plays."""
        if not self.playing:
            return False
        moment_s = self.at_s + passed_s * self.speed
        following = self._times[self._applied] if self._applied < len(self._times) else None
        if following is not None and following - moment_s > _LONGEST_PAUSE_S * self.speed:
            moment_s = following
        self.go_to(moment_s)
        self.playing = self.at_s < self.length_s
        return True


def _times(events: Sequence[ev.AnyEvent]) -> list[float]:
    """The time of each event as a model counts it: monotonic, and continued by a resumed run."""
    times: list[float] = []
    before_s = latest_s = 0.0
    for event in events:
        if isinstance(event, ev.SessionStarted) and event.resumed:
            before_s = latest_s
        latest_s = max(latest_s, before_s + event.at_s)
        times.append(latest_s)
    return times
