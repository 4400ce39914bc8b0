"""The form of a transfer: what to move, where to, and how to tune it."""

from collections.abc import Iterable
from typing import ClassVar, Final

import msgspec
from textual import work
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Button, Checkbox, Collapsible, RadioSet, Static

from advisor.domain.addresses import parse_address, parse_host_port, parse_ports, parse_server
from advisor.domain.endpoints import Endpoint
from advisor.domain.quantities import parse_duration, parse_rate
from advisor.runtime.destinations import KnownDestination, known_destinations
from advisor.transfer.tuned.parsing import parse_epoch, parse_price, parse_start
from advisor.tui.features.transfer.form import (
    TransferDraft,
    load_transfer_draft,
    of_draft,
    save_transfer_draft,
    tuning_methods,
)
from advisor.tui.kit.checks import existing_path, whole_number
from advisor.tui.kit.choice import Choice, ChoiceSet, Tick
from advisor.tui.kit.counted_field import CountedField
from advisor.tui.kit.field import Field, first_problem
from advisor.tui.kit.suggestions import DestinationSuggester, PathSuggester
from advisor.tui.page import Page

_KEPT_EVERY_S: Final = 0.5
_MOST_FILES: Final = 128
_MOST_STREAMS: Final = 128
_NICEST: Final = 19


class TransferFormScreen(Page):
    """The form. `move`: its initial entries, by default those entered last."""

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

    def __init__(self, move: TransferDraft | None = None) -> None:
        super().__init__()
        self._given = move
        self._completing = DestinationSuggester()
        self._kept: TransferDraft | None = None

    @property
    def move(self) -> TransferDraft:
        """The entries."""
        if self._given is None:
            self._given = load_transfer_draft() or of_draft(self.advisor.draft)
        return self._given

    def content(self) -> Iterable[Widget]:
        yield from self._of_what()
        yield Collapsible(*self._way(), title="How to reach it", collapsed=not self._says_the_way)
        yield Static("How it is tuned", classes="label")
        yield from self._tuning()
        yield Static("Limits on hosts and network", classes="label")
        yield from self._shares()
        yield from self._ticks()

    def _field(self, label: str, attribute: str, **more: object) -> Field:
        return Field(label, attribute, self.move, **more)  # type: ignore[arg-type]  # any of them

    def _of_what(self) -> Iterable[Field]:
        yield CountedField(
            "What",
            "data",
            self.move,
            check=existing_path,
            example="a folder or a file here, as in /data/run7",
            explained="All files in this folder and below it are moved. They are counted in the "
            "background.",
            suggester=PathSuggester(),
        )
        yield self._field(
            "To",
            "destination",
            check=Endpoint.parse,
            example="host, user@host, lab:NAME or localhost",
            explained="The host that gets the files, as you would give it to ssh. Names that are "
            "known are completed: right arrow takes them.",
            suggester=self._completing,
        )
        yield self._field(
            "Goes to",
            "to",
            example="folder on the destination, as in /scratch/me/run7/",
            explained="Where the files go on the destination. Files of the same name there are "
            "overwritten.",
        )
        yield self._field(
            "GridFTP server",
            "server",
            check=parse_server,
            example="as in gsiftp://dtn02.example.org:2811",
            explained="The destination's GridFTP server, which takes the files. Your site's "
            "documentation names it; without it, the one on the host above is tried.",
        )

    @property
    def _says_the_way(self) -> bool:
        move = self.move
        ways = (move.agent, move.agent_command, move.address, move.ports, move.bandwidth, move.rtt)
        return any(ways)

    def _way(self) -> Iterable[Field]:
        yield self._field(
            "Agent command",
            "agent_command",
            example="advisor agent --stdio",
            explained="The agent's command there, if advisor is not in the PATH of a ssh login.",
        )
        yield self._field(
            "Agent at",
            "agent",
            check=parse_host_port,
            example="HOST:PORT, if it listens and ssh is not used",
            explained="The address that 'advisor agent --listen' printed there.",
        )
        yield self._field(
            "Secret file",
            "secret_file",
            example="file with the secret that it printed",
            explained="A file here, readable by you alone, with the line that the agent printed.",
        )
        yield self._field(
            "Data address",
            "address",
            check=parse_address,
            example="IP address, if data goes to another one than the name's",
            explained="Transfer nodes often have one network for logins and one for data.",
        )
        yield self._field(
            "Ports",
            "ports",
            check=parse_ports,
            example="as in 50000-51000, if a firewall asks for it",
            explained="The ports that the agent may open.",
        )
        yield self._field(
            "Reserved rate",
            "bandwidth",
            check=parse_rate,
            example="as in 10Gbit, if you have a reservation",
            explained="What you may use of the path, in bit/s; without it, that of the slower "
            "network card. It determines the size of the parts into which files are divided.",
        )
        yield self._field(
            "Round trip",
            "rtt",
            check=parse_duration,
            example="as in 93.6ms, where it cannot be measured",
            explained="The round-trip time, for paths that block ping.",
        )

    def _tuning(self) -> Iterable[Widget]:
        methods = ChoiceSet(
            *(
                Choice(f"{name:<19}{gloss}", name == self.move.method, id=name)
                for name, gloss in tuning_methods().items()
            ),
            compact=True,
            id="methods",
        )
        methods.border_title = "How it is tuned"
        yield methods
        yield self._field(
            "Epoch",
            "epoch",
            check=parse_epoch,
            example="30s",
            explained="The time between two decisions. Long ones distinguish settings better, "
            "short ones follow changes of hosts and network faster.",
        )
        yield self._field(
            "Starts at",
            "start",
            check=parse_start,
            example="what was advised for these hosts, else 2x8",
            explained="Files at a time × streams for each to begin with, as in 4x8.",
        )

    def _shares(self) -> Iterable[Field]:
        yield self._field(
            "Files at a time",
            "max_concurrency",
            check=whole_number(1, _MOST_FILES),
            example="32 at most",
            explained="How many files, and parts of large files, may be moved at a time.",
        )
        yield self._field(
            "Streams for each",
            "max_streams",
            check=whole_number(1, _MOST_STREAMS),
            example="16 at most",
            explained="How many TCP connections one file may have.",
        )
        yield self._field(
            "Streams in all",
            "max_flows",
            check=whole_number(1, _MOST_FILES * _MOST_STREAMS),
            example="128 at most",
            explained="Files at a time × streams for each. Some sites ask for few.",
        )
        yield self._field(
            "Rate",
            "max_rate",
            check=parse_rate,
            example="as in 2Gbit, to leave capacity to others; default: no limit",
            explained="The mean rate limit of all streams together, in bit/s. With a limit, the "
            "rates say nothing about the settings: the epochs are not stored in the history.",
        )
        yield self._field(
            "Niceness",
            "nice",
            check=whole_number(0, _NICEST),
            example="0; up to 19 yields this host's cores to others",
            explained="The nice value of the clients on this host.",
        )
        yield self._field(
            "Stream's price",
            "price",
            check=parse_price,
            example="none; with 2% each extra stream must gain 2 % more",
            explained="With a price, two tuned transfers from one source converge, instead of "
            "outbidding each other with ever more streams.",
        )

    def _ticks(self) -> Iterable[Widget]:
        yield Tick(
            "Compare checksums at the end",
            self.move.verify,
            "At the end both sides read all files again and their checksums are compared. That "
            "takes about as long as the slower disk needs to read them.",
            id="verify",
        )
        yield Tick(
            "Move everything again",
            self.move.anew,
            "By default a transfer that was stopped or failed resumes from there. With this, "
            "what arrived before is moved again.",
            id="anew",
        )

    def buttons(self) -> Iterable[Button]:
        yield Button("Back", id="back")
        yield Button("Move now", id="begin", variant="primary")

    def on_mount(self) -> None:
        self._learn_names()
        self.every(_KEPT_EVERY_S, self._keep)

    def on_unmount(self) -> None:
        self._keep()

    def _keep(self) -> None:
        if self.move != self._kept:
            save_transfer_draft(self.move)
            self._kept = msgspec.structs.replace(self.move)

    @work(thread=True, exclusive=True, group="names")
    def _learn_names(self) -> None:
        with self.advisor.history.store() as store:
            known = known_destinations(store)
        self.app.call_from_thread(self._take_names, known)

    def _take_names(self, known: list[KnownDestination]) -> None:
        self._completing.names = [one.name for one in known]

    def on_field_changed(self, changed: Field.Changed) -> None:
        """Use the listening agent once one is entered."""
        if changed.field.id == "field-agent":
            self.move.way = "agent" if changed.field.text else "ssh"

    def on_radio_set_changed(self, event: RadioSet.Changed) -> None:
        """Store it at once, as texts are."""
        self.move.method = event.pressed.id or ""

    def on_checkbox_changed(self, event: Checkbox.Changed) -> None:
        """Store it at once, as texts are."""
        setattr(self.move, event.checkbox.id or "", event.value)

    def why_not_begin(self) -> str:
        """Why it cannot start: wrong or missing entries, or a running session."""
        return (
            first_problem(list(self.query(Field)))
            or self.move.why_not()
            or self.advisor.why_no_session()
        )

    def action_begin(self) -> None:
        """Start the transfer."""
        if reason := self.why_not_begin():
            self.advisor.refuse(reason)
            return
        words = ["transfer", "--json", "--orders", *self.advisor.history.arguments]
        self.advisor.begin_transfer([*words, *self.move.transfer_arguments()])
        # It holds for this run only: the next one resumes.
        self.move.anew = False
