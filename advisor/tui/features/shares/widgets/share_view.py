"""Several destinations as bars on one axis, with notes and a log."""

from collections.abc import Mapping
from typing import Final

from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.events import DescendantFocus, Resize

from advisor.report.share_names import shown
from advisor.tui.features.shares.board import Board
from advisor.tui.features.shares.rows import RateRow, row_words
from advisor.tui.features.shares.shares_model import SharesModel
from advisor.tui.features.shares.texts import (
    note_lines,
    ordered_lines,
    plan_line,
    run_lines,
    shares_end_lines,
)
from advisor.tui.features.shares.widgets.share_bar import (
    LEAST_BAR_COLUMNS,
    ShareBar,
    share_legend,
)
from advisor.tui.features.shares.widgets.share_log import ShareLog
from advisor.tui.features.shares.widgets.share_row import ShareRow
from advisor.tui.kit.charts.interval_bars import ruler
from advisor.tui.kit.panels.titled import PANEL_CSS, Titled
from advisor.tui.kit.sentences import count_words
from advisor.tui.kit.static import Static

_WIDE_FROM: Final = 108
_ENOUGH: Final = 14
_PART_COLOURS: Final = {"asked": "$act", "expected": "$text-secondary", "got": "$advised"}
_BAR_SHARE: Final = 0.3
_FRAME: Final = 2
_BELOW: Final = 9
"""Lines for everything but rows: head, legend, axis, notes, the newest events."""

Ordered = Mapping[str, tuple[str, int]]


class Scroll(Titled, VerticalScroll):
    """Lines in a frame, where there is room for one."""

    DEFAULT_CSS = f"Scroll.-framed {{ {PANEL_CSS} }}"


class ShareView(Container):
    """`show` may be called often: only changes are redrawn."""

    DEFAULT_CSS = """
    ShareView { height: 1fr; layout: vertical; }
    ShareView #head { height: auto; }
    ShareView #word { height: auto; padding: 0 1; display: none; }
    ShareView #word.-said { display: block; }
    ShareView #word.done { background: $success-muted; color: $advised; }
    ShareView #word.not-done { background: $warning-muted; color: $act; }
    ShareView #word.gave-up { background: $error-muted; color: $failed; }
    ShareView #legend { height: 1; }
    ShareView #rows { height: auto; scrollbar-size-vertical: 1; }
    ShareView #rows.-apart ShareRow { margin-top: 1; }
    ShareView #rows.-apart.-framed ShareRow:first-child { margin-top: 0; }
    ShareView #axis { height: 2; color: $text-muted; }
    ShareView #said { height: 1fr; min-height: 2; scrollbar-size-vertical: 1; }
    ShareView #said:focus { background: $boost; }
    ShareView #said.-framed { height: auto; min-height: 3; max-height: 12; }
    ShareView #said > Static { height: auto; }
    ShareView ShareLog { height: 1fr; min-height: 3; display: none; }
    ShareView.-live ShareLog { display: block; }
    ShareView.-live #said { height: auto; max-height: 4; }
    ShareView.-live #said.-framed { max-height: 8; }
    ShareView.-live.-low #said { max-height: 2; }
    ShareView.-live.-low #axis { height: 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # as every widget has it
        super().__init__(id=id)
        self._chosen = ""
        self._drawn: object = None

    def compose(self) -> ComposeResult:
        yield Static(id="head")
        yield Static(id="word")
        yield Static(self._legend(), id="legend")
        yield Scroll(id="rows", can_focus=False)
        yield Static(id="axis")
        with Scroll(id="said") as said:
            said.set_title("Chosen destination and notes")
            yield Static()
        yield ShareLog()

    def _legend(self) -> Content:
        parts: list[str | tuple[str, str]] = []
        for part, looks, words in share_legend():
            parts += [
                "   " if parts else "",
                (looks, _PART_COLOURS[part]),
                (f" {words}", "$text-muted"),
            ]
        return Content.assemble(*parts)

    def on_resize(self, _: Resize) -> None:
        self._drawn = None

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Describe the row that was focused last."""
        for node in event.widget.ancestors_with_self:
            if isinstance(node, ShareRow):
                self._chosen = node.destination

    @property
    def chosen(self) -> ShareRow | None:
        """The row that has the focus, or contains it."""
        return next((row for row in self.query(ShareRow) if row.has_focus_within), None)

    def row_of(self, destination: str) -> ShareRow:
        """Its row, which must exist."""
        return next(row for row in self.query(ShareRow) if row.destination == destination)

    async def make_rows(self, destinations: list[str], asked: Mapping[str, str]) -> None:
        """Make a row for each destination, unless they exist; `asked`: as typed."""
        if [row.destination for row in self.query(ShareRow)] == destinations:
            return
        rows = self.query_one("#rows", VerticalScroll)
        await rows.remove_children()
        names = shown(destinations)
        await rows.mount_all(
            ShareRow(name, names[name], asked.get(name, "")) for name in destinations
        )
        self._drawn = None

    def show(
        self, board: Board, model: SharesModel | None, ordered: Ordered, *, is_running: bool
    ) -> None:
        """The rows in their present order."""
        rows = board.rows(model, is_running=is_running)
        live = model if is_running else None
        state = (id(model), model.version) if model else ()
        now = (rows, state, board.plan, board.trouble, self._chosen, dict(ordered), is_running)
        if now == self._drawn:
            return
        self._drawn = now
        self.set_class(model is not None, "-live")
        self._arrange()
        self._draw_rows(rows, board.top_bps(rows))
        self._say_how_far(board, live)
        self._say_the_end(model)
        chosen = [row_words(row) for row in rows if row.destination == self._chosen]
        notes = note_lines(rows, board.plan, board.trouble)
        # While files move, measured rates matter more than predictions.
        lines = [*ordered_lines(ordered, live), *chosen, *notes] if live else [*notes, *chosen]
        self.query_one("#said > Static", Static).update(Content("\n".join(lines)))
        if model:
            self.query_one(ShareLog).show(model)

    @property
    def _is_wide(self) -> bool:
        return self.size.width >= _WIDE_FROM

    @property
    def _is_low(self) -> bool:
        """Whether the rows leave little room for the rest."""
        return self.size.height - 2 * len(self.query(ShareRow)) < _ENOUGH

    def _arrange(self) -> None:
        self.set_class(self._is_low, "-low")
        count = len(self.query(ShareRow))
        room = max(4, self.size.height - _BELOW)
        is_framed = 2 * count + 2 * _FRAME <= room
        if is_framed:
            room -= _FRAME
        rows = self.query_one("#rows", Scroll)
        rows.styles.max_height = room
        rows.set_class(3 * count + _FRAME <= room, "-apart")
        for panel in self.query(Scroll):
            panel.set_class(is_framed, "-framed")

    def _draw_rows(self, rows: list[RateRow], top_bps: float) -> None:
        taking_part = sum(row.is_in for row in rows)
        self.query_one("#rows", Scroll).set_title(
            count_words(len(rows), "destination"), f"{taking_part} of {len(rows)} take part"
        )
        for row, widget in zip(rows, self.query(ShareRow), strict=False):
            widget.show(row, top_bps, is_wide=self._is_wide)
        # The position of the bars is known only after layout.
        self.call_after_refresh(self._draw_axis, top_bps)

    def _draw_axis(self, top_bps: float) -> None:
        axis = self.query_one("#axis", Static)
        bar = next(iter(self.query(ShareBar)), None)
        if bar is None or bar.size.width <= LEAST_BAR_COLUMNS:
            return
        before = " " * (bar.region.x - axis.region.x)
        lines = ruler(bar.size.width, top_bps).splitlines()
        if self._is_low and self.has_class("-live"):
            lines = lines[-1:]
        axis.update(Content("\n".join(f"{before}{line}" for line in lines)))

    def _say_how_far(self, board: Board, live: SharesModel | None) -> None:
        lines: list[str] = []
        if live:
            cells = int(self.size.width * _BAR_SHARE)
            lines = run_lines(live, cells, is_wide=self._is_wide)
        if not lines and board.learned:
            streams = board.learned.known.parallelism
            lines = [plan_line(board.plan, streams, is_wide=self._is_wide)]
        self.query_one("#head", Static).update(Content("\n".join(lines)))

    def _say_the_end(self, model: SharesModel | None) -> None:
        lines = shares_end_lines(model) if model else []
        word = self.query_one("#word", Static)
        word.update(Content("\n".join(lines)))
        word.set_class(bool(lines), "-said")
        ended = model.ended if model else None
        word.set_class(ended is not None and ended.complete, "done")
        word.set_class(ended is not None and not ended.complete, "not-done")
        word.set_class(model is not None and model.gave_up is not None, "gave-up")
