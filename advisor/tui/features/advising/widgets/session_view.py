"""The view of a session, live or replayed: as many panels as fit."""

from collections.abc import Callable
from typing import ClassVar, Final

from textual.app import ComposeResult

from advisor.traits import reference_transport, subject_name, transports
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.widgets.flow_boxes import FlowBoxes
from advisor.tui.features.advising.widgets.probe_curve import (
    curve_series,
    disk_under_way,
    levels_of,
    probe_series,
)
from advisor.tui.features.advising.widgets.search_panel import SearchPanel
from advisor.tui.features.advising.widgets.space_map import SpaceMap, searched_in
from advisor.tui.kit.charts.axis import nice_end
from advisor.tui.kit.charts.chart import Chart
from advisor.tui.kit.panels.panel_view import PanelView

SESSION_PANELS: Final = ("throughput", "probe", "map", "search", "boxes")
"""By number, from 1. Boxes join the other panels only where a tool is profiled."""

_SINGLE_BELOW: Final = (100, 28)
_BOTH_MAPS_FROM: Final = 160
_CURVE_AT_LEAST_S: Final = 3.0


class SessionView(PanelView):
    """`show` a model as often as you like: only changes are redrawn."""

    NAMES = SESSION_PANELS
    HELP: ClassVar[str | None] = """[b]The session[/b]
1 throughput of each probe · 2 the probe under way · 3 the map of the settings · 4 the search ·
5 boxes: throughput by flows, over all probes with so many.
The numbers show one of them alone, 0 shows all again where there is room."""
    DEFAULT_CSS = """
    SessionView { height: 1fr; layout: grid; grid-size: 2 2; grid-gutter: 0 1; }
    SessionView.wide { grid-size: 6 2; grid-rows: 11fr 9fr; }
    SessionView.wide > .chart { column-span: 3; }
    SessionView.wide > .third { column-span: 2; }
    SessionView > #map-other, SessionView > #boxes { display: none; }
    SessionView.wide > #map-other { display: block; }
    SessionView.files { grid-size: 6 2; grid-rows: 1fr 1fr; }
    SessionView.files > .panel.chart { column-span: 2; }
    SessionView.files > #boxes { display: block; }
    SessionView.files > .third { column-span: 3; }
    SessionView.files.wide > .third { column-span: 2; }
    SessionView.alone { layout: vertical; }
    SessionView.alone > .panel { display: none; }
    SessionView.alone > .panel.chosen, SessionView.alone > #boxes.chosen { display: block; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # as every widget has it
        super().__init__(id=id)
        self._model: SessionModel | None = None
        self._subject = ""
        self._longest_s = _CURVE_AT_LEAST_S
        self._disk = ""
        self._parts = (
            self._show_throughput,
            self._show_probe,
            self._show_maps,
            self._show_search,
            self._show_boxes,
        )
        self._versions: dict[Callable[[SessionModel], None], int] = {}

    def compose(self) -> ComposeResult:
        yield Chart("Throughput of each probe", id="throughput", classes="panel chart")
        yield Chart("The probe under way", id="probe", classes="panel chart")
        yield FlowBoxes(id="boxes", classes="panel chart")
        for name in ("map", "map-other"):
            space_map = SpaceMap(id=name)
            space_map.add_class("panel", "third")
            yield space_map
        panel = SearchPanel(id="search")
        panel.add_class("panel", "third")
        yield panel

    @property
    def _is_single(self) -> bool:
        columns, rows = _SINGLE_BELOW
        return self.size.width < columns or self.size.height < rows - 6

    def _arrange(self) -> None:
        super()._arrange()
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
            newest = searched_in(self._model)[-1] if self._model else ""
            self._subject = "" if other == newest else other
            if self._model:
                self._show_maps(self._model)
                self._show_boxes(self._model)

    def _transports(self) -> tuple[str, str]:
        """The subject whose map is shown, and the one searched before it; "" if there is none."""
        searched = searched_in(self._model) if self._model else []
        if not searched:
            return reference_transport(), ""
        shown = self._subject if self._subject in searched else searched[-1]
        before = searched[searched.index(shown) - 1]
        return shown, before if before != shown else ""

    def show(self, model: SessionModel) -> None:
        """Show the present state of the model."""
        if model is not self._model:
            self._begin(model)
        self._make_room()
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
        longest_ago = min(self._parts, key=self._versions.__getitem__)
        if self._versions[longest_ago] < model.version:
            longest_ago(model)
            self._versions[longest_ago] = model.version

    def _show_search(self, model: SessionModel) -> None:
        self.query_one(SearchPanel).show(model)

    def _begin(self, model: SessionModel) -> None:
        self._model, self._subject, self._longest_s = model, "", _CURVE_AT_LEAST_S
        for chart in self.query(Chart):
            chart.restart()

    def _show_throughput(self, model: SessionModel) -> None:
        chart = self.query_one("#throughput", Chart)
        if (disk := disk_under_way(model)) != self._disk:
            # A disk's rates must not scale the axis of the network.
            self._disk = disk
            chart.restart()
        chart.set_title(f"Throughput of each probe{f': {disk}' if disk else ''}")
        chart.show(
            probe_series(model),
            levels_of(model),
            x_label="session time, s (bars: ± standard error)",
            y_label="throughput",
            x_range=(0.0, nice_end(max(model.budget_s, model.at_s, 10.0))),
        )

    def _show_probe(self, model: SessionModel) -> None:
        chart = self.query_one("#probe", Chart)
        series = curve_series(model)
        ends = (s.xs[-1] for s in series)
        self._longest_s = max(self._longest_s, *ends, 0.0)
        if running := model.running:
            words = f"{subject_name(running.subject)} {running.label}".rstrip()
            chart.set_title(f"Probe {running.ordinal}, {words}: now")
        else:
            chart.set_title("Last probe" if series else "Probe")
        chart.show(
            series,
            x_label="seconds of the probe",
            y_label="what the receiver got",
            x_range=(0.0, nice_end(self._longest_s)),
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
