"""What a session's story puts on its two charts: pure."""

import math
from collections.abc import Iterator

from advisor.domain.measurement import Failure, Measurement
from advisor.domain.space import subject_name
from advisor.tui.story import ProbeStory, Story
from advisor.tui.widgets.chart import Level, Series
from advisor.tui.widgets.legend import DISK_MARKS, FAILED, colour_of, mark_of, role_of


def probe_series(story: Story) -> list[Series]:
    """Throughput of each probe over the session, one series for each role and transport.

    A disk under way is shown alone, and not beside what went over the network: it may be many times
    as quick.
    """
    probes = [p for p in story.probes if shown_together(story, p.transport)]
    groups: dict[tuple[str, str], list[ProbeStory]] = {}
    for probe in probes:
        if isinstance(probe.outcome, Measurement):
            groups.setdefault((probe.transport, role_of(probe).name), []).append(probe)
    series = [
        _points(_name(story, transport, role), group) for (transport, role), group in groups.items()
    ]
    failed = [p.began_s for p in probes if isinstance(p.outcome, Failure)]
    if failed:
        zeros = [0.0] * len(failed)
        series.append(Series("failed", failed, zeros, "points", mark=FAILED, colour="error"))
    return series


def disk_under_way(story: Story) -> str:
    """The disk that the last run of probes was of; "" for any other."""
    subject = story.stage.transport if story.stage else ""
    return subject if subject in DISK_MARKS else ""


def shown_together(story: Story, subject: str) -> bool:
    """Whether probes of this are on the chart now."""
    disk = disk_under_way(story)
    return subject == disk if disk else subject not in DISK_MARKS


def _name(story: Story, transport: str, role: str) -> str:
    if transport in DISK_MARKS:
        return transport
    if story.files is None:
        return f"{subject_name(transport)} {role}"
    return role if transport == story.files.tool else f"{subject_name(transport)} alone"


def _points(name: str, probes: list[ProbeStory]) -> Series:
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
        mark=mark_of(probes[0]),
        colour=colour_of(probes[0].transport),
    )


def levels_of(story: Story) -> Iterator[Level]:
    """Best so far, the default, what path and disks can carry, and what would be good enough.

    The best of a tool is told for the whole dataset with all that it takes to begin and end, which
    single probes are not.
    """
    if disk_under_way(story):
        return
    if story.best and story.files is None:
        yield Level("best", story.best.throughput_bps, "success")
    default_bps = default_of(story)
    if default_bps:
        yield Level("default", default_bps, "warning")
    if story.path and (capacity_bps := story.path.capacity_bps):
        yield Level("reserved" if story.path.bandwidth_bps else "link", capacity_bps)
    if story.path and story.path.bandwidth_bps and (share := _goal(story)):
        yield Level(f"goal ({share:.0%})", share * story.path.bandwidth_bps, "accent")
    for disk in DISK_MARKS:
        rates = [p.throughput_bps for p in story.probes if p.transport == disk]
        if best_bps := max((rate for rate in rates if rate), default=None):
            yield Level(disk, best_bps, colour_of(disk))


def default_of(story: Story) -> float | None:
    """What comes without tuning, bit/s: one TCP stream, or the tool as it is; None before that."""
    for probe in story.probes:
        if probe.label == "default" and probe.throughput_bps:
            return probe.throughput_bps
    return None


def _goal(story: Story) -> float | None:
    goals = [g.limit for s in story.stages for g in s.gauges if g.name == "C"]
    return goals[-1] if goals else None


def curve_series(story: Story) -> list[Series]:
    """The running probe second by second, and the last one with the mean of its steady part."""
    series: list[Series] = []
    ended = [p for p in story.probes if p.ended_s is not None and p.curve]
    if ended:
        series += _of_the_last(ended[-1])
    if story.running and story.running.curve:
        xs, ys = zip(*story.running.curve, strict=True)
        colour = colour_of(story.running.transport)
        series.append(Series(f"now: probe {story.running.ordinal}", xs, ys, colour=colour))
    return series


def _of_the_last(probe: ProbeStory) -> Iterator[Series]:
    xs, ys = zip(*probe.curve, strict=True)
    yield Series(f"last: probe {probe.ordinal}", xs, ys, colour="foreground-muted")
    if not isinstance(probe.outcome, Measurement):
        return
    steady = probe.outcome.intervals[probe.outcome.steady_from :]
    if steady:
        mean = probe.outcome.throughput_bps
        ends = [steady[0].start_s, steady[-1].end_s]
        yield Series("its steady part, mean", ends, [mean, mean], mark="◆", colour="success")
