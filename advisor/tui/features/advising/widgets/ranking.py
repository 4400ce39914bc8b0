"""The settings of a session, best first."""

import math
from collections.abc import Sequence
from typing import ClassVar

import msgspec
from textual.content import Content
from textual.events import Resize

from advisor.domain.measurement import Measurement
from advisor.domain.space import Setting, setting_key
from advisor.tui.features.advising.session_model import ProbeModel, SessionModel
from advisor.tui.features.advising.widgets.legend import chart_mark, colour_of
from advisor.tui.features.advising.widgets.setting_names import short_setting, varied_names
from advisor.tui.kit.charts.axis import axis_end, rate_unit
from advisor.tui.kit.panels.text_panel import TextPanel

_RATE_WIDTH = 5
_AROUND = 8
_LEAST_BAR = 12
_NAME_WIDTH = 26


class RankedSetting(msgspec.Struct, frozen=True, kw_only=True):
    """A setting with its best probe, and that probe's standard error, both in bit/s.

    `rate_bps`: the expected rate where it is advised. `is_present`: its probe is under way, or
    was the last one.
    """

    subject: str
    setting: Setting
    rate_bps: float
    stderr_bps: float
    mark: str
    is_present: bool
    is_leader: bool


def ranked(model: SessionModel) -> list[RankedSetting]:
    """What is advised or the best first, then by rate.

    Where a tool is profiled, only the settings of what is probed now: others are not comparable.
    """
    best: dict[object, ProbeModel] = {}
    for probe in model.probes:
        is_comparable = model.files is None or probe.subject == model.probes[-1].subject
        if probe.throughput_bps is None or not is_comparable:
            continue
        key = (probe.subject, setting_key(probe.setting))
        if key not in best or probe.throughput_bps > (best[key].throughput_bps or 0.0):
            best[key] = probe
    rows = [_ranked(model, probe) for probe in best.values()]
    return sorted(rows, key=lambda row: (not row.is_leader, -row.rate_bps))


def _ranked(model: SessionModel, probe: ProbeModel) -> RankedSetting:
    leader, present = model.leader, None if model.is_over else model.present
    is_leader = leader is not None and _is_same(probe, leader.subject, leader.setting)
    # A tool's best is for the whole dataset, unlike the rates of its probes.
    is_expected = is_leader and model.files is None
    stderr_bps = probe.outcome.stderr_bps if isinstance(probe.outcome, Measurement) else math.nan
    return RankedSetting(
        subject=probe.subject,
        setting=probe.setting,
        rate_bps=leader.throughput_bps if leader and is_expected else probe.throughput_bps or 0.0,
        stderr_bps=stderr_bps if math.isfinite(stderr_bps) else 0.0,
        mark=chart_mark(probe),
        is_present=present is not None
        and not model.is_over
        and _is_same(probe, present.subject, present.setting),
        is_leader=is_leader,
    )


def _is_same(probe: ProbeModel, subject: str, setting: Setting) -> bool:
    return probe.subject == subject and probe.setting == setting


class Ranking(TextPanel):
    """`show` a model."""

    HELP: ClassVar[str | None] = """[b]Ranking[/b]
The settings measured so far, best first, each with the rate of its best probe; the first is what
is advised, once the session is done. Only parameters that differ are shown; "auto" is the kernel's
own buffer sizing. Where there is room, a dot shows the rate on a scale from zero, with ± one
standard error. The arrow marks the setting that is measured now."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # as every widget has it
        super().__init__(id=id)
        self._model: SessionModel | None = None
        self.set_title("Ranking")

    def on_resize(self, _: Resize) -> None:
        if self._model:
            self.show(self._model)

    def show(self, model: SessionModel) -> None:
        """Update the list, if it changed."""
        self._model = model
        rows = ranked(model)
        top_bps = max((row.rate_bps for row in rows), default=0.0)
        scale, unit = rate_unit(top_bps)
        self.set_title("Ranking", unit if rows else "")
        if not rows:
            self.fill(Content("Nothing is measured yet."))
            return
        names = {subject: varied_names(model.probes, subject) for subject in _subjects(rows)}
        width = max(self.content_size.width, 20)
        lines = [
            self._line(
                number, row, short_setting(row.subject, row.setting, names[row.subject]),
                scale, top_bps, width,
            )
            for number, row in enumerate(rows, 1)
        ]  # fmt: skip
        self.fill(Content("\n").join(lines))

    def _line(
        self, number: int, row: RankedSetting, name: str, scale: float, top_bps: float, width: int
    ) -> Content:
        room = width - _RATE_WIDTH - _AROUND
        bar = room - _NAME_WIDTH - 1
        named = _NAME_WIDTH if bar >= _LEAST_BAR else room
        style = "bold $advised" if row.is_leader else "bold" if row.is_present else ""
        return Content.assemble(
            (f"{'→' if row.is_present else ' '}{number:>2} ", style),
            (row.mark, f"${colour_of(row.subject)}"),
            (f" {name:<{named}.{named}} ", style),
            (dot_with_interval(row, axis_end(top_bps), bar), f"${colour_of(row.subject)}")
            if bar >= _LEAST_BAR
            else "",
            (f"{row.rate_bps / scale:>{_RATE_WIDTH}.3g}", style),
        )


def dot_with_interval(row: RankedSetting, end_bps: float, columns: int) -> str:
    """The rate as a dot between its standard errors, on an axis from zero to `end_bps`."""
    rates = (row.rate_bps - row.stderr_bps, row.rate_bps + row.stderr_bps, row.rate_bps)
    low, high, at = (
        min(columns - 1, max(0, round(rate / end_bps * (columns - 1)))) for rate in rates
    )
    cells = [" "] * columns
    cells[low : high + 1] = "─" * (high - low + 1)
    cells[at] = "●"
    return "".join(cells)


def _subjects(rows: Sequence[RankedSetting]) -> set[str]:
    return {row.subject for row in rows}
