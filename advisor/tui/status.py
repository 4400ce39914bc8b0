"""The status line: how what runs stands now, in as many parts as fit. Pure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from textual.content import Content

from advisor.domain.events import FilesMoving
from advisor.domain.quantities import format_duration, format_rate
from advisor.report.time_left import about_left_s
from advisor.tui.kit.charts.gauge import gauge
from advisor.tui.kit.sentences import times_words

if TYPE_CHECKING:
    from advisor.tui.features.advising.session_model import SessionModel
    from advisor.tui.features.shares.shares_model import SharesModel
    from advisor.tui.features.transfer.transfer_model import TransferModel

_GAUGE_CELLS: Final = 6


def joined(parts: Sequence[Content], width: int) -> Content:
    """The parts in one line, with a bar between; those at the end that do not fit are left out."""
    line = Content("")
    for part in parts:
        longer = Content.assemble(line, Content.styled(" │ ", "$line"), part) if line else part
        if longer.cell_length > width:
            break
        line = longer
    return line


def session_status(model: "SessionModel") -> list[Content]:
    """Pair and round-trip time, the best rate with its gain, and the time left."""
    if model.pair is None:
        return [Content("Connecting …")]
    pair = f"{model.pair.source} → {model.pair.destination}"
    rtt = f" {format_duration(model.path.rtt_s)}" if model.path else ""
    parts = [Content(f"{pair}{rtt}"), *_best(model)]
    if model.advice:
        parts.append(Content("done"))
    elif model.gave_up:
        parts.append(Content.styled("✗ failed", "$failed"))
    elif model.paused:
        parts.append(Content.styled("paused", "$act"))
    elif model.budget_s:
        left_s = model.left_now_s
        bar = gauge(1 - left_s / model.budget_s, _GAUGE_CELLS)
        parts.append(Content(f"{bar} {format_duration(round(left_s) or 0)} left"))
    return parts


def _best(model: "SessionModel") -> list[Content]:
    """The advised rate, else the best so far, and how many times the default it is.

    Nothing is said of the gain of advice that is not certain to be one.
    """
    advice = model.advice
    if advice:
        rate_bps, word = advice.overall_bps.value, "ADVISED"
        gain = advice.gain.value if advice.gain and advice.gain.interval[0] > 1 else None
    elif model.best:
        rate_bps, word = model.best.throughput_bps, "BEST"
        default_bps = model.default_bps
        gain = rate_bps / default_bps if default_bps else None
    else:
        return []
    times = f" {times_words(gain)}" if gain else ""
    return [
        Content.assemble((f"{word} ", "$advised"), (format_rate(rate_bps), "bold $advised"), times)
    ]


def transfer_status(model: "TransferModel") -> list[Content]:
    """The pair, what is moved, the rate and the time left."""
    pair = model.pair
    parts = [Content(f"{pair.source} → {pair.destination}" if pair else "Connecting …")]
    return [*parts, *_moving(model.moving, is_over=model.is_over)]


def shares_status(model: "SharesModel") -> list[Content]:
    """The destinations, the rate of all together and the time left."""
    names = ", ".join(model.destinations) or "several destinations"
    return [Content(names), *_moving(model.moving, is_over=False)]


def _moving(moving: FilesMoving | None, *, is_over: bool) -> list[Content]:
    if is_over:
        return [Content("ended")]
    if moving is None:
        return []
    rate = format_rate(sum(one.rate_bps for one in moving.classes))
    moved = sum(one.moved_bytes for one in moving.classes)
    total = sum(one.total_bytes for one in moving.classes)
    left_s = about_left_s(moving)
    left = "" if left_s is None else f" about {format_duration(max(1, round(left_s)))} left"
    share = moved / total if total else 0.0
    return [Content.styled(rate, "bold"), Content(f"{gauge(share, _GAUGE_CELLS)}{left}")]
