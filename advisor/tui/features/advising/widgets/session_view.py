"""The view of a session, live or replayed: as many panels as fit."""

from collections.abc import Callable
from typing import ClassVar, Final

from textual.app import ComposeResult

from advisor.traits import reference_transport, transports
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.widgets.flow_boxes import FlowBoxes
from advisor.tui.features.advising.widgets.probe_curve import (
    curve_series,
    disk_under_way,
    expected_s,
    levels_of,
    now_line,
    probe_levels,
    probe_series,
)
from advisor.tui.features.advising.widgets.ranking import Ranking
from advisor.tui.features.advising.widgets.setting_names import short_setting, varied_names
from advisor.tui.features.advising.widgets.space_map import SpaceMap, searched_in
from advisor.tui.features.advising.widgets.summary_lines import SummaryLines
from advisor.tui.features.advising.widgets.why_panel import WhyPanel
from advisor.tui.kit.charts.axis import axis_end
from advisor.tui.kit.charts.chart import Chart
from advisor.tui.kit.panels.panel_view import PanelView

SESSION_PANELS: Final = ("throughput", "probe", "map", "why", "boxes", "ranking")
"""By number, from 1. Boxes join the other panels only where a tool is profiled."""

_SINGLE_BELOW: Final = (100, 28)
_BOTH_MAPS_FROM: Final = 160
_LEAST_AXIS_S: Final = 10.0


class SessionView(PanelView):
    """`show` a model as often as you like: only changes are redrawn."""

    NAMES = SESSION_PANELS
    HELP: ClassVar[str | None] = """[b]The session[/b]
1 throughput of each probe · 2 the present probe · 3 the map of the settings · 4 the reason for it ·
5 boxes: throughput by flows, over all probes with that many · 6 the settings, best first.
The numbers show one of them alone, 0 shows all again where there is room."""
    DEFAULT_CSS = """
    SessionView {
        height: 1fr; layout: grid; grid-size: 3 5; grid-gutter: 0 1;
    }
    SessionView > #summary, SessionView > #map-other, SessionView > #boxes { display: none; }
    SessionView > #throughput { column-span: 2; row-span: 3; }
    SessionView > #probe, SessionView > .map, SessionView > #why { row-span: 2; }
    SessionView > #ranking { row-span: 3; }
    SessionView.wide { grid-size: 9 5; }
    SessionView.wide > #throughput { column-span: 6; }
    SessionView.wide > #probe, SessionView.wide > #ranking { column-span: 3; }
    SessionView.wide > .map, SessionView.wide > #why { column-span: 2; }
    SessionView.wide > #map-other { display: block; }
    SessionView.files { grid-size: 12 2; }
    SessionView.files > #throughput, SessionView.files > #probe, SessionView.files > #boxes,
    SessionView.files > #ranking, SessionView.files > #map, SessionView.files > #map-other,
    SessionView.files > #why { column-span: 4; row-span: 1; }
    SessionView.files > #boxes { display: block; }
    SessionView.files.wide > #ranking, SessionView.files.wide > #map,
    SessionView.files.wide > #map-other, SessionView.files.wide > #why { column-span: 3; }
    SessionView.alone { layout: vertical; }
    SessionView.alone > .panel { display: none; }
    SessionView.single > #summary { display: block; }
    SessionView.alone > .panel.chosen, SessionView.alone > #boxes.chosen { display: block; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # as every widget has it
        super().__init__(id=id)
        self._model: SessionModel | None = None
        self._subject = ""
        self._disk = ""
        self._curve_of: object = None
        self._named: object = None
        self._parts = (
            self._show_throughput,
            self._show_probe,
            self._show_maps,
            self._show_why,
            self._show_boxes,
            self._show_ranking,
        )
        self._versions: dict[Callable[[SessionModel], None], int] = {}

    def compose(self) -> ComposeResult:
        yield SummaryLines(id="summary")
        yield Chart("Probes", id="throughput", classes="panel")
        yield Chart("Now", id="probe", classes="panel")
        yield FlowBoxes(id="boxes", classes="panel")
        yield Ranking(id="ranking").add_class("panel")
        for name in ("map", "map-other"):
            yield SpaceMap(id=name).add_class("panel", "map")
        yield WhyPanel(id="why").add_class("panel")

    @property
    def _is_single(self) -> bool:
        columns, rows = _SINGLE_BELOW
        return self.size.width < columns or self.size.height < rows - 6

    def _arrange(self) -> None:
        super()._arrange()
        self.set_class(self._is_single, "single")
        wide = self.size.width >= _BOTH_MAPS_FROM
        self.set_class(wide and not self._is_alone, "wide")
        self.set_class(self._is_of_files and not self._is_alone, "files")
        if self._model:
            self._show_maps(self._model)
            self._show_boxes(self._model)

    @property
    def _is_of_files(self) -> bool:
        return self._model is not None and self._model.files is not None

    def _make_room(self) -> None:
        """Add the boxes once it is known that files are moved."""
        room = self._is_of_files and not self.has_class("alone")
        if room != self.has_class("files"):
            self._arrange()

    def toggle_values(self) -> None:
        """Toggle probe numbers and throughputs on the maps."""
        for space_map in self.query(SpaceMap):
            space_map.toggle_values()

    def switch_subject(self) -> None:
        """Show the map of the search before this one; after the first, the newest again."""
        _, other = self._transports()
        if other:
            newest = _newest_searched(self._model, searched_in(self._model)) if self._model else ""
            self._subject = "" if other == newest else other
            if self._model:
                self._show_maps(self._model)
                self._show_boxes(self._model)

    def _transports(self) -> tuple[str, str]:
        """The subject whose map is shown, and the one searched before it; "" if there is none."""
        searched = searched_in(self._model) if self._model else []
        if not searched:
            return reference_transport(), ""
        newest = _newest_searched(self._model, searched)
        shown = self._subject if self._subject in searched else newest
        before = searched[searched.index(shown) - 1]
        return shown, before if before != shown else ""

    def show(self, model: SessionModel) -> None:
        """Show the present state of the model."""
        if model is not self._model:
            self._begin(model)
        self._make_room()
        self._show_names(model)
        for part in self._parts:
            part(model)
            self._versions[part] = model.version

    def show_next(self, model: SessionModel) -> None:
        """Update one panel in turn; all of them for a model not shown before.

        So a key waits for the drawing of one panel, not of all.
        """
        if model is not self._model:
            self.show(model)
            return
        self._make_room()
        self._show_names(model)
        longest_ago = min(self._parts, key=self._versions.__getitem__)
        if self._versions[longest_ago] < model.version:
            longest_ago(model)
            self._versions[longest_ago] = model.version

    def _show_names(self, model: SessionModel) -> None:
        """Let all panels that name the present probe name the same one."""
        self.query_one(SummaryLines).show(model)
        named = model.present and (model.present.ordinal, model.present.ended_s, model.paused)
        if named != self._named:
            self._named = named
            for part in (self._show_probe, self._show_maps, self._show_why, self._show_ranking):
                part(model)

    def _show_why(self, model: SessionModel) -> None:
        self.query_one(WhyPanel).show(model)

    def _show_ranking(self, model: SessionModel) -> None:
        self.query_one(Ranking).show(model)

    def _begin(self, model: SessionModel) -> None:
        self._model, self._subject, self._named = model, "", None
        for chart in self.query(Chart):
            chart.restart()

    def _show_throughput(self, model: SessionModel) -> None:
        chart = self.query_one("#throughput", Chart)
        if (disk := disk_under_way(model)) != self._disk:
            # A disk's rates must not scale the axis of the network.
            self._disk = disk
            chart.restart()
        chart.set_title(f"Probes{f': {disk}' if disk else ''}")
        longest_s = max(model.budget_s, _LEAST_AXIS_S)
        chart.show(
            probe_series(model),
            levels_of(model),
            x_label="seconds, ± standard error",
            y_label="throughput",
            verticals=now_line(model),
            x_range=(0.0, max(longest_s, axis_end(model.at_s, longest_s))),
        )

    def _show_probe(self, model: SessionModel) -> None:
        chart, probe = self.query_one("#probe", Chart), model.present
        if probe and (probe.subject, probe.ordinal) != self._curve_of:
            self._curve_of = (probe.subject, probe.ordinal)
            chart.restart()
        chart.set_title(_probe_title(model))
        levels = probe_levels(model)
        series = curve_series(probe)
        highest = max([level.y for level in levels] + [y for one in series for y in one.ys] + [0.0])
        chart.show(
            series,
            levels,
            x_label="seconds",
            y_label="what the receiver got",
            x_range=(0.0, axis_end(expected_s(model), chart.picture.x_range[1])),
            y_top=axis_end(highest, chart.picture.y_top),
        )

    def _show_maps(self, model: SessionModel) -> None:
        main, other = self._transports()
        if self.has_class("wide"):
            # Side by side, the maps keep their places.
            main, other = self._side_by_side(model)
        self.query_one("#map", SpaceMap).show(model, main)
        if self.has_class("wide"):
            self.query_one("#map-other", SpaceMap).show(model, other)

    def _show_boxes(self, model: SessionModel) -> None:
        if self._is_of_files or self._chosen == "boxes":
            self.query_one(FlowBoxes).show_model(model, self._transports()[0])

    def _side_by_side(self, model: SessionModel) -> tuple[str, str]:
        """Both transports; for a tool, its map and the last one of a subsystem."""
        if model.files is None:
            first, *others = [*transports(), ""]
            return first, others[0]
        parts = [subject for subject in searched_in(model) if subject != model.files.tool]
        return model.files.tool, parts[-1] if parts else reference_transport()


def _newest_searched(model: SessionModel | None, searched: list[str]) -> str:
    """The subject of the present probe, if it was searched; else the last that was."""
    present = model.present if model else None
    return present.subject if present and present.subject in searched else searched[-1]


def _probe_title(model: SessionModel) -> str:
    """The present probe and its setting."""
    probe = model.present
    if probe is None:
        return "Now"
    setting = short_setting(probe.subject, probe.setting, varied_names(model.probes, probe.subject))
    return f"{'Now' if model.running else 'Last'}: {setting}"
