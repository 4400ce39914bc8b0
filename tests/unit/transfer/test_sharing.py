"""What a run of shares learns from its epochs, keeps of them, and takes for the base case."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from advisor.domain import events as ev
from advisor.domain.endpoints import Pair
from advisor.domain.orders import Ask
from advisor.domain.path import PathFacts
from advisor.domain.records import ShareRecord
from advisor.domain.shares import BASE, Asked
from advisor.runtime.control import Control
from advisor.store.history import Store
from advisor.testing.samples import a_path
from advisor.transfer.engine.options import DeliveryOptions
from advisor.transfer.shared.epochs import SharedEpoch, SharedEpochs
from advisor.transfer.shared.session import source_name
from advisor.transfer.shared.sharing import ShareOptions, _Sharing
from tests.unit.models.shares.made_up import forecasts, truth_bps

FORECASTS = forecasts()
EPOCH_S = 90.0


class Moving:
    """A destination, as far as a run of shares sets it and looks at it."""

    group = progress = None

    def __init__(self) -> None:
        self.path: PathFacts | None = None
        self.concurrency = 0
        self.parallelism = 8
        self.expected_bps: float | None = None
        self.is_served = True
        self.is_over = False

    def end(self) -> None:
        """It has all its files."""
        self.is_served, self.is_over = False, True


Happens = Callable[["Run"], SharedEpoch]


class Run(_Sharing):
    """A run whose epochs are those of a script, at the concurrencies that it sets."""

    def __init__(self, tmp_path: Path, asked: dict[str, Asked], script: Iterable[Happens]) -> None:
        self.told: list[ev.AnyEvent] = []
        options = ShareOptions(
            asked=asked, delivery_options=DeliveryOptions(journals=tmp_path, receipts=tmp_path)
        )
        super().__init__([], options, Store(tmp_path / "store"), self.told.append, Control())
        self.parallelism = 8
        self.moving = {name: Moving() for name in asked}
        self.sessions: Any = self.moving
        self.seen: list[dict[str, int]] = []
        self._script = iter(script)

    async def next_epoch(self, epochs: SharedEpochs) -> SharedEpoch | None:
        happens = next(self._script, None)
        if happens is None:
            return None
        epoch = happens(self)
        self.seen.append(epoch.concurrencies)
        return epoch

    async def move(self) -> None:
        await self._move(FORECASTS, dict.fromkeys(self.moving, 3))

    def kept(self, name: str) -> list[ShareRecord]:
        records = self.store.records(Pair(source_name(), name))
        return [one for one in records if isinstance(one, ShareRecord)]

    @property
    def factor_bps(self) -> float:
        """What a factor of kraken refers to."""
        return self._steering.base_bps.get("kraken", 0.0)

    @property
    def reasons(self) -> list[str]:
        return [one.reason for one in self.told if isinstance(one, ev.SharesChanged)]


def an_epoch(run: Run, **rates_bps: float) -> SharedEpoch:
    """An epoch of those that are served; by the law of each where no rate is given."""
    levels = {name: one.concurrency for name, one in run.moving.items() if one.is_served}
    total = sum(levels.values())
    every = {n: rates_bps.get(n, truth_bps(n, level, total)) for n, level in levels.items()}
    return SharedEpoch(
        concurrencies=levels,
        streams=dict.fromkeys(levels, 8),
        carried_bytes={name: round(bps * EPOCH_S / 8) for name, bps in every.items()},
        counted_s=EPOCH_S,
        intervals=[],
        is_whole=True,
        # Ten looks each, which differ by a percent: a rate that is well known.
        parts_bps={
            name: [bps * (1 + (-1) ** n / 100) for n in range(10)] for name, bps in every.items()
        },
    )


def whole(run: Run) -> SharedEpoch:
    return an_epoch(run)


def cut(run: Run) -> SharedEpoch:
    """One that was not whole, in which little arrived."""
    epoch = an_epoch(run, kraken=1e6)
    return msgspec.structs.replace(epoch, is_whole=False)


def limited(limit_bps: float) -> Happens:
    return lambda run: an_epoch(run, kraken=0.99 * limit_bps)


LIMIT_BPS = 50e6
HELD = {
    "kraken": Asked(held=3, ceiling_bps=LIMIT_BPS),
    "gordon": Asked(held=3),
}


@pytest.mark.asyncio
async def test_of_an_epoch_at_a_rate_limit_nothing_is_kept(tmp_path: Path) -> None:
    """It would say that three files get 50 Mbit/s, and the other's beside three that waited."""
    run = Run(tmp_path, HELD, [limited(LIMIT_BPS)] * 2)
    await run.move()
    assert run.seen == [{"kraken": 3, "gordon": 3}] * 2
    assert (run.kept("kraken"), run.kept("gordon")) == ([], [])


@pytest.mark.asyncio
async def test_below_its_rate_limit_a_destination_is_as_any_other(tmp_path: Path) -> None:
    run = Run(tmp_path, HELD, [limited(0.8 * LIMIT_BPS)])
    await run.move()
    assert [one.served.throughput_bps for one in run.kept("kraken")] == [
        pytest.approx(0.99 * 0.8 * LIMIT_BPS)
    ]
    assert len(run.kept("gordon")) == 1
    free_bps = FORECASTS["kraken"](3, 6)
    assert run._steering.expected_bps("kraken", 3, 6) < 0.8 * free_bps


@pytest.mark.asyncio
async def test_what_a_rate_limit_holds_back_does_not_bend_the_model(tmp_path: Path) -> None:
    run = Run(tmp_path, HELD, [lambda run: an_epoch(run, kraken=LIMIT_BPS, gordon=200e6)] * 3)
    await run.move()
    assert run._steering.expected_bps("kraken", 3, 6) == FORECASTS["kraken"](3, 6)
    assert run._steering.expected_bps("gordon", 3, 6) == pytest.approx(200e6, rel=0.1)
    rows = [row for one in run.told if isinstance(one, ev.SharesSeen) for row in one.rows]
    expected = [row.expected_bps for row in rows if row.destination == "kraken"]
    assert expected == [LIMIT_BPS] * 3, "It is not expected to get more than it may."


@pytest.mark.asyncio
async def test_more_than_was_expected_is_learned_at_a_rate_limit_too(tmp_path: Path) -> None:
    asked = HELD | {"kraken": Asked(held=3, ceiling_bps=500e6)}
    run = Run(tmp_path, asked, [limited(500e6)] * 3)
    await run.move()
    assert run._steering.expected_bps("kraken", 3, 6) > 1.3 * FORECASTS["kraken"](3, 6)


FACTOR = {"kraken": Asked(factor=1.5), "gordon": Asked(held=2), "mason": Asked(held=2)}
BASES = dict.fromkeys(FACTOR, BASE)


@pytest.mark.asyncio
async def test_a_factor_refers_to_the_first_whole_epoch_at_the_base(tmp_path: Path) -> None:
    run = Run(tmp_path, FACTOR, [cut, cut, whole, whole])
    await run.move()
    assert run.seen[:3] == [BASES] * 3
    assert run.seen[3] != BASES
    assert run.factor_bps == pytest.approx(truth_bps("kraken", BASE, 6), rel=1e-6)
    assert run.reasons[0] == "what each gets with 2 files is measured"


@pytest.mark.asyncio
async def test_a_base_without_a_path_that_is_lost_for_a_while_is_none(tmp_path: Path) -> None:
    def is_lost(run: Run) -> SharedEpoch:
        epoch = cut(run)
        run.moving["kraken"].is_served = False
        return epoch

    def is_back(run: Run) -> SharedEpoch:
        epoch = whole(run)
        run.moving["kraken"].is_served = True
        return epoch

    run = Run(tmp_path, FACTOR, [is_lost, is_back, whole, whole])
    await run.move()
    assert run.seen[1] == {"gordon": 2, "mason": 2}
    assert run.seen[2] == BASES
    assert run.factor_bps == pytest.approx(truth_bps("kraken", BASE, 6), rel=1e-6)


@pytest.mark.asyncio
async def test_a_destination_that_has_all_its_files_is_not_waited_for(tmp_path: Path) -> None:
    def mason_ends(run: Run) -> SharedEpoch:
        epoch = cut(run)
        run.moving["mason"].end()
        return epoch

    run = Run(tmp_path, FACTOR, [mason_ends, whole, whole])
    await run.move()
    assert run.seen[1] == {"kraken": BASE, "gordon": BASE}
    assert run.seen[2] != run.seen[1]
    assert run.factor_bps == pytest.approx(truth_bps("kraken", BASE, 4), rel=1e-6)


@pytest.mark.asyncio
async def test_where_no_epoch_is_whole_it_goes_on_without_a_base(tmp_path: Path) -> None:
    """As where one large file of a tool that moves whole files is under way for hours."""
    run = Run(tmp_path, FACTOR, [cut] * 4 + [whole] * 2)
    await run.move()
    assert run.seen[:3] == [BASES] * 3
    assert BASES not in run.seen[3:]
    assert run.factor_bps == 0.0, "Whole epochs at other concurrencies are none."
    assert "cannot be measured" in run.reasons[0]


@pytest.mark.asyncio
async def test_no_base_is_measured_for_a_factor_that_is_taken_back(tmp_path: Path) -> None:
    def asks(run: Run) -> SharedEpoch:
        run.control.obey(Ask(destination="kraken", asked="@4"))
        return cut(run)

    run = Run(tmp_path, FACTOR, [asks, whole, whole])
    await run.move()
    assert run.seen == [BASES, *[BASES | {"kraken": 4}] * 2]
    assert run.factor_bps == 0.0


@pytest.mark.asyncio
async def test_forecasts_end_at_what_paths_carry_and_what_was_measured(tmp_path: Path) -> None:
    run = Run(tmp_path, HELD, [])
    reserved = {"kraken": 20e6, "gordon": 2e9}
    for name, bps in reserved.items():
        run.sessions[name].path = a_path(bandwidth_bps=bps)
    found = run._within_paths({name: FORECASTS[name] for name in HELD})
    seen_bps = max(one.throughput_bps for one in FORECASTS["kraken"].samples)
    assert seen_bps > 20e6
    assert found["kraken"](1000, 1000) == seen_bps, "More than is reserved was measured."
    assert 1.9e9 < found["gordon"](1e15, 1e15) < 2e9, "Headers are no data."
