"""The curves of a transfer's two charts. Pure."""

import itertools
import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from advisor.domain import events as ev
from advisor.tui.features.transfer.transfer_model import TransferModel
from advisor.tui.kit.charts.axis import nice_end
from advisor.tui.kit.charts.series import Level, Series, VerticalLine

_MARKED_AT_MOST: Final = 40
_NAMED_AT_MOST: Final = 3
_SHORTEST_S: Final = 60.0

Points = Sequence[tuple[float, float]]


class Clock(NamedTuple):
    """The time axis: its label, its unit in seconds, and its end in that unit."""

    word: str
    unit_s: float
    end: float


def clock_of(model: TransferModel) -> Clock:
    """The time axis with a unit that suits the elapsed time."""
    at_s = max(model.at_s, _SHORTEST_S)
    word, unit_s = next(
        (f"{word} since the start", unit_s)
        for word, unit_s, most_s in (
            ("seconds", 1.0, 900.0),
            ("minutes", 60.0, 4 * 3600.0),
            ("hours", 3600.0, math.inf),
        )
        if at_s <= most_s
    )
    return Clock(word, unit_s, nice_end(at_s / unit_s))


def throughput_series(model: TransferModel, clock: Clock) -> list[Series]:
    """Throughput of each second, and the mean of each control epoch over its duration."""
    epochs = model.epochs.points
    series = [_line("as it arrives", model.rates.points, clock, "foreground-muted")]
    if not epochs:
        return series
    steps = interval_steps(epochs)
    if len(epochs) > _MARKED_AT_MOST:
        return [*series, _line("mean of each epoch", steps, clock, "blue", steps=True)]
    errors = [error for _, error in model.epoch_errors.points]
    means = [mean for _, mean in epochs]
    marked = Series(
        "mean of each epoch ± error",
        [at_s / clock.unit_s for at_s, _ in epochs],
        means,
        "points",
        lows=[mean - error for mean, error in zip(means, errors, strict=True)],
        highs=[mean + error for mean, error in zip(means, errors, strict=True)],
        mark="◆",
        colour="blue",
    )
    return [*series, _line("", steps, clock, "blue", steps=True), marked]


def advised_levels(model: TransferModel) -> list[Level]:
    """The advised throughput, where there is advice."""
    advice = model.started.advised if model.started else None
    if advice is None:
        return []
    return [Level("advised", advice.expected_bps, "advised")]


def setting_series(model: TransferModel, clock: Clock) -> list[Series]:
    """Files at a time and streams for each: each value holds until the next."""
    return [
        *_held(model, "files at a time", model.concurrency.points, clock, "●", "blue"),
        *_held(model, "streams for each", model.parallelism.points, clock, "△", "orange"),
    ]


def load_marks(model: TransferModel, clock: Clock) -> list[VerticalLine]:
    """Lines where the external load changed; the last few are labelled."""
    loads = list(model.loads)
    unnamed = len(loads) - _NAMED_AT_MOST
    return [
        VerticalLine(
            "" if number < unnamed else load_words(load),
            at_s / clock.unit_s,
            "violet",
        )
        for number, (at_s, load) in enumerate(loads)
    ]


def load_words(load: ev.LoadChanged) -> str:
    """The external load in a few words."""
    parts = [
        f"{number} {word}{'' if number == 1 else plural}"
        for number, word, plural in (
            (load.transfers, "other stream", "s"),
            (load.compute, "computing process", "es"),
        )
        if number
    ]
    return f"load: {', '.join(parts)}" if parts else "load: none"


def interval_steps(epochs: Points) -> list[tuple[float, float]]:
    """Turn values at the middles of intervals into steps that start with the interval."""
    middles = [at_s for at_s, _ in epochs]
    bounds = [(one + other) / 2 for one, other in itertools.pairwise(middles)]
    half = (bounds[0] - middles[0]) if bounds else 0.0
    begins = [max(0.0, middles[0] - half), *bounds]
    steps = [(begin, value) for begin, (_, value) in zip(begins, epochs, strict=True)]
    return [*steps, (2 * middles[-1] - begins[-1], epochs[-1][1])]


def _line(name: str, points: Points, clock: Clock, colour: str, *, steps: bool = False) -> Series:
    return Series(
        name,
        [at_s / clock.unit_s for at_s, _ in points],
        [value for _, value in points],
        "steps" if steps else "line",
        colour=colour,
    )


def _held(
    model: TransferModel, name: str, points: Points, clock: Clock, mark: str, colour: str
) -> list[Series]:
    """A step line up to now, with marks that distinguish it from the other."""
    if not points:
        return []
    every = math.ceil(len(points) / _MARKED_AT_MOST)
    marked = points[::every]
    marks = Series(
        name,
        [at_s / clock.unit_s for at_s, _ in marked],
        [value for _, value in marked],
        "points",
        mark=mark,
        colour=colour,
    )
    until_now = [*points, (max(model.at_s, points[-1][0]), points[-1][1])]
    return [_line("", until_now, clock, colour, steps=True), marks]
