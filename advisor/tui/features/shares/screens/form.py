"""The form of a transfer to several destinations."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from advisor.domain.target_path import parse_target_path
from advisor.transfer.shared.epochs import EPOCH_S
from advisor.tui.features.shares.draft import SharesDraft, asked_words, load_shares_draft
from advisor.tui.features.transfer.move_form import MoveForm
from advisor.tui.kit.static import Static


class SharesFormScreen(MoveForm):
    """The form. `draft`: its entries. `destinations`: those that can be planned, with a `tool`."""

    NAME = "Move files to several destinations"
    HELP = (
        "[b]Move files to several destinations[/b]\nAll files of a folder are moved to each of "
        "the destinations with the tool that was measured. The number of files at a time gives "
        "each its share; it is checked and corrected after every control epoch. If it is stopped "
        "or fails, the same transfer resumes from there.\nNothing is moved before ctrl+n."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "begin", "Move now", id="share-now"),
    ]
    DEFAULT_CSS = """
    SharesFormScreen #asked { height: auto; margin-bottom: 1; }
    """

    def __init__(
        self, draft: SharesDraft | None = None, destinations: Iterable[str] = (), tool: str = ""
    ) -> None:
        super().__init__()
        self._tool = tool
        self._draft = draft or load_shares_draft()
        self._destinations = list(destinations)

    @property
    def draft(self) -> SharesDraft:
        return self._draft

    def content(self) -> Iterable[Widget]:
        asked = asked_words(self.draft.asked_of(self._destinations))
        yield Static(Content(f"Asked: {asked}"), id="asked")
        yield self.data_field(
            "All files in this folder and below it are moved to each destination."
        )
        yield self.field(
            "Goes to",
            "to",
            check=parse_target_path,
            example="folder on the destination, as in /scratch/%h/run7",
            explained="Where the files go at the destinations. %h stands for the destination's "
            "name. Files of the same name there are not replaced, unless you say so below.",
        )
        yield self.epoch_field(
            "The time between two corrections. Long ones measure rates more precisely, short ones "
            "follow changes faster.",
            example=f"default: {EPOCH_S:g}s",
        )
        yield from self.once_ticks()

    def why_incomplete(self) -> str:
        draft = self.draft
        return draft.why_no_data() or draft.why_no_folder() or draft.why_not(self._destinations)

    def start(self) -> None:
        history = self.advisor.history.arguments
        words = self.draft.run_arguments(history, self._destinations, self._tool)
        self.advisor.leave()
        self.advisor.begin_shares(words)
