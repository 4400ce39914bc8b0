"""The form of a transfer to several destinations."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Checkbox, Static

from advisor.transfer.tuned.parsing import parse_epoch
from advisor.tui.features.shares.form import SharesDraft, asked_words, load_shares_draft
from advisor.tui.kit.checks import existing_path
from advisor.tui.kit.choice import Tick
from advisor.tui.kit.counted_field import CountedField
from advisor.tui.kit.field import Field, first_problem
from advisor.tui.kit.suggestions import PathSuggester
from advisor.tui.page import Page


class SharesFormScreen(Page):
    """The form. `sharing`: the draft. `destinations`: those that can be planned."""

    NAME = "Move files to several destinations"
    HELP = (
        "[b]Move files to several destinations[/b]\nAll files of a folder are moved to each of "
        "the destinations with a GridFTP client. The number of files at a time gives each its "
        "share; it is checked and corrected after every control epoch. If it is stopped or "
        "fails, the same transfer resumes from there.\nNothing is moved before ctrl+n."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "begin", "Move now", id="share-now"),
    ]
    DEFAULT_CSS = """
    SharesFormScreen #asked { height: auto; margin-bottom: 1; }
    """

    def __init__(
        self, sharing: SharesDraft | None = None, destinations: Iterable[str] = ()
    ) -> None:
        super().__init__()
        self.sharing = sharing or load_shares_draft()
        self._destinations = list(destinations)

    def content(self) -> Iterable[Widget]:
        asked = asked_words(self.sharing.asked_of(self._destinations))
        yield Static(Content(f"Asked: {asked}"), id="asked")
        yield CountedField(
            "What",
            "data",
            self.sharing,
            check=existing_path,
            example="a folder or a file here, as in /data/run7",
            explained="All files in this folder and below it are moved to each destination. They "
            "are counted in the background.",
            suggester=PathSuggester(),
        )
        yield self._field(
            "Goes to",
            "to",
            example="folder on the destination, as in /scratch/%h/run7",
            explained="Where the files go at the destinations. %h stands for the destination's "
            "name. Files of the same name there are overwritten.",
        )
        yield self._field(
            "Epoch",
            "epoch",
            check=parse_epoch,
            example="30s",
            explained="The time between two corrections. Long ones measure rates more precisely, "
            "short ones follow changes faster.",
        )
        yield Tick(
            "Move everything again",
            self.sharing.anew,
            "By default a transfer that was stopped or failed resumes from there. With this, "
            "what arrived before is moved again.",
            id="anew",
        )

    def _field(self, label: str, attribute: str, **more: object) -> Field:
        return Field(label, attribute, self.sharing, **more)  # type: ignore[arg-type]  # any of them

    def buttons(self) -> Iterable[Button]:
        yield Button("Back", id="back")
        yield Button("Move now", id="begin", variant="primary")

    def on_checkbox_changed(self, event: Checkbox.Changed) -> None:
        """Store it at once, as texts are."""
        self.sharing.anew = event.value

    def why_not_begin(self) -> str:
        """Why it cannot start: wrong or missing entries, or a running session."""
        return (
            first_problem(list(self.query(Field)))
            or self.sharing.why_not_run()
            or self.sharing.why_not(self._destinations)
            or self.advisor.why_no_session()
        )

    def action_begin(self) -> None:
        """Start the transfer, and show it on the screen below this one."""
        if reason := self.why_not_begin():
            self.advisor.refuse(reason)
            return
        directory = self.advisor.history.directory
        words = self.sharing.run_arguments(directory, self._destinations)
        # It holds for this run only: the next one resumes.
        self.sharing.anew = False
        self.advisor.leave()
        self.advisor.begin_shares(words)
