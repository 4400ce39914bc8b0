"""The curves of a session's two charts. Pure."""

import math
from collections.abc import Iterable, Iterator
from typing import Final

from advisor.domain.measurement import Failure, Measurement
from advisor.domain.quantities import format_rate
from advisor.traits import subject_name
from advisor.tui.features.advising.session_model import ProbeModel, SessionModel
from advisor.tui.features.advising.widgets.legend import (
    DISK_MARKS,
    FAILED,
    chart_mark,
    chart_role,
    colour_of,
)
from advisor.tui.kit.charts.series import Level, Series, VerticalLine

_SHORTEST_S: Final = 1.0


def probe_series(model: SessionModel) -> list[Series]:
    """Throughput of each probe over time, one series for each role and subject.

    A disk being probed is shown alone, not beside the network: it may be many times faster.
    """
    probes = [p for p in model.probes if shown_together(model, p.subject)]
    groups: dict[tuple[str, str], list[ProbeModel]] = {}
    for probe in probes:
        if isinstance(probe.outcome, Measurement):
            groups.setdefault((probe.subject, chart_role(probe).name), []).append(probe)
    series = [
        _points(
            _series_name(model, subject, role),
            group,
            _legend_name(model, subject) if role == _named_role(groups, subject) else "",
        )
        for (subject, role), group in groups.items()
    ]
    failed = [p.began_s for p in probes if isinstance(p.outcome, Failure)]
    if failed:
        zeros = [0.0] * len(failed)
        series.append(Series("failed", failed, zeros, "points", mark=FAILED, colour="failed"))
    return series


def disk_under_way(model: SessionModel) -> str:
    """The disk of the last stage; "" if it was not of a disk."""
    subject = model.stage.subject if model.stage else ""
    return subject if subject in DISK_MARKS else ""


def shown_together(model: SessionModel, subject: str) -> bool:
    """Whether probes of this subject are on the chart now."""
    disk = disk_under_way(model)
    return subject == disk if disk else subject not in DISK_MARKS


def _series_name(model: SessionModel, subject: str, role: str) -> str:
    if subject in DISK_MARKS:
        return subject
    if model.files is None:
        return f"{subject_name(subject)} {role}"
    return role if subject == model.files.tool else f"{subject_name(subject)} alone"


def _named_role(groups: Iterable[tuple[str, str]], subject: str) -> str:
    """The role whose mark stands for the subject in the legend: search, once there is one."""
    roles = [role for of, role in groups if of == subject]
    return "search" if "search" in roles else roles[0]


def _legend_name(model: SessionModel, subject: str) -> str:
    is_alone = model.files is not None and subject != model.files.tool
    return f"{subject_name(subject)}{' alone' if is_alone and subject not in DISK_MARKS else ''}"


def _points(name: str, probes: list[ProbeModel], legend: str) -> Series:
    measured = [(p.began_s, p.outcome) for p in probes if isinstance(p.outcome, Measurement)]
    errors = [m.stderr_bps if math.isfinite(m.stderr_bps) else 0.0 for _, m in measured]
    means = [m.throughput_bps for _, m in measured]
    return Series(
        name,
        [at_s for at_s, _ in measured],
        means,
        "points",
        lows=[mean - error for mean, error in zip(means, errors, strict=True)],
        highs=[mean + error for mean, error in zip(means, errors, strict=True)],
        mark=chart_mark(probes[0]),
        colour=colour_of(probes[0].subject),
        legend=legend,
    )


def levels_of(model: SessionModel) -> Iterator[Level]:
    """Lines for the best so far, the default, the capacity of path and disks, and the target.

    The best of a tool refers to the whole dataset including start-up and end, unlike single probes.
    """
    if disk_under_way(model):
        return
    if model.leader and model.files is None:
        name = "advised" if model.advice else "best"
        yield Level(name, model.leader.throughput_bps, "advised")
    if model.default_bps:
        yield Level("default", model.default_bps, "default")
    if model.path and (capacity_bps := model.path.capacity_bps):
        yield Level("reserved" if model.path.bandwidth_bps else "link", capacity_bps)
    if model.path and model.path.bandwidth_bps and (share := _goal(model)):
        yield Level(f"goal ({share:.0%})", share * model.path.bandwidth_bps, "act")
    for disk in DISK_MARKS:
        rates = [p.throughput_bps for p in model.probes if p.subject == disk]
        if best_bps := max((rate for rate in rates if rate), default=None):
            yield Level(disk.removesuffix(" disk"), best_bps, colour_of(disk))


def _goal(model: SessionModel) -> float | None:
    goals = [g.limit for s in model.stages for g in s.gauges if g.name == "C"]
    return goals[-1] if goals else None


def now_line(model: SessionModel) -> Iterator[VerticalLine]:
    """Where the session is, as long as it runs."""
    if not model.is_over:
        yield VerticalLine("now", model.at_s, "focus")


def curve_series(probe: ProbeModel | None) -> list[Series]:
    """What a probe's receiver got, and once it has ended its result beside the steady part."""
    if probe is None or not probe.curve:
        return []
    xs, ys = zip(*probe.curve, strict=True)
    curve = Series("received", xs, ys, colour=colour_of(probe.subject), legend=_rate(probe))
    return [curve, *_steady_part(probe)]


def _rate(probe: ProbeModel) -> str:
    """The rate of the last second while it runs; its mean is shown beside it."""
    if probe.throughput_bps is not None:
        return ""
    return "failed" if probe.ended_s is not None else format_rate(probe.curve[-1][1])


def _steady_part(probe: ProbeModel) -> Iterator[Series]:
    if not isinstance(probe.outcome, Measurement):
        return
    steady = probe.outcome.intervals[probe.outcome.steady_from :]
    if steady:
        mean = probe.outcome.throughput_bps
        ends = [steady[0].start_s, steady[-1].end_s]
        is_mean = not probe.outcome.predicted
        yield Series(
            "mean of the steady part" if is_mean else "predicted from the losses",
            ends,
            [mean, mean],
            mark="◆",
            colour="foreground",
            legend=f"{'mean' if is_mean else 'predicted'} {format_rate(mean)}",
        )


def probe_levels(model: SessionModel) -> list[Level]:
    """The rate to beat; none where the present probe is not comparable with it."""
    if model.files is not None:
        return []
    return [level for level in levels_of(model) if level.colour == "advised"]


def expected_s(model: SessionModel) -> float:
    """How long the present probe is likely to take, in seconds: as long as the one before."""
    present = model.present
    before = [p.curve[-1][0] for p in model.probes if p is not present and p.curve]
    own = present.curve[-1][0] if present and present.curve else 0.0
    if present and present.ended_s is not None:
        return own
    return max(own, before[-1] if before else _SHORTEST_S)
