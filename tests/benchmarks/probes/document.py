"""docs/benchmarks-probes.md from the traces and the recordings."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from advisor.models.steadiness import ErrorModel, probe_length, steady_part
from tests.benchmarks.markdown import filled, percent, table_text
from tests.benchmarks.probes.before import steady_part_before
from tests.benchmarks.probes.learned import learned_errors
from tests.benchmarks.probes.recordings import UNSEEN_LOSS, Recording
from tests.benchmarks.probes.simulated import CONTROLS, LOSSES, simulated
from tests.benchmarks.probes.traces import (
    Stopped,
    Trace,
    after,
    before,
    fitted,
    present,
    stopped,
)

_BANDS: Final = ((0.0, 0.05), (0.05, 0.15), (0.15, 0.25), (0.25, 9.0))
_SECONDS: Final = (2, 3, 4, 5, 6, 8)
_NINE_OF_TEN: Final = 1.645
"""Standard errors on both sides of a normal distribution that hold 90 %."""


def _band(rtt_s: float) -> int:
    return next(n for n, (low, high) in enumerate(_BANDS) if low <= rtt_s < high)


def _name(band: int) -> str:
    low, high = _BANDS[band]
    if not low:
        return f"below {1000 * high:.0f} ms"
    return f"{1000 * low:.0f} to {1000 * high:.0f} ms" if high < 1 else f"above {1000 * low:.0f} ms"


def _spread(errors: Iterable[float]) -> str:
    sizes = np.abs(list(errors))
    middle, ninth = np.quantile(sizes, (0.5, 0.9))
    return f"{percent(float(middle))}, {percent(float(ninth))}"


def _covered(results: Sequence[tuple[float, float]]) -> float:
    """The share of errors within what the stated standard errors allow at 90 %."""
    return statistics.fmean(abs(error) <= _NINE_OF_TEN * stderr for error, stderr in results)


def trace_text(known: Sequence[Trace]) -> str:
    """The section of the public traces."""
    models = dict(fitted(known))
    rules = {route: present(model) for route, model in models.items()}
    old = [stopped(trace, before) for trace in known]
    new = [stopped(trace, rules[trace.route]) for trace in known]
    held_out = sorted({f"{m.later:g}" for route, m in models.items() if route})
    intro = (
        f"{len(known)} traces of {len(models) - 1} routes. For each route the widening of the "
        "error, the one constant that is fitted, was chosen by the traces of all other routes: "
        f"{' or '.join(held_out)} (of all routes: {models[''].later:g}; shipped: "
        f"{ErrorModel().later:g}). True is the mean of the later half of a trace. Errors: the "
        "median and the 90th percentile of their size."
    )
    return "\n\n".join(
        (
            "## Real traces, routes held out in turn",
            filled(intro),
            _stops(old, new),
            "### Error against seconds",
            filled(
                "What both rules say after this many seconds, whether they would stop or not. "
                "Learned: gradient boosting on the same seconds, the route held out, which is no "
                "part of the program: about what the first seconds can tell at all."
            ),
            _against_seconds(known, rules),
        )
    )


def _stops(old: Sequence[Stopped], new: Sequence[Stopped]) -> str:
    rows = []
    for band in range(len(_BANDS)):
        pairs = [(o, n) for o, n in zip(old, new, strict=True) if _band(o.trace.rtt_s) == band]
        rows.append(
            [
                _name(band),
                str(len(pairs)),
                *(f"{statistics.fmean(p[side].seconds for p in pairs):.1f} s" for side in (0, 1)),
                *(_spread(p[side].error for p in pairs) for side in (0, 1)),
                *(
                    percent(_covered([(p[side].error, p[side].stderr) for p in pairs]))
                    for side in (0, 1)
                ),
            ]
        )
    head = (
        *("RTT", "traces", "mean seconds before", "now", "error before", "now"),
        *("within the stated 90 % before", "now"),
    )
    return table_text(head, rows)


def _against_seconds(
    known: Sequence[Trace],
    rules: dict[str, Callable[..., object]],
) -> str:
    rows: list[list[str]] = []
    for seconds in _SECONDS:
        learned = learned_errors(known, seconds)
        old = [after(trace, before, seconds).error for trace in known]
        new = [after(trace, rules[trace.route], seconds).error for trace in known]
        for band in range(len(_BANDS)):
            chosen = [n for n, trace in enumerate(known) if _band(trace.rtt_s) == band]
            rows.append(
                [
                    _name(band),
                    str(seconds),
                    *(_spread(errors[n] for n in chosen) for errors in (old, new, learned)),
                ]
            )
    rows.sort(key=lambda row: [_name(n) for n in range(len(_BANDS))].index(row[0]))
    return table_text(("RTT", "seconds", "before", "now", "learned"), rows)


def lab_text(recordings: Sequence[Recording]) -> str:
    """The section of the lab paths."""
    known = [
        (one, _later_half_bps(one))
        for one in sorted(recordings, key=lambda one: one.order.key)
        if len(one.intervals) > 1
    ]
    olds = [played(one, True, true_bps) for one, true_bps in known]
    news = [played(one, False, true_bps) for one, true_bps in known]
    rows = []
    for (recording, true_bps), old, new in zip(known, olds, news, strict=True):
        order = recording.order
        rows.append(
            [
                *(f"{order.rtt_ms:g} ms", order.loss, order.control, str(order.streams)),
                f"{true_bps / 1e6:.0f}",
                *(f"{old[0]:.1f} s", f"{old[1]:+.0%}"),
                *(f"{new[0]:.1f} s", f"{new[1]:+.0%}", f"{new[2]:.0%}"),
            ]
        )
    head = (
        *("RTT", "loss", "control", "streams", "true, Mbit/s", "seconds before", "error before"),
        *("seconds now", "error now", "stated standard error"),
    )
    summary = []
    for name, is_unseen in (("without loss and 1e-4", False), (UNSEEN_LOSS, True)):
        chosen = [
            n for n, (one, _) in enumerate(known) if (one.order.loss == UNSEEN_LOSS) == is_unseen
        ]
        if chosen:
            summary += _summary(name, [olds[n] for n in chosen], [news[n] for n in chosen])
    return "\n\n".join(
        (
            "## Lab paths",
            filled(
                f"{len(rows)} runs at 500 Mbit/s, MTU 1500, one run each, of 200 round trips but "
                "at least 12 and at most 45 s; both rules are played on the same run. True is the "
                "mean of its later half. With losses this is not the end of the decline either: "
                "at 183 and 366 ms it takes longer than the run. "
                "The present rule was developed with the runs without loss and with 1e-4 in view: "
                f"what they show is not independent of them. {_unseen(recordings)}"
            ),
            table_text(_SUMMARY_HEAD, summary),
            table_text(head, rows),
        )
    )


def simulated_text() -> str:
    """The section of the transfers that are played in rounds."""
    rows = []
    for control in CONTROLS:
        for loss in LOSSES:
            known = list(simulated(control, loss))
            olds = [played(one, True, true_bps) for one, true_bps in known]
            news = [played(one, False, true_bps) for one, true_bps in known]
            rows += _summary(f"{control}, loss {loss}: {len(known)}", olds, news)
    return "\n\n".join(
        (
            "## Played in rounds",
            filled(
                "Transfers of a simulation (`tests/benchmarks/probes/simulated.py`): 2, 4 and 16 "
                "streams, 30 to 250 ms, 200 Mbit/s and 1 Gbit/s, queues of 0.3 and 2 bandwidth-"
                "delay products, one seed each. None of these settings was looked at before the "
                "rule was fixed; others of the same simulation were. True is the mean of the "
                "rounds 300 to 1500."
            ),
            table_text(_SUMMARY_HEAD, rows),
        )
    )


def _later_half_bps(recording: Recording) -> float:
    late = recording.intervals[len(recording.intervals) // 2 :]
    return sum(i.received_bytes for i in late) * 8 / (late[-1].end_s - late[0].start_s)


def _unseen(recordings: Sequence[Recording]) -> str:
    count = sum(one.order.loss == UNSEEN_LOSS for one in recordings)
    if not count:
        return f"Runs with a loss of {UNSEEN_LOSS}, which would be, are still to be recorded."
    return f"The {count} with a loss of {UNSEEN_LOSS} were recorded afterwards."


_SUMMARY_HEAD: Final = (
    *("runs", "rule", "mean seconds", "error: median, 90th percentile", "median bias"),
    *("mean bias", "within the stated 90 %"),
)

_Played = tuple[float, float, float]


def _summary(name: str, olds: Sequence[_Played], news: Sequence[_Played]) -> list[list[str]]:
    return [
        [
            name,
            rule,
            f"{statistics.fmean(r[0] for r in results):.1f} s",
            _spread(r[1] for r in results),
            f"{statistics.median(r[1] for r in results):+.1%}",
            f"{statistics.fmean(r[1] for r in results):+.1%}",
            percent(_covered([(r[1], r[2]) for r in results])),
        ]
        for rule, results in (("before", olds), ("now", news))
    ]


def played(recording: Recording, is_old: bool, true_bps: float) -> _Played:
    """When a rule stops a recording, its relative error, and what it states of it."""
    length = probe_length(recording.rtt_s)
    for count, interval in enumerate(recording.intervals, start=1):
        seen = recording.intervals[:count]
        reports = [r for r in recording.reports if r.t_s <= interval.end_s]
        part = (
            steady_part_before(seen, recording.rtt_s, reports)
            if is_old
            else steady_part(seen, length, reports=reports)
        )
        if part.settled or interval.end_s >= length.ceiling_s:
            break
    return interval.end_s, part.throughput_bps / true_bps - 1, part.stderr_bps / true_bps


def write(path: Path, sections: Sequence[str], opinion: str) -> None:
    """Write the page; `opinion`: what its reader should know first."""
    head = (
        "# The length of probes",
        filled(
            "`make bench-probes` (`python -m tests.benchmarks.probes`). The rule by which a probe "
            "stops (`advisor/models/steadiness.py`), and the one before it, on the same data: real "
            "traces of other people, from the folder ADVISOR_DATA, and runs on lab paths that "
            "`python -m tests.benchmarks.probes.recording FILE` "
            "recorded ([benchmarks/probes.jsonl.gz](benchmarks/probes.jsonl.gz))."
        ),
        opinion,
    )
    path.write_text("\n\n".join([*head, *sections]) + "\n", encoding="utf-8")
