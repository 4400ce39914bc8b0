"""The form of a transfer: what to move, where to, and how to tune it."""

from collections.abc import Iterable
from typing import ClassVar, Final

import msgspec
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Collapsible, RadioSet, Static

from advisor.domain.addresses import parse_server
from advisor.transfer.tuned.parsing import parse_start
from advisor.tui.features.advising.reach_fields import REACH, reach_fields
from advisor.tui.features.advising.widgets.destination_field import DestinationField
from advisor.tui.features.transfer.draft import (
    TransferDraft,
    load_transfer_draft,
    of_draft,
    save_transfer_draft,
    tuning_methods,
)
from advisor.tui.features.transfer.limit_fields import limit_fields
from advisor.tui.features.transfer.move_form import MoveForm
from advisor.tui.kit.fields.choice import Choice, ChoiceSet, Tick
from advisor.tui.kit.fields.field import Field

_KEPT_EVERY_S: Final = 0.5


class TransferFormScreen(MoveForm):
    """The form. `draft`: its initial entries, by default those entered last."""

    NAME = "Move files now"
    HELP = (
        "[b]Move files now[/b]\nAll files of a folder are moved with a GridFTP client, and the "
        "transfer tunes itself meanwhile: how many files at a time, and over how many streams "
        "each. Nothing has to be measured beforehand. If it is stopped or fails, the same "
        "transfer resumes from there.\nWhat you leave empty is chosen for you; F1 explains each "
        "line. Nothing is moved before ctrl+n."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "begin", "Move now", id="move-now"),
    ]
    DEFAULT_CSS = """
    TransferFormScreen .label { color: $text-muted; margin-top: 1; }
    TransferFormScreen RadioSet { width: auto; }
    TransferFormScreen Collapsible {
        margin-top: 1; border: none; padding: 0; background: $background;
    }
    """

    def __init__(self, draft: TransferDraft | None = None) -> None:
        super().__init__()
        self._given = draft
        self._kept: TransferDraft | None = None

    @property
    def draft(self) -> TransferDraft:
        """The entries."""
        if self._given is None:
            self._given = load_transfer_draft() or of_draft(self.advisor.draft)
        return self._given

    def content(self) -> Iterable[Widget]:
        draft = self.draft
        yield from self._dataset_and_folder()
        yield Collapsible(
            *reach_fields(draft),
            title="How to reach it",
            collapsed=not any(getattr(draft, name) for name in REACH if name != "secret_file"),
        )
        yield Static("How it is tuned", classes="label")
        yield from self._tuning()
        yield Static("Limits on hosts and network", classes="label")
        yield from limit_fields(draft)
        yield from self._ticks()

    def _dataset_and_folder(self) -> Iterable[Field]:
        yield self.data_field("All files in this folder and below it are moved.")
        yield DestinationField(self.draft, self.advisor.history)
        yield self.field(
            "Goes to",
            "to",
            example="folder on the destination, as in /scratch/me/run7/",
            explained="Where the files go on the destination. Files of the same name there are "
            "not replaced, unless you say so below.",
        )
        yield self.field(
            "GridFTP server",
            "server",
            check=parse_server,
            example="as in gsiftp://dtn02.example.org:2811",
            explained="The destination's GridFTP server, which takes the files. Your site's "
            "documentation names it; without it, the one on the host above is tried.",
        )

    def _tuning(self) -> Iterable[Widget]:
        methods = ChoiceSet(
            *(
                Choice(f"{name:<19}{gloss}", name == self.draft.method, id=name)
                for name, gloss in tuning_methods().items()
            ),
            compact=True,
            id="methods",
        )
        methods.border_title = "How it is tuned"
        yield methods
        yield self.epoch_field(
            "The time between two decisions. Long ones distinguish settings better, short ones "
            "follow changes of hosts and network faster."
        )
        yield self.field(
            "Starts at",
            "start",
            check=parse_start,
            example="what was advised for these hosts, else 2x8",
            explained="Files at a time × streams for each to begin with, as in 4x8.",
        )

    def _ticks(self) -> Iterable[Widget]:
        yield Tick(
            "Compare checksums at the end",
            self.draft.verify,
            "At the end both sides read all files again and their checksums are compared. That "
            "takes about as long as the slower disk needs to read them.",
            id="verify",
        )
        yield from self.once_ticks()

    def on_mount(self) -> None:
        self.every(_KEPT_EVERY_S, self._keep)

    def on_unmount(self) -> None:
        self._keep()

    def _keep(self) -> None:
        if self.draft != self._kept:
            save_transfer_draft(self.draft)
            self._kept = msgspec.structs.replace(self.draft)

    def on_field_changed(self, changed: Field.Changed) -> None:
        """Use the listening agent once one is entered."""
        if changed.field.id == "field-agent":
            self.draft.way = "agent" if changed.field.text else "ssh"

    def on_radio_set_changed(self, event: RadioSet.Changed) -> None:
        """Store it at once, as texts are."""
        self.draft.method = event.pressed.id or ""

    def why_incomplete(self) -> str:
        return self.draft.why_not()

    def start(self) -> None:
        words = ["transfer", "--json", "--orders", *self.advisor.history.arguments]
        self.advisor.begin_transfer([*words, *self.draft.transfer_arguments()])
