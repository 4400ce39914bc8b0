"""What: the files to move, scanned in the background, or typed sizes."""

from collections.abc import Iterable
from typing import ClassVar, Final, cast

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import ScreenResume
from textual.widget import Widget
from textual.widgets import RadioSet

from advisor.domain.dataset import Dataset
from advisor.domain.quantities import format_duration, format_rate, parse_size
from advisor.domain.target_path import parse_target_path
from advisor.models.file_classes import classify, of_bins
from advisor.traits import checked_server, server_forms
from advisor.tui.features.advising.assumed_path import assumed_path
from advisor.tui.features.advising.draft import Draft, What, parse_count
from advisor.tui.features.advising.step import Step
from advisor.tui.features.advising.widgets.dataset_field import DatasetField, size_words
from advisor.tui.features.advising.widgets.file_histogram import FileHistogram
from advisor.tui.features.advising.widgets.tool_section import ToolSection
from advisor.tui.kit.fields.choice import Choice, ChoiceSet
from advisor.tui.kit.fields.field import Field, first_problem
from advisor.tui.kit.panels.field_group import FieldGroup
from advisor.tui.kit.static import Static

_REDRAW_S: Final = 0.5
_AMOUNTS: Final[dict[What, str]] = {
    "data": "a directory or a file here",
    "size": "a total size",
    "count": "a number of files of about one size",
    "unknown": "not known yet",
}
_FIELDS: Final[dict[What, tuple[str, ...]]] = {
    "data": ("data",),
    "size": ("size",),
    "count": ("files", "each-size"),
    "unknown": (),
}


class WhatScreen(Step):
    """The amount of data, the sizes of its files, and what to profile."""

    NAME = "What"
    STEP = "what"
    HELP = (
        "[b]What[/b]\nWhat to move. It decides how long the transfer takes, and how many files "
        "should be moved at a time. Only names and sizes are read here, and nothing is changed. "
        "If you do not know yet, continue: the path can be measured without it.\nWhere a tool is "
        "profiled as well, part of the files is copied to the destination repeatedly; before it "
        "starts, the screen says what is written where."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f4", "scan", "Scan / cancel", id="scan"),
    ]
    DEFAULT_CSS = """
    WhatScreen RadioSet { width: auto; }
    WhatScreen #counted { height: auto; }
    WhatScreen FieldGroup { margin-bottom: 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._drawn: object = None

    def content(self) -> Iterable[Widget]:
        """The fields for the dataset, the command lines, and profiling."""
        draft = self.advisor.draft
        amounts = (Choice(word, draft.what == what, id=what) for what, word in _AMOUNTS.items())
        yield FieldGroup(
            "What to move",
            ChoiceSet(*amounts, compact=True, id="what"),
            *self._amounts(draft),
            Static(id="counted"),
            FileHistogram(id="sizes"),
        )
        yield FieldGroup("Destination", *_destination_fields(draft))
        yield FieldGroup("What is profiled", ToolSection(draft))

    def _amounts(self, draft: Draft) -> list[Field]:
        fields = [
            DatasetField(draft),
            Field("Size", "size", draft, check=parse_size, example="as in 10TB"),
            Field("Files", "files", draft, check=parse_count, example="how many, as in 200000"),
            Field("Each", "each_size", draft, check=parse_size, example="as in 4MB"),
        ]
        for field in fields:
            field.display = field.id in _shown_fields(draft)
        return fields

    @property
    def _data_field(self) -> DatasetField:
        return self.query_one(DatasetField)

    def on_mount(self) -> None:
        self.every(_REDRAW_S, self._draw)

    def on_screen_resume(self, _: ScreenResume) -> None:
        # The children of panels are mounted after the screen.
        self.call_after_refresh(self._look)

    def _look(self) -> None:
        """Take over what changed elsewhere."""
        for field in self.query(Field):
            field.refill()
        self._data_field.scan_soon()
        self._draw()

    def on_radio_set_changed(self, event: RadioSet.Changed) -> None:
        """Show the fields of the chosen option."""
        self.advisor.draft.what = cast(What, event.pressed.id)
        self._data_field.scan_soon()
        self._show_fields()
        self._draw()

    def _show_fields(self) -> None:
        shown = _shown_fields(self.advisor.draft)
        for name in (name for names in _FIELDS.values() for name in names):
            self.query_one(f"#field-{name}").display = f"field-{name}" in shown

    def on_field_changed(self) -> None:
        self._draw()

    def action_scan(self) -> None:
        """Cancel the running scan, or scan again."""
        field = self._data_field
        if self.advisor.draft.what != "data":
            self.advisor.refuse("there is nothing to scan: choose 'a directory or a file here'")
        elif field.is_scanning:
            field.cancel_scan()
        elif field.problem or not field.text:
            self.advisor.refuse(field.problem or "type the path of what is to be moved first")
        else:
            field.scan_again()
        self._draw()

    def _dataset(self) -> Dataset | None:
        try:
            return self.advisor.draft.dataset()
        except ValueError:
            return None

    def _draw(self) -> None:
        """Draw what is known, if it changed."""
        self.query_one(ToolSection).show()
        progress = self._data_field.progress if self._counts_a_path() else None
        dataset = self._dataset()
        path = assumed_path(self.advisor.draft)
        words = self._words(dataset, path.rate_bps)
        now = (words, progress, dataset, path)
        if now == self._drawn:
            return
        self._drawn = now
        sizes = dataset.sizes if dataset else progress.sizes if progress else ()
        if sizes:
            words += f"\nClasses of size for {path.words}."
        self.query_one("#counted", Static).update(Content(words))
        self.query_one("#sizes", FileHistogram).show(
            classify(of_bins(sizes), path.bdp_bytes), path.bdp_bytes
        )

    def _counts_a_path(self) -> bool:
        return self.advisor.draft.what == "data"

    def _words(self, dataset: Dataset | None, rate_bps: float) -> str:
        if self.advisor.draft.what == "unknown":
            return "· The path can be measured without it; no duration is estimated."
        lines = [self._data_field.scan_words] if self._counts_a_path() else []
        if dataset and dataset.files and not self._counts_a_path():
            lines.append(f"{dataset.files:,} files, {size_words(dataset.total_bytes)} in all")
        if dataset:
            least_s = dataset.total_bytes * 8 / rate_bps
            lines.append(
                f"At {format_rate(rate_bps)} that takes {format_duration(least_s)} at the least."
            )
        return "\n".join(line for line in lines if line)

    def why_not_next(self) -> str:
        """Entries must be valid; a scan may continue in the background."""
        if problem := first_problem(list(self.query(Field))):
            return problem
        draft = self.advisor.draft
        fields = (self.query_one(f"#field-{name}", Field) for name in _FIELDS[draft.what])
        if not all(field.text for field in fields):
            return "enter how much there is, or choose 'not known yet'"
        return draft.why_no_tool()


def _shown_fields(draft: Draft) -> list[str]:
    return [f"field-{name}" for name in _FIELDS[draft.what]]


def _destination_fields(draft: Draft) -> Iterable[Field]:
    """The fields that the command lines need."""
    yield Field(
        "Goes to",
        "to",
        draft,
        check=parse_target_path,
        example="path on the destination, as in /scratch/me/run7/",
        explained="The path of the files on the destination. Without it the command lines "
        "have a placeholder in capitals.",
    )
    yield Field(
        "Server",
        "server",
        draft,
        check=checked_server,
        example="as in gsiftp://dtn02.example.org:2811 or sftp://USER@HOST:22",
        explained="The destination's server for the tool, where it has one, or this host's for a "
        f"tool that fetches: {', or '.join(server_forms())}. Your site's documentation names it.",
    )
