"""The form of a transfer: what to move, where to, and how to tune it."""

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

import msgspec
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize
from textual.widget import Widget
from textual.widgets import Checkbox, Collapsible, RadioSet

from advisor.domain.nodes import parse_nodes
from advisor.domain.target_path import parse_target_path
from advisor.traits import checked_server, movers, moving_tool, server_forms
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
from advisor.tui.kit.panels.field_group import FieldGroup

_KEPT_EVERY_S: Final = 0.5
_TWO_COLUMNS_FROM: Final = 160


def _other_tools() -> list[str]:
    return [name for name in movers() if name != moving_tool()]


def known_mover(text: str) -> None:
    """The name of a tool that can move a list of files. Raises ValueError."""
    if text.strip() not in movers():
        raise ValueError(f"'{text}' cannot be run by a transfer: write {' or '.join(movers())}")


class TransferFormScreen(MoveForm):
    """The form. `draft`: its initial entries, by default those entered last."""

    NAME = "Move files now"
    HELP = (
        "[b]Move files now[/b]\nAll files of a folder are moved with the tool you have, and the "
        "transfer tunes itself meanwhile: how many files at a time, and over how many streams "
        "each. Nothing has to be measured beforehand. If it is stopped or fails, the same "
        "transfer resumes from there.\nWhat you leave empty is chosen for you; F1 explains each "
        "line. Nothing is moved before ctrl+n."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+n", "begin", "Move now", id="move-now"),
    ]
    DEFAULT_CSS = """
    TransferFormScreen RadioSet { width: auto; }
    TransferFormScreen Collapsible { border: none; padding: 0; background: $background; }
    TransferFormScreen #columns { height: auto; layout: vertical; }
    TransferFormScreen .column { height: auto; }
    TransferFormScreen.wide #columns { layout: horizontal; }
    TransferFormScreen.wide .column { width: 1fr; }
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
        with Horizontal(id="columns"):
            with Vertical(classes="column"):
                yield FieldGroup("What and where", *self._what_and_where())
                yield FieldGroup("Files at the destination", *self._ticks())
            with Vertical(classes="column"):
                yield FieldGroup("Tuning", *self._tuning())
                yield FieldGroup("Limits on hosts and network", *limit_fields(self.draft))

    def _what_and_where(self) -> Iterable[Widget]:
        yield self.data_field("All files in this folder and below it are moved.")
        yield DestinationField(self.draft, self.advisor.history)
        yield self.field(
            "Goes to",
            "to",
            check=parse_target_path,
            example="folder on the destination, as in /scratch/me/run7",
            explained="Where the files go on the destination. Files of the same name there are "
            "not replaced, unless you say so below.",
        )
        yield self.field(
            "Tool",
            "tool",
            check=known_mover,
            example=f"{moving_tool()} (default), {', '.join(_other_tools())}",
            explained="The program that moves the files. It has to be installed here, and its "
            "server at the destination; some move whole files only, which is said at the start.",
        )
        yield self.field(
            "Server",
            "server",
            check=checked_server,
            example="default: the one on that host; else gsiftp://dtn02:2811",
            explained="The destination's server for the tool, which takes the files: "
            f"{', or '.join(server_forms(movers()))}. Your site's documentation names it; without "
            "it, the one on the host above is tried.",
        )
        yield self._reach()
        yield self._over_nodes()

    def _reach(self) -> Collapsible:
        draft = self.draft
        return Collapsible(
            Tick(
                "Bring the agent along over ssh",
                draft.pushes,
                "For a host where advisor is not installed: one file is sent over ssh and run "
                "there, and nothing of it stays.",
                id="pushes",
            ),
            *reach_fields(draft),
            title="How to reach it",
            collapsed=not (
                draft.pushes or any(getattr(draft, name) for name in REACH if name != "secret_file")
            ),
        )

    def _over_nodes(self) -> Collapsible:
        return Collapsible(
            self.field(
                "Nodes",
                "via",
                check=parse_nodes,
                example="as in dtn11=dtn21,dtn12=dtn22, or @senders=@receivers of the fleet",
                explained="Pairs of source and destination nodes, which share the files; a source "
                "alone sends to the host above. They see the same file system as this host, and "
                "need your login by ssh and a history in PostgreSQL.",
            ),
            self.field(
                "Node command",
                "node_command",
                example="default: advisor node",
                explained="What starts a node on the source nodes, if advisor is not in the PATH "
                "of a login by ssh.",
            ),
            title="Over several nodes",
            collapsed=not self.draft.via,
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
            "follow changes of hosts and network faster. Without one, an epoch ends when its "
            "difference is decided.",
            example="default: until decided",
        )
        yield self.field(
            "Starts at",
            "start",
            check=parse_start,
            example="default: what was advised for these hosts, else 2x8",
            explained="Files at a time × streams for each to begin with, as in 4x8.",
        )

    def _ticks(self) -> Iterable[Widget]:
        yield from self.once_ticks()
        yield Tick(
            "Read all files again at the end, and compare checksums",
            self.draft.verify,
            "Each piece is compared by checksum when it arrives. With this, both sides also read "
            "all files again at the end, which takes about as long as the slower disk needs.",
            id="verify",
        )

    def on_mount(self) -> None:
        # The children of panels are mounted after the screen.
        self.call_after_refresh(self._show_advised)
        self.every(_KEPT_EVERY_S, self._keep)

    def on_unmount(self) -> None:
        self._keep()

    def _keep(self) -> None:
        if self.draft != self._kept:
            save_transfer_draft(self.draft)
            self._kept = msgspec.structs.replace(self.draft)

    def renew(self) -> None:
        super().renew()
        self._show_advised()

    def _show_advised(self) -> None:
        """Say below the start whether it was advised."""
        words = "as advised for these hosts" if self.draft.starts_as_advised else ""
        for field in self.query("#field-start").results(Field):
            field.hint(words)

    def on_resize(self, _: Resize) -> None:
        self.set_class(self.size.width >= _TWO_COLUMNS_FROM, "wide")

    def status(self) -> Sequence[Content]:
        """Whether it can start, else what is missing or wrong."""
        # As judged when it was typed: to look for the path each second may take long.
        wrong = next((one.label for one in self.query(Field) if one.has_class("-wrong")), "")
        missing, *_ = (self.why_incomplete() or self.advisor.why_no_session()).split(": ")
        if wrong or missing:
            reason = f"check '{wrong}'" if wrong else missing
            return [Content.styled("! not ready", "$act"), Content(reason)]
        return [Content.styled("✓ ready", "$advised"), Content("ctrl+n moves the files")]

    def on_field_changed(self, changed: Field.Changed) -> None:
        """Use the listening agent once one is entered."""
        self.show_status()
        if changed.field.id == "field-start":
            self._show_advised()
        if changed.field.id == "field-agent":
            self.draft.way = "agent" if changed.field.text else "ssh"
            with self.prevent(Checkbox.Changed):
                self.query_one("#pushes", Tick).value = False

    def on_radio_set_changed(self, event: RadioSet.Changed) -> None:
        """Store it at once, as texts are."""
        self.draft.method = event.pressed.id or ""

    def why_incomplete(self) -> str:
        return self.draft.why_not() or self.draft.why_no_queue(self.advisor.history.argument)

    def start(self) -> None:
        words = ["transfer", "--json", "--orders", *self.advisor.history.arguments]
        self.advisor.begin_transfer([*words, *self.draft.transfer_arguments()])
