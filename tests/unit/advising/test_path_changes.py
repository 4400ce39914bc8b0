"""Whether the path changed while a session measured it, by probes and in whole sessions."""

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import ClassVar

import msgspec
import pytest

from advisor.advising.path_changes import on_the_path_now, out_of_date, path_change
from advisor.advising.prober import Probed, Watcher
from advisor.domain.endpoints import Pair
from advisor.domain.events import Purpose
from advisor.domain.measurement import Failure, FailureKind, Measurement, Outcome
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from tests.unit.advising.played import PlayedPath, PlayedRunner
from tests.unit.advising.simulated import MIB, SimulatedAdvice, simulate

FAILED = Failure(kind=FailureKind.RESET, message="no", elapsed_s=1)


def _measured(rate_bps: float, error: float = 0.1, *, settled: bool = True) -> Measurement:
    return Measurement(
        throughput_bps=rate_bps,
        stderr_bps=error * rate_bps,
        intervals=[],
        steady_from=0,
        settled=settled,
        elapsed_s=2,
    )


def _probes(*measured: tuple[int, Outcome]) -> list[ProbeRecord]:
    """One for each number of streams with its outcome."""
    return [
        ProbeRecord(
            pair=Pair("a", "b"),
            subject="tcp",
            setting={"streams": streams, "buffer_bytes": 0, "congestion": "bbr"},
            result=result,
            recorded_s=number,
        )
        for number, (streams, result) in enumerate(measured)
    ]


def _left(*measured: tuple[int, Outcome]) -> list[float]:
    """The seconds of the probes that still count."""
    return [probe.recorded_s for probe in on_the_path_now(_probes(*measured))]


def test_probes_before_the_older_of_two_that_cannot_agree_do_not_count() -> None:
    empty, full = _measured(1e9), _measured(1.1e8)
    assert _left((4, empty), (1, empty), (16, full), (1, full)) == [2, 3]
    assert _left((1, full), (16, full), (1, empty)) == [1, 2]


@pytest.mark.parametrize(
    "later",
    [
        _measured(3.5e8, 0.01),  # Less than a factor of three.
        _measured(2e8, 0.5),
        FAILED,
    ],
)
def test_what_chance_explains_is_no_change(later: Outcome) -> None:
    probes = _probes((1, _measured(1e9)), (16, _measured(1e8)), (1, later))
    assert path_change(probes) is None
    assert on_the_path_now(probes) == probes


@pytest.mark.parametrize(
    ("settled", "purpose", "changed"),
    [(True, "search", True), (False, "search", False), (False, "confirm", True)],
)
def test_a_search_may_have_cut_its_probe_short(
    settled: bool, purpose: Purpose, changed: bool
) -> None:
    late, early = _measured(1e9), _measured(1.6e8, settled=settled)
    [first, second] = _probes((8, early), (8, late))
    first = msgspec.structs.replace(first, purpose=purpose)
    assert (path_change([first, second]) is not None) == changed


def test_other_settings_may_differ_by_any_factor() -> None:
    assert path_change(_probes((1, _measured(1e9)), (16, _measured(1e6)))) is None


def test_each_change_is_noticed_once_and_named() -> None:
    rates = [1e9, 1e8, 1e8, 1e9, 1e9]
    probes = _probes(*((1, _measured(rate)) for rate in rates))
    noticed = [path_change(probes[:count]) for count in range(len(probes) + 1)]
    indices = [(one.first_now, one.noticed) for one in noticed if one]
    assert [index for index, _ in itertools.groupby(indices)] == [(1, 1), (3, 3)]
    assert noticed[2]
    assert noticed[2].words == (
        "the path changed while it was measured: TCP, 1 stream, the kernel's own buffers, bbr "
        "reached 1 Gbit/s, and 100 Mbit/s later; what was measured before does not count"
    )


def test_the_older_of_two_that_seem_wrong_is_repeated_once() -> None:
    many, few = (16, _measured(1e8)), (1, _measured(1e9))
    assert out_of_date(_probes(many)) is None
    for first, second in ((few, many), (many, few)):
        probes = _probes(first, second)
        found = out_of_date(probes)
        assert found is not None
        assert found[0] == probes[0]
        assert found[1] == pytest.approx(math.log(10))
    assert out_of_date(_probes(few, many, few, many)) is None
    assert out_of_date(_probes(few, many, (1, FAILED), (16, FAILED))) is None
    assert out_of_date(_probes((1, FAILED), many)) is None


def test_more_streams_may_be_slower_by_chance_or_with_other_buffers() -> None:
    few = (1, _measured(1e9))
    assert out_of_date(_probes(few, (16, _measured(7e8)))) is None
    assert out_of_date(_probes(few, (16, _measured(5e8, 0.4)))) is None
    [one, other] = _probes(few, (16, _measured(1e8)))
    other = msgspec.structs.replace(other, setting=dict(other.setting) | {"buffer_bytes": MIB})
    assert out_of_date([one, other]) is None


EMPTY = PlayedPath(name="empty", rate_bps=1e9, rtt_s=0.0456, queue=1.0, auto_bytes=64 * MIB)
LOADED = dataclasses.replace(EMPTY, name="loaded", load=16)
"""One stream has a seventeenth of this one, 25 streams have 0.6 of it."""
SEEDS = 6


class LoadBegins(PlayedRunner):
    """Others begin to send after the first probe."""

    becomes: ClassVar[tuple[float, PlayedPath]] = (1.0, LOADED)

    async def run(self, subject: str, setting: Setting, watcher: Watcher) -> Probed:
        at_s, path = self.becomes
        if self.now_s >= at_s:
            self._path = path
        return await super().run(subject, setting, watcher)


class LoadBeginsLater(LoadBegins):
    """After both defaults."""

    becomes = (2.5, LOADED)


class LoadEnds(LoadBegins):
    """On a path that had it before."""

    becomes = (1.0, EMPTY)


async def _sessions(begins: PlayedPath, runner: type[LoadBegins]) -> list[SimulatedAdvice]:
    return [await simulate(begins, seed, runner_of=runner) for seed in range(SEEDS)]


def _hold(sessions: Sequence[SimulatedAdvice], path: PlayedPath) -> list[bool]:
    """Whether each session's advice is near the path's best and expects its true rate."""
    found = []
    for one in sessions:
        true_bps = path.true_bps(one.subject, one.setting)
        low, high = one.ranking.expected.interval
        found.append(true_bps > 0.9 * path.best_bps() and low <= true_bps <= high)
    return found


@pytest.mark.asyncio
@pytest.mark.parametrize("runner", [LoadBegins, LoadBeginsLater])
async def test_advice_is_for_the_load_that_began_during_the_session(
    runner: type[LoadBegins],
) -> None:
    sessions = await _sessions(EMPTY, runner)
    assert all(_hold(sessions, LOADED))
    for one in sessions:
        gain = one.ranking.gain
        assert gain
        assert gain.value > 5


@pytest.mark.asyncio
async def test_advice_is_for_the_empty_path_once_the_load_has_ended() -> None:
    sessions = await _sessions(LOADED, LoadEnds)
    assert all(_hold(sessions, EMPTY))


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("before", "runner", "now"),
    [
        (EMPTY, type("Loaded", (LoadBegins,), {"becomes": (0.0, LOADED)}), LOADED),
        (LOADED, type("Emptied", (LoadBegins,), {"becomes": (0.0, EMPTY)}), EMPTY),
    ],
)
async def test_more_time_measures_the_defaults_again_if_the_path_has_changed_since(
    before: PlayedPath, runner: type[LoadBegins], now: PlayedPath
) -> None:
    ended = [await simulate(before, seed) for seed in range(SEEDS)]
    sessions = [
        await simulate(before, seed, earlier=one.probes, more_s=60.0, runner_of=runner)
        for seed, one in enumerate(ended)
    ]
    assert all(_hold(sessions, now))
    for one in sessions:
        assert one.ranking.gain
        assert sum(p.purpose == "baseline" for p in on_the_path_now(one.probes)) == 2


@pytest.mark.asyncio
async def test_a_path_that_stays_the_same_has_no_change() -> None:
    for path in (EMPTY, LOADED, dataclasses.replace(EMPTY, loss=3e-4)):
        for one in await _sessions(path, type("Same", (LoadBegins,), {"becomes": (0.0, path)})):
            assert path_change(one.probes) is None
