"""The events of stages and probes."""

import pytest

from advisor.advising.probe_events import ProbeEvents
from advisor.advising.prober import Probed
from advisor.advising.recorder import PendingProbe, ProbePurpose
from advisor.domain import events as ev
from advisor.domain.measurement import Interval, Outcome
from advisor.runtime.events import EventEmitter
from advisor.testing.samples import failed, measured

PURPOSE = ProbePurpose(stage="tcp", kind="search", label="centre")


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class Listening:
    """Events of probes, and all that was heard of them."""

    def __init__(self) -> None:
        self.heard: list[ev.AnyEvent] = []
        self.clock = Clock()
        self.events = ProbeEvents(EventEmitter(self.heard.append, self.clock))

    def end(self, outcome: Outcome, worth: Outcome | None) -> None:
        pending = PendingProbe(1, "tcp", {"streams": 2}, PURPOSE, Probed(outcome, b""))
        self.events.ended(pending, worth, 30.0)

    def best_bps(self) -> list[float]:
        return [one.throughput_bps for one in self.heard if isinstance(one, ev.BestChanged)]


@pytest.mark.asyncio
async def test_a_stage_says_when_it_began_and_why_it_ended() -> None:
    listening = Listening()
    async with listening.events.stage("tcp", "tcp", 20.0) as end:
        listening.clock.now_s += 5
        listening.end(measured(8e6), measured(8e6))
        end.reason = "the time is used"
    first, *_, last = listening.heard
    assert isinstance(first, ev.StageStarted)
    assert (first.at_s, first.stage, first.subject, first.budget_s) == (0.0, "tcp", "tcp", 20.0)
    assert isinstance(last, ev.StageEnded)
    assert (last.at_s, last.reason, last.probes) == (5.0, "the time is used", 1)
    assert last.elapsed_s == 5.0


@pytest.mark.asyncio
async def test_a_stage_that_is_cut_short_is_reported_as_well() -> None:
    listening = Listening()
    with pytest.raises(KeyError):
        async with listening.events.stage("tcp", "tcp", 20.0):
            raise KeyError
    last = listening.heard[-1]
    assert isinstance(last, ev.StageEnded)
    assert (last.reason, last.probes) == ("interrupted", 0)


def test_a_probe_is_reported_from_its_start_over_its_intervals_to_its_end() -> None:
    listening = Listening()
    listening.events.started(1, "tcp", {"streams": 2}, PURPOSE)
    watcher = listening.events.watcher(1)
    watcher.waiting(3)
    watcher.interval(Interval(0.0, 1.0, 10**6))
    listening.end(measured(8e6), measured(8e6))
    assert [type(one) for one in listening.heard] == [
        ev.ProbeStarted,
        ev.Waiting,
        ev.IntervalSeen,
        ev.ProbeEnded,
        ev.BestChanged,
    ]


def test_only_a_better_one_is_a_new_best() -> None:
    listening = Listening()
    for bps in (8e6, 7e6, 9e6):
        listening.end(measured(bps), measured(bps))
    assert listening.best_bps() == [8e6, 9e6]


def test_the_best_is_reported_by_what_a_probe_is_worth() -> None:
    listening = Listening()
    listening.end(measured(8e6), None)
    listening.end(measured(8e6), measured(5e6))
    listening.end(failed(), failed())
    assert listening.best_bps() == [5e6]
