"""The result of checking an emulated path, as text; and its progress, on a terminal."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from advisor.domain.quantities import format_duration, format_rate
from advisor.lab.verdicts import (
    RTT_S,
    RTT_SHARE,
    CheckVerdict,
    DirectionCheck,
    LossCheck,
    PathCheck,
    RateCheck,
    RttCheck,
    is_late,
)
from advisor.report.lab import path_text
from advisor.report.output import transient_bar

_Row = tuple[str, str, str, str]


def check_text(check: PathCheck) -> str:
    """The whole result, configured and measured values side by side."""
    rows: list[_Row] = [("", "asked", "measured", "verdict"), _rtt(check.rtt)]
    for words, way in (("there", check.forward), ("back", check.reverse)):
        rows += _direction(words, way)
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = [f"lab {check.lab}, source to {check.host}: {path_text(check.path)}", ""]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  " + "   ".join([*cells, row[3]]).rstrip())
    return "\n".join([*lines, "", _conclusion(check)])


def _conclusion(check: PathCheck) -> str:
    match check.verdict:
        case CheckVerdict.WITHIN:
            return "The path matches the request."
        case CheckVerdict.OUTSIDE:
            return f"The path does not match the request: {check.why}."
    late = ""
    if check.late_s is not None and is_late(check.late_s, check.rtt.asked_s):
        late = f" Packets come late by up to {format_duration(check.late_s)} (99 of 100)."
    return f"This machine is too slow for this path: {check.why}.{late}"


def _milliseconds(time_s: float | None) -> str:
    return "no answer" if time_s is None else f"{time_s * 1000:.4g} ms"


def _verdict(part: RttCheck | RateCheck | LossCheck, bound: str) -> str:
    again = ", at the second try" if part.tries > 1 else ""
    return f"{part.verdict}{again} ({bound})"


def _rtt(rtt: RttCheck) -> _Row:
    asked = _milliseconds(rtt.asked_s)
    bound = f"±{_milliseconds(rtt.bound_s)}: {RTT_S * 1000:g} ms + {RTT_SHARE:.0%}"
    if rtt.expected_s > rtt.asked_s * 1.001 + 1e-5:
        bound += f", of {_milliseconds(rtt.expected_s)} with jitter and serialization"
    measured = f"{_milliseconds(rtt.measured_s)}, {rtt.answered} of {rtt.sent} echoes"
    return "RTT", asked, measured, _verdict(rtt, bound)


def _direction(words: str, way: DirectionCheck) -> list[_Row]:
    rate, loss = way.rate, way.loss
    measured = f"{_rate(rate.measured_bps)} of {_rate(rate.offered_bps)} offered"
    bound = f"±{rate.bound_share * 100:.2g} %"
    if rate.expected_bps < rate.asked_bps:
        bound += f", of {_rate(rate.expected_bps)} after the loss"
    return [
        (f"rate {words}", _rate(rate.asked_bps), measured, _verdict(rate, bound)),
        (f"loss {words}", f"{loss.asked:.4g}", _lost(loss), _verdict(loss, _interval(loss))),
    ]


def _rate(rate_bps: float) -> str:
    # Differences of three per cent must be visible.
    return format_rate(rate_bps) if rate_bps < 1e9 else f"{rate_bps / 1e9:.4g} Gbit/s"


def _lost(loss: LossCheck) -> str:
    dropped = f", {loss.dropped} dropped" if loss.dropped else ""
    return f"{loss.measured:.3g}, {loss.lost} of {loss.sent}{dropped}"


def _interval(loss: LossCheck) -> str:
    lower, upper = loss.interval
    text = f"{lower:.3g} to {upper:.3g}"
    if loss.like_packets < loss.sent:
        text += f", in bursts: like {loss.like_packets:.0f} packets"
    return text


@contextlib.contextmanager
def progress() -> Iterator[Callable[[str, float], None]]:
    """Progress callbacks; a bar on standard error if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _what, _done: None
        return
    from rich.progress import BarColumn, TextColumn

    with transient_bar(
        sys.stderr,
        TextColumn("measuring: {task.description}", markup=False),
        BarColumn(bar_width=12),
    ) as bar:
        task = bar.add_task("path", total=1.0)
        yield lambda what, done: bar.update(task, description=what, completed=done)
