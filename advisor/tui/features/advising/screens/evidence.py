"""Past transfers: those found similar, what they predict here, surfaces and points."""

from collections.abc import Iterable
from typing import ClassVar, Final

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import Resize
from textual.widget import Widget
from textual.widgets import DataTable

from advisor.domain.evidence import Evidence, GroupLeftOut, Level, SimilarGroup
from advisor.domain.quantities import format_rate
from advisor.report.evidence import evidence_lines, group_words, left_out_words
from advisor.traits import method_traits, methods
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.widgets.evidence_table import EvidenceTable
from advisor.tui.features.advising.widgets.level_keys import LevelKeys
from advisor.tui.features.advising.widgets.slice_chart import LEVELS, SliceChart, slice_of
from advisor.tui.kit.sentences import count_words
from advisor.tui.kit.static import Static
from advisor.tui.page import Page
from advisor.tui.shell import Shell

_LOOKED_EVERY_S: Final = 1.0
_AROUND: Final = 6
"""Terminal columns beside the table's cells: the body's margin and the frame."""
_SINGLE_BELOW: Final = (100, 30)
_ALL_LEVELS_FROM: Final = 160


class EvidenceScreen(Page):
    """Shows the evidence of a model, and follows its updates."""

    NAME = "What past transfers say"
    HELP = (
        "[b]What past transfers say[/b]\nHARP tries few settings itself. It finds past transfers "
        "of similar files, fits surfaces to their throughput, compares these with one short "
        "sample taken now, and derives the setting from them. Each row is a group of past "
        "transfers; below it is what the chosen group predicts for one level: 1 concurrency "
        "(files at once), 2 parallelism (streams for each file), 3 pipelining (files requested "
        "ahead).\nThe search for similar transfers starts at a similarity of 0.99 and goes down "
        "until there are enough. The lower it ends, the less they resemble yours: the lines "
        "above the table say how far the answer can be trusted."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(n), level, f"Surface by {level}", show=False, id=f"slice-{level}")
            for n, level in enumerate(LEVELS, 1)
        ),
        Binding("down,j", "group(1)", "Next group", show=False, id="next-group"),
        Binding("up,k", "group(-1)", "Group before", show=False, id="group-before"),
        Binding("n", "search", "Next search", show=False, id="next-search"),
    ]
    DEFAULT_CSS = """
    EvidenceScreen #body { overflow-y: hidden; }
    EvidenceScreen #answer { height: auto; margin-bottom: 1; }
    EvidenceScreen #group { height: auto; max-height: 5; margin-top: 1; color: $text-muted; }
    EvidenceScreen #slices { height: 1fr; layout: horizontal; }
    EvidenceScreen #slices > SliceChart { width: 1fr; }
    EvidenceScreen #no-slice { height: auto; padding: 1 0; color: $text-muted; }
    EvidenceScreen.single EvidenceTable { height: 1fr; max-height: 100%; }
    EvidenceScreen.single #answer, EvidenceScreen.single #group { margin: 0; }
    """

    def __init__(self, model: SessionModel) -> None:
        super().__init__()
        self._model = model
        self._search = list(model.evidence)[-1]
        self._level: Level = "concurrency"
        self._drawn: Evidence | None = None
        self._is_sliced = False

    def content(self) -> Iterable[Widget]:
        yield Static(id="answer")
        yield EvidenceTable()
        yield Static(id="group")
        yield Static(id="no-slice")
        yield LevelKeys(id="levels")
        yield Container(*(SliceChart(level) for level in LEVELS), id="slices")

    def on_mount(self) -> None:
        self.query_one(EvidenceTable).focus()
        self.every(_LOOKED_EVERY_S, self._look)

    def on_resize(self, _: Resize) -> None:
        columns, rows = _SINGLE_BELOW
        self.set_class(self.size.width < columns or self.size.height < rows, "single")
        self._draw()

    @property
    def _evidence(self) -> Evidence:
        return self._model.evidence[self._search]

    @property
    def _is_alone(self) -> bool:
        """Whether the chart replaces the table."""
        return self.has_class("single") and self._is_sliced

    def _look(self) -> None:
        if self._evidence is not self._drawn:
            self._draw()

    def _draw(self) -> None:
        self._drawn = evidence = self._evidence
        words = answer_words(evidence)
        if len(self._model.evidence) > 1:
            words.insert(0, f"Search {self._search}; n shows the next one.")
        self.query_one("#answer", Static).update(Text("\n".join(words)))
        self.query_one(EvidenceTable).show(evidence, self.size.width - _AROUND)
        self._draw_group()

    def on_data_table_row_highlighted(self) -> None:
        """Draw the selected group."""
        self._draw_group()

    def _draw_group(self) -> None:
        group = self.query_one(EvidenceTable).group
        self.query_one("#group", Static).update(Text(group_detail(group)))
        self.query_one("#no-slice", Static).update(Text(_why_no_slice(self._evidence, group)))
        self._arrange(isinstance(group, SimilarGroup) and bool(group.slices))
        self._draw_slices(group if isinstance(group, SimilarGroup) else None)

    def _arrange(self, has_slices: bool) -> None:
        """Show what exists and fits."""
        has_rows = bool(self._evidence.groups or self._evidence.left_out)
        has_room = self._is_alone or not self.has_class("single")
        self.query_one("#answer").display = not self._is_alone
        self.query_one(EvidenceTable).display = has_rows and not self._is_alone
        self.query_one("#group").display = has_rows
        self.query_one("#slices").display = has_slices and has_room
        self.query_one("#no-slice").display = not has_slices and (has_room or not has_rows)

    def _draw_slices(self, group: SimilarGroup | None) -> None:
        """Draw all slices where they fit, else that of the chosen level."""
        there = [level for level in LEVELS if group and slice_of(group, level)]
        if there and self.size.width < _ALL_LEVELS_FROM:
            there = [self._level if self._level in there else there[0]]
        are_shown = self.query_one("#slices").display
        self.query_one(LevelKeys).show(there if are_shown else ())
        for chart in self.query(SliceChart):
            chart.display = chart.level in there
            if group and chart.display:
                chart.show_slice(self._evidence, group)

    def on_data_table_row_selected(self, _: DataTable.RowSelected) -> None:
        """Show the chosen group's surface."""
        self._show_slices()

    def _show_slices(self) -> None:
        self._is_sliced = True
        self._draw_group()
        chart = next((one for one in self.query(SliceChart) if one.display), None)
        if chart is not None and self.query_one("#slices").display:
            chart.focus()

    def action_concurrency(self) -> None:
        """Show the chosen group's slice along concurrency."""
        self._choose("concurrency")

    def action_parallelism(self) -> None:
        """Show its slice along parallelism."""
        self._choose("parallelism")

    def action_pipelining(self) -> None:
        """Show its slice along pipelining."""
        self._choose("pipelining")

    def _choose(self, level: Level) -> None:
        group = self.query_one(EvidenceTable).group
        if reason := _why_no_level(self._evidence, group, level):
            self.advisor.refuse(reason)
            return
        self._level = level
        self._show_slices()
        self.query_one(f"#by-{level}").focus()

    def action_group(self, by: int) -> None:
        """Select the next or previous row, also while the chart is shown alone."""
        table = self.query_one(EvidenceTable)
        table.move_cursor(row=min(max(table.cursor_row + by, 0), max(table.row_count - 1, 0)))

    def action_search(self) -> None:
        """Show the evidence of the session's next search."""
        searches = list(self._model.evidence)
        if len(searches) < 2:
            self.advisor.refuse("only one search consulted past transfers: there is no other")
            return
        self._search = searches[(searches.index(self._search) + 1) % len(searches)]
        self._draw()

    def action_back(self) -> None:
        if self._is_alone:
            self._is_sliced = False
            self._draw_group()
            self.query_one(EvidenceTable).focus()
        else:
            super().action_back()


def open_evidence(advisor: Shell, model: SessionModel | None) -> None:
    """Show what past transfers predicted in this session, or say why there is nothing."""
    if reason := why_no_evidence(model):
        advisor.refuse(reason)
    elif model is not None:
        advisor.open(EvidenceScreen(model))


def why_no_evidence(model: SessionModel | None) -> str:
    """Why there is no evidence: a clause with the remedy; "" if there is."""
    if model is None:
        return "nothing is being measured: start from Where"
    if model.evidence:
        return ""
    if not method_traits(model.method).shows_evidence:
        able = " or ".join(name for name in methods() if method_traits(name).shows_evidence)
        asked = f"the method of this session, {model.method}," if model.method else "this session"
        return (
            f"{asked} does not consult past transfers: enter {able} as Method (step History, under "
            "More)"
        )
    if model.is_over:
        return (
            "no sample succeeded in this session, so past transfers were not consulted: start again"
        )
    return (
        "past transfers are consulted after the sample, the first probe of the search: wait for it"
    )


def answer_words(evidence: Evidence) -> list[str]:
    """The answer and its basis, in lines."""
    answer = f"Answer: {evidence.levels.words}; expect {format_rate(evidence.throughput_bps)}."
    sample = (
        f"The sample gave {format_rate(evidence.sample.throughput_bps)} with "
        f"{evidence.sample.levels.words}."
        if evidence.sample
        else "No sample was taken: the answer rests on past transfers alone."
    )
    return [f"{evidence_lines(evidence)[0]}.", answer, sample, evidence.worth]


def group_detail(group: SimilarGroup | GroupLeftOut | None) -> str:
    """A row of the table in words, with what does not fit there."""
    if group is None:
        return ""
    if isinstance(group, GroupLeftOut):
        return f"{left_out_words(group)}."
    return (
        f"{group_words(group)}. Its own best: {group.best.words}, {format_rate(group.best_bps)}. "
        f"Its surface explains {group.training_r2:.0%} of how they differ, "
        f"{group.validation_r2:.0%} of those held back to check it."
    )


def _why_no_slice(evidence: Evidence, group: SimilarGroup | GroupLeftOut | None) -> str:
    """Why there is no chart of this group."""
    if group is None:
        return "No past transfers were found similar, so there is no surface to show."
    if isinstance(group, GroupLeftOut):
        return "No surface fits these transfers, so they have no weight and nothing is drawn."
    drawn = count_words(sum(bool(one.slices) for one in evidence.groups), "group")
    return f"Only the {drawn} with the most weight are drawn: choose one of them."


def _why_no_level(
    evidence: Evidence, group: SimilarGroup | GroupLeftOut | None, level: Level
) -> str:
    if not isinstance(group, SimilarGroup) or not group.slices:
        return _why_no_slice(evidence, group)
    if slice_of(group, level) is None:
        return f"this group was measured with one {level} only: choose another level or group"
    return ""
