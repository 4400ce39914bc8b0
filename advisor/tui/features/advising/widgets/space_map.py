"""A map of the search space: cells coloured and numbered by measurements."""

from typing import ClassVar, Final

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.color import Color
from textual.events import Resize
from textual.theme import Theme
from textual.widget import Widget

from advisor.domain.space import Space
from advisor.traits import subject_name
from advisor.tui.features.advising.session_model import ProbeModel, SessionModel, StageModel
from advisor.tui.features.advising.widgets.bins import (
    Axis,
    Grid,
    GridCell,
    name_of,
    short_name_of,
    spanned,
    trail,
    value_words,
    zoomed,
)
from advisor.tui.features.advising.widgets.legend import mark_of
from advisor.tui.kit.charts.axis import rate_unit
from advisor.tui.kit.charts.heat import shade
from advisor.tui.kit.panels.titled import PANEL_CSS, Titled
from advisor.tui.kit.static import Static

_CELL: Final = 6
_MARGIN: Final = 10
_MOST_ROWS: Final = 20
_NO_SEARCH: Final = ("baseline", "confirm")


class SpaceMap(Titled, Widget, can_focus=True):
    """`show` a model: the map of one subject's last search.

    A cell shows the number of its best probe, or after `toggle_values` its throughput.
    """

    HELP: ClassVar[str | None] = """[b]The map of the settings[/b]
Each cell is a small range of settings; the further right and up, the more of each, on
logarithmic scales. Only the range that was probed is shown.
The number is that of the best probe there (or its throughput), the mark what it was for.
The greener a cell, the higher the throughput. \\[n] is measured now; the dots are the
path of the search; underlined is the best of this map."""
    DEFAULT_CSS = (
        f"SpaceMap {{ {PANEL_CSS} }}"
        + """
    SpaceMap { height: 1fr; min-height: 6; }
    SpaceMap > Static { height: 1fr; }
    """
    )

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # as every widget has it
        super().__init__(id=id)
        self.set_title("Map of the settings")
        self._model: SessionModel | None = None
        self._subject = ""
        self._values = False
        self._drawn: object = None

    def compose(self) -> ComposeResult:
        yield Static()

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, self._retheme)

    def on_resize(self, _: Resize) -> None:
        self._draw()

    def _retheme(self, _: Theme) -> None:
        self._drawn = None
        self._draw()

    def show(self, model: SessionModel, subject: str) -> None:
        """Draw the last search of this subject."""
        self._model, self._subject = model, subject
        self._draw()

    def toggle_values(self) -> None:
        """Toggle probe numbers and throughputs."""
        self._values = not self._values
        self._draw()

    def _draw(self) -> None:
        if self._model is None or not self.is_mounted or not self.size.area:
            return
        probes = [p for p in self._model.probes if p.subject == self._subject]
        stage = search_of(self._model, self._subject)
        running = self._model.running
        wanted = (
            id(self._model), self._subject, self._values, self.size,
            stage and stage.name, len(probes), running and running.ordinal,
            sum(p.ended_s is not None for p in probes),
        )  # fmt: skip
        if wanted == self._drawn:
            return
        self._drawn = wanted
        word = subject_name(self._subject)
        space = space_of(self._model, stage) if stage else None
        if stage is None or space is None:
            self.set_title(f"{word}: map of the settings")
            text = Text(f"No search of {word} yet: the map appears with its first setting.")
        else:
            self.set_title(_title(word, space))
            text = self._map(stage, space, probes, running)
        self.query_one(Static).update(text, layout=False)

    def _map(
        self, stage: StageModel, space: Space, probes: list[ProbeModel], running: ProbeModel | None
    ) -> Text:
        columns = (self.content_size.width - 2 - _MARGIN) // _CELL
        rows = min(_MOST_ROWS, self.content_size.height - 2)
        grid = Grid.of_doublings(space, columns, rows)
        best = _best_by_cell(grid, probes)
        top = max((p.throughput_bps or 0.0 for p in best.values()), default=0.0)
        now = grid.cell_of(running.setting) if running and running in probes else None
        searched = [p for p in probes if p.stage == stage.name] if stage.space else []
        way = set(trail(grid, searched))
        rows = grid.up.count if grid.up else 1
        every = max(2, rows // 4)
        lines = []
        for row in reversed(range(rows)):
            label = _row_label(grid.up, row) if row % every == 0 or row == rows - 1 else ""
            line = Text(label.rjust(_MARGIN - 1) + " ")
            for column in range(grid.across.count):
                cell = (column, row)
                probe = running if cell == now and running else best.get(cell)
                if probe is None:
                    line.append("  ··  " if cell in way else "   ·  ", self._faint)
                else:
                    line.append_text(self._cell(probe, top, cell == now))
            lines.append(line)
        lines.append(Text(" " * _MARGIN + _column_labels(grid.across)))
        lines.append(Text(_axes_words(grid)))
        return Text("\n").join(lines)

    @property
    def _faint(self) -> Style:
        return Style(dim=True)

    def _cell(self, probe: ProbeModel, top: float, is_now: bool) -> Text:
        if is_now:
            return Text(f"[{probe.ordinal}]".center(_CELL), Style(reverse=True, bold=True))
        rate = probe.throughput_bps
        if rate is None:
            return Text(f"×{probe.ordinal}".center(_CELL), self._failed)
        scale, _ = rate_unit(top)
        words = f"{rate / scale:.3g}" if self._values else f"{probe.ordinal}"
        style = shade(self.app.theme_variables, rate / top if top else 0.0)
        if rate == top:
            style += Style(underline=True, bold=True)
        return Text(f"{mark_of(probe)}{words}".center(_CELL), style)

    @property
    def _failed(self) -> Style:
        variables = self.app.theme_variables
        return Style(color=Color.parse(variables["failed"]).rich_color, bold=True)


def search_of(model: SessionModel, subject: str) -> StageModel | None:
    """The last stage that searched a space of this subject, or tried several settings."""
    runs = [s for s in model.stages if s.subject == subject and s.name not in _NO_SEARCH]
    searches = [s for s in runs if s.space] or runs
    return searches[-1] if searches else None


def searched_in(model: SessionModel) -> list[str]:
    """The subjects that have a map, in order of their searches."""
    probed = {probe.subject for probe in model.probes}
    searched = (s.subject for s in model.stages if s.name not in _NO_SEARCH)
    return list(dict.fromkeys(subject for subject in searched if subject in probed))


def space_of(model: SessionModel, stage: StageModel) -> Space | None:
    """The part of a stage's space that was probed; without one, the box around its settings."""
    if stage.space is None:
        return spanned(p for p in model.probes if p.stage == stage.name)
    return zoomed(stage.space, (p for p in model.probes if p.subject == stage.subject))


def _best_by_cell(grid: Grid, probes: list[ProbeModel]) -> dict[GridCell, ProbeModel]:
    best: dict[GridCell, ProbeModel] = {}
    for probe in probes:
        cell = grid.cell_of(probe.setting)
        if cell is None or probe.outcome is None:
            continue
        known = best.get(cell)
        if known is None or (probe.throughput_bps or 0.0) >= (known.throughput_bps or 0.0):
            best[cell] = probe
    return best


def _title(word: str, space: Space) -> str:
    """`TCP: streams × buffer (log)`."""
    names = [short_name_of(parameter) for parameter in reversed(space.parameters[:2])]
    return f"{word}: {' × '.join(names)} (log)"


def _row_label(axis: Axis | None, row: int) -> str:
    if axis is None:
        return ""
    if row == axis.count - 1:
        return value_words(axis.parameter, axis.top)
    return value_words(axis.parameter, axis.value_at(row))


def _column_labels(axis: Axis) -> str:
    """The values of every other cell or so, and the upper bound at the end."""
    width = axis.count * _CELL
    labels = [" "] * width
    upper = value_words(axis.parameter, axis.top)
    free_until = width - len(upper) - 1
    used = 0
    for index in range(axis.count - 1):
        word = value_words(axis.parameter, axis.value_at(index))
        start = index * _CELL + max(0, _CELL - len(word)) // 2
        if start >= used and start + len(word) + 1 <= free_until:
            labels[start : start + len(word)] = word
            used = start + len(word) + 2
    labels[max(0, free_until) : width - 1] = upper
    return "".join(labels)


def _axes_words(grid: Grid) -> str:
    up = f"↑ {name_of(grid.up.parameter)}   " if grid.up else ""
    return f"{up}→ {name_of(grid.across.parameter)}"
