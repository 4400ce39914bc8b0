"""The rows of destinations: requested, predicted and measured rates. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from advisor.domain.quantities import format_bytes, format_rate, format_rates
from advisor.domain.shares import Asked, SharePlan, ShareRow
from advisor.models.shares.allocation import Target, asked_of
from advisor.tui.features.shares.shares_model import DestinationModel, SharesModel
from advisor.tui.kit.charts.axis import nice_end
from advisor.tui.kit.sentences import count_words

_ROOM_FOR_REQUESTS: Final = 1.5
"""How far beyond any measured rate the axis extends for a request: a typing error must
not shrink everything else."""


class RateRow(msgspec.Struct, frozen=True, kw_only=True):
    """One destination. Rates are in bit/s, None if unknown or not requested.

    `got_bps`: measured in an epoch, `now_bps`: at present. `concurrency`: files at a time, 0 for
    none. `missed`: why the request cannot be met. `samples`, `model_error`: of its model. `epoch`:
    that of `got_bps`, 0 before the first. `moved_bytes`, `total_bytes`: its progress. `end`: how it
    ended; `is_there`: all its files arrived. `remark`: a text in place of the bar.
    """

    destination: str
    is_in: bool = True
    asked: Asked | None = None
    asked_bps: float | None = None
    expected_bps: float | None = None
    interval_bps: tuple[float, float] | None = None
    got_bps: float | None = None
    now_bps: float | None = None
    concurrency: int = 0
    missed: str = ""
    samples: int = 0
    model_error: float = 0.0
    epoch: int = 0
    moved_bytes: int = 0
    total_bytes: int = 0
    end: str = ""
    is_there: bool = False
    remark: str = ""

    @property
    def reach_bps(self) -> float:
        """The right end of all its marks but that of the request."""
        interval_bps = self.interval_bps or (0.0, 0.0)
        return max(interval_bps[1], self.expected_bps or 0.0, self.got_bps or 0.0)


def planned(
    destinations: Iterable[str], asked: Mapping[str, Asked], plan: SharePlan | None
) -> list[RateRow]:
    """Rows before a transfer. Destinations that are not in `asked` are left out of it."""
    rows = {row.destination: row for row in plan.rows} if plan else {}
    return [
        _planned(name, asked[name], rows.get(name))
        if name in asked
        else RateRow(destination=name, is_in=False, remark="left out")
        for name in destinations
    ]


def _planned(name: str, asked: Asked, row: ShareRow | None) -> RateRow:
    if row is None:
        return RateRow(destination=name, asked=asked)
    return RateRow(
        destination=name,
        asked=asked,
        asked_bps=None if asked.held is not None else row.asked_bps,
        expected_bps=row.expected_bps,
        interval_bps=row.interval_bps,
        concurrency=row.concurrency,
        missed=row.missed,
        samples=row.samples,
        model_error=row.model_error,
    )


def with_model(rows: Sequence[RateRow], model: SharesModel, *, is_running: bool) -> list[RateRow]:
    """The rows with measurements, and while it runs with present expectations."""
    comes_to_bps = _comes_to_bps(rows, model) if is_running else {}
    return [
        _with_model(row, model.destinations[row.destination], model, comes_to_bps, is_running)
        if row.destination in model.destinations and row.is_in
        else row
        for row in rows
    ]


def _with_model(
    row: RateRow,
    live: DestinationModel,
    model: SharesModel,
    comes_to_bps: Mapping[str, float],
    is_running: bool,
) -> RateRow:
    row = msgspec.structs.replace(
        row,
        got_bps=live.got_bps,
        now_bps=live.now_bps if is_running else None,
        epoch=model.epoch - 1 if live.seen else 0,
        moved_bytes=live.progress.moved_bytes if live.progress else 0,
        total_bytes=live.progress.total_bytes if live.progress else 0,
        end=live.ended.message if live.ended else "",
        is_there=bool(live.ended and live.ended.complete),
    )
    if not is_running or not live.concurrency:
        return row
    if live.ended:
        return msgspec.structs.replace(
            row, asked_bps=None, expected_bps=None, interval_bps=None, concurrency=0, missed=""
        )
    return msgspec.structs.replace(
        row,
        asked_bps=comes_to_bps.get(row.destination, row.asked_bps),
        expected_bps=live.expected_bps or row.expected_bps,
        interval_bps=live.interval_bps,
        concurrency=live.concurrency,
    )


def _comes_to_bps(rows: Sequence[RateRow], model: SharesModel) -> dict[str, float]:
    """The requested rates, with shares taken of the total of the last epoch."""
    targets: dict[str, Target] = {}
    got_bps: list[float] = []
    for row in rows:
        live = model.destinations.get(row.destination)
        if live and live.seen and not live.ended and (target := _target(row)):
            targets[row.destination] = target
            got_bps.append(live.seen.measured_bps)
    return dict(zip(targets, asked_of(list(targets.values()), got_bps), strict=True))


def _target(row: RateRow) -> Target | None:
    """None if no rate is requested, or it is unknown."""
    if row.asked is None or row.asked.held is not None:
        return None
    if row.asked.factor is not None:
        # The base case of a factor is known only in the plan.
        return Target(rate_bps=row.asked_bps) if row.asked_bps else None
    return Target(share=row.asked.share, rate_bps=row.asked.rate_bps)


def shares_top_bps(rows: Sequence[RateRow], most_bps: float) -> float:
    """The end of the common axis. `most_bps`: the highest rate ever measured."""
    reach_bps = max([most_bps, *(row.reach_bps for row in rows)])
    asked_bps = max((row.asked_bps or 0.0 for row in rows), default=0.0)
    return nice_end(max(reach_bps, min(asked_bps, _ROOM_FOR_REQUESTS * reach_bps)))


def row_words(row: RateRow) -> str:
    """All that is known of a destination, in words."""
    if row.asked is None:
        return f"{row.destination}: {row.remark}."
    parts = [row.end or _asked_words(row), _got_words(row), _expected_words(row), _done_words(row)]
    parts.append(_model_words(row))
    return f"{row.destination}: {'; '.join(part for part in parts if part)}."


def _asked_words(row: RateRow) -> str:
    asked = row.asked.words if row.asked else ""
    if row.asked_bps is None or (row.asked and row.asked.rate_bps is not None):
        return f"asked {asked}" if row.asked and row.asked.held is None else asked
    return f"asked {asked}, which is {format_rate(row.asked_bps)}"


def _got_words(row: RateRow) -> str:
    if row.got_bps is None:
        return ""
    when = f" in epoch {row.epoch}" if row.epoch and row.now_bps is not None else ""
    now = f", now {format_rate(row.now_bps)}" if row.now_bps is not None and row.epoch else ""
    return f"got {format_rate(row.got_bps)}{when}{now}"


def _expected_words(row: RateRow) -> str:
    if row.expected_bps is None:
        return ""
    within = f" (90 %: {format_rates(*row.interval_bps)})" if row.interval_bps else ""
    return (
        f"expected {format_rate(row.expected_bps)}{within} from "
        f"{count_words(row.concurrency, 'file')} at a time"
    )


def _model_words(row: RateRow) -> str:
    if not row.samples or row.now_bps is not None:
        return ""
    return f"{row.samples} measurements, off by {row.model_error:.0%} on average"


def _done_words(row: RateRow) -> str:
    if not row.total_bytes:
        return ""
    share = row.moved_bytes / row.total_bytes
    return f"{share:.0%} of {format_bytes(row.total_bytes)} there"
