"""Five destinations as they are learned and served: made up, after table IV of the paper."""

import socket
import time
from collections.abc import Mapping, Sequence
from functools import cache
from typing import cast

import pytest

from advisor.domain import events as ev
from advisor.domain.endpoints import Pair
from advisor.domain.plan import ClassProgress
from advisor.domain.records import ShareRecord
from advisor.domain.shares import Asked, Served, ServedRow, ShareOutcome, SharePlan, ShareRow
from advisor.models.shares.forecast import Forecast
from advisor.store.history import Store
from advisor.transfer.shared.prior_knowledge import PriorKnowledge
from advisor.tui.app import AdvisorApp
from advisor.tui.features.shares import forecasts
from advisor.tui.features.shares.forecasts import Learned
from advisor.tui.features.shares.live_shares import LiveShares
from advisor.tui.features.shares.shares_model import SharesModel

from .recorded_runs import RecordedRun

MODELS = {
    "blacklight": (0.868, -0.283, 8.996),
    "gordon": (0.823, -0.877, 12.221),
    "kraken": (0.437, -0.234, 9.738),
    "mason": (0.080, -0.171, 9.697),
    "yellowstone": (0.788, -0.724, 11.884),
}
"""Exponents of DC and SC, and the logarithm of the factor, in Mbit/s."""

NAMES = list(MODELS)
LEVELS = (1, 2, 4, 8, 3)
TOTAL_BYTES = 40 * 10**9
EPOCH_S = 30
STEPS = 25
DAY_S = 86400.0


def rate_bps(name: str, concurrency: int, source_concurrency: int) -> float:
    of_dc, of_sc, factor = MODELS[name]
    return float(concurrency**of_dc * source_concurrency**of_sc * 2**factor * 1e6)


def levels_of(number: int) -> dict[str, int]:
    """Files at a time in one step of an experiment: each has every level, beside other ones."""
    return {name: LEVELS[(number * (i + 1) + i) % len(LEVELS)] for i, name in enumerate(NAMES)}


def samples_of(name: str, begin_s: float) -> list[Served]:
    """What one got in such an experiment, up to a tenth off the table."""
    found = []
    for number in range(STEPS):
        levels = levels_of(number)
        total = sum(levels.values())
        off = 1 + 0.03 * ((number * 5 + NAMES.index(name) * 3) % 7 - 3)
        served = Served(
            concurrency=levels[name],
            source_concurrency=total,
            throughput_bps=rate_bps(name, levels[name], total) * off,
            when_s=begin_s + EPOCH_S * number,
        )
        found.append(served)
    return found


def learn(store: Store, names: dict[str, str]) -> None:
    """Yesterday these destinations were measured. `names`: which of the table's each is like."""
    for destination, name in names.items():
        for number, served in enumerate(samples_of(name, time.time() - DAY_S)):
            store.append(
                ShareRecord(
                    pair=Pair(socket.gethostname(), destination),
                    recorded_s=served.when_s,
                    session="20260101T000000Z-dddddd",
                    served=served,
                    parallelism=8,
                    others={other: n for other, n in levels_of(number).items() if other != name},
                    purpose="train",
                )
            )


@cache
def forecast(name: str) -> Forecast:
    """Of the table's `name`, a day after it was measured."""
    return Forecast(samples_of(name, 0.0), DAY_S)


def learned(forecasts: dict[str, Forecast], too_little: Sequence[str] = ()) -> Learned:
    """As it would be read from the history."""
    return Learned(
        source="dtn1",
        at_s=0.0,
        known=PriorKnowledge(samples={}, parallelism=8, tool="globus-url-copy", from_logs=[]),
        forecasts=forecasts,
        too_little=list(too_little),
        untrained=[],
        most_bps=1.5e9,
    )


TOO_MUCH = "4 Gbit/s, but beside the others at most 526 Mbit/s can be expected"
RUN = {"blacklight": 3, "gordon": 4, "kraken": 5, "mason": 2, "yellowstone": 4}
"""Files at a time at first."""


def plan(asked: Mapping[str, Asked] | None = None) -> SharePlan:
    """Whatever is asked, this comes of it: finding what is best for five takes a while."""
    wanted = asked or dict.fromkeys(RUN, Asked(share=1))
    levels = {name: RUN.get(name, 1) for name in wanted}
    total = sum(levels.values())
    like = {name: name if name in MODELS else "kraken" for name in levels}
    expected = {name: rate_bps(like[name], level, total) for name, level in levels.items()}
    shares = {name: one.share or 0.0 for name, one in wanted.items()}
    shared_bps = sum(bps for name, bps in expected.items() if shares[name])
    unit_bps = shared_bps / (sum(shares.values()) or 1.0)
    return SharePlan(
        source="dtn1",
        parallelism=8,
        model="log with EL1",
        estimate="RTEC",
        rows=[
            ShareRow(
                destination=name,
                asked=wanted[name],
                asked_bps=wanted[name].rate_bps or shares[name] * unit_bps or expected[name],
                concurrency=level,
                expected_bps=expected[name],
                interval_bps=(expected[name] * 0.9, expected[name] * 1.1),
                samples=61,
                model_error=0.05,
                missed=TOO_MUCH if (wanted[name].rate_bps or 0.0) > 2e9 else "",
            )
            for name, level in levels.items()
        ],
    )


def started(at_s: float = 3.0, levels: dict[str, int] = RUN) -> ev.SharesStarted:
    return ev.SharesStarted(
        at_s=at_s,
        session="20260101T000000Z-eeeeee",
        purpose="run",
        source="dtn1",
        concurrency=levels,
        parallelism=8,
        epoch_s=float(EPOCH_S),
        total_bytes=dict.fromkeys(levels, TOTAL_BYTES),
    )


def moving(at_s: float, levels: dict[str, int] = RUN, off: float = 1.0) -> ev.FilesMoving:
    total = sum(levels.values())
    classes = []
    for name, level in levels.items():
        bps = rate_bps(name, level, total) * off
        classes.append(
            ClassProgress(
                size=name,
                files=10,
                total_files=40,
                moved_bytes=int(bps * at_s / 8),
                total_bytes=TOTAL_BYTES,
                rate_bps=bps,
                clients=level,
                parallelism=8,
                concurrency=level,
            )
        )
    return ev.FilesMoving(
        at_s=at_s, phase="transfer", classes=classes, left_s=(620.0, 580.0, 700.0)
    )


def seen(epoch: int, off: dict[str, float], levels: dict[str, int] = RUN) -> ev.SharesSeen:
    """`off`: by what factor a destination is off what is expected of it."""
    total = sum(levels.values())
    expected = {name: rate_bps(name, level, total) for name, level in levels.items()}
    got = {name: bps * off.get(name, 1.0) for name, bps in expected.items()}
    return ev.SharesSeen(
        at_s=3.0 + EPOCH_S * epoch,
        epoch=epoch,
        rows=[
            ServedRow(
                destination=name,
                concurrency=level,
                measured_bps=got[name],
                expected_bps=expected[name],
                asked_bps=sum(got.values()) / len(got),
                failure="" if got[name] else "nothing arrived",
            )
            for name, level in levels.items()
        ],
    )


def changed(epoch: int, new: dict[str, int]) -> ev.SharesChanged:
    return ev.SharesChanged(
        at_s=3.0 + EPOCH_S * epoch,
        epoch=epoch,
        old=RUN,
        new=new,
        reason="what was measured is off what was asked",
    )


def destination_ended(name: str, *, complete: bool = True) -> ev.DestinationEnded:
    return ev.DestinationEnded(
        at_s=70.0,
        destination=name,
        complete=complete,
        message="all 40 files are there" if complete else "no [answer] for 5 min",
        files=40 if complete else 12,
        moved_bytes=TOTAL_BYTES,
        elapsed_s=67.0,
    )


def ended(*, complete: bool = True) -> ev.SharesEnded:
    return ev.SharesEnded(
        at_s=700.0,
        complete=complete,
        message="all is there at 5 of 5 destinations"
        if complete
        else "all is there at 4 of 5 destinations; the same command resumes from there",
        exit_code=0 if complete else 1,
        elapsed_s=700.0,
        rows=[
            ShareOutcome(
                destination=name,
                moved_bytes=TOTAL_BYTES,
                rate_bps=rate_bps(name, level, sum(RUN.values())) * 0.97,
            )
            for name, level in RUN.items()
        ],
    )


def under_way() -> list[ev.AnyEvent]:
    """Three epochs: one destination got less than was expected, and is given more files."""
    after = RUN | {"kraken": 7}
    return [
        ev.SharesPlanned(at_s=2.5, plan=plan()),
        started(),
        moving(20.0),
        seen(1, {"kraken": 0.8, "mason": 1.05, "gordon": 0.97}),
        changed(1, after),
        moving(50.0, after),
        seen(2, {"kraken": 0.93, "mason": 1.02}, after),
        destination_ended("yellowstone"),
        moving(75.0, after, 1.02),
    ]


def know_by_name(monkeypatch: pytest.MonkeyPatch, names: Sequence[str]) -> None:
    """Of these destinations no more than `plan` is known."""
    known = learned(dict.fromkeys(names, cast(Forecast, None)))
    monkeypatch.setattr(forecasts, "learned_of", lambda *_: known)
    monkeypatch.setattr(forecasts, "plan_of", lambda _, asked: plan(asked))


class RecordedShares(RecordedRun[SharesModel]):
    """Of several destinations."""

    def __init__(self, events: Sequence[ev.AnyEvent], *, is_running: bool = True) -> None:
        super().__init__(SharesModel(events), is_running=is_running)


def run_in(app: AdvisorApp, run: RecordedShares) -> RecordedShares:
    app.shares = cast(LiveShares, run)
    return run
