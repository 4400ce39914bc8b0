"""Where: the destination, and how to reach its agent; checked while typing."""

import socket
from collections.abc import Iterable
from typing import Final, cast

from textual import work
from textual.containers import Vertical
from textual.content import Content
from textual.events import ScreenResume, ScreenSuspend
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Collapsible, RadioSet, Static

from advisor.domain.addresses import parse_address, parse_host_port, parse_ports
from advisor.domain.endpoints import Endpoint
from advisor.domain.quantities import format_duration, format_rate, parse_duration, parse_rate
from advisor.runtime.destinations import KnownDestination, known_destinations
from advisor.tui.features.advising.form import Way
from advisor.tui.features.advising.path_check import PathCheck
from advisor.tui.features.advising.step import Step
from advisor.tui.kit.choice import Choice, ChoiceSet
from advisor.tui.kit.copyable import Copyable
from advisor.tui.kit.field import Field, first_problem
from advisor.tui.kit.fixes import fix_for
from advisor.tui.kit.suggestions import DestinationSuggester

_AFTER_LAST_KEY_S: Final = 0.6
_NAMED: Final = 5
_WAYS: Final[dict[Way, str]] = {
    "ssh": "ssh starts it (as rsync and git do)",
    "agent": "it is listening already, at a HOST:PORT",
}


class WhereScreen(Step):
    """The fields for source and destination, and the result of checking the path."""

    NAME = "Where"
    STEP = "where"
    HELP = (
        "[b]Where[/b]\nWhere the data goes. What you type is checked at once, without load: "
        "whether that host answers, whether the advisor is installed there, and the round-trip "
        "time.\n\nThe other side runs an [i]agent[/i]: the same program, which receives the test "
        "traffic. Your own ssh starts it; where ssh is not allowed, somebody there starts "
        "'advisor agent --listen' and gives you the secret that it prints."
    )
    DEFAULT_CSS = """
    WhereScreen .row { height: auto; }
    WhereScreen RadioSet { width: auto; margin-left: 17; }
    WhereScreen .label { color: $text-muted; margin-top: 1; }
    WhereScreen #reach { margin: 1 0 0 0; height: auto; }
    WhereScreen #reached { padding: 0 1; border-left: thick $primary; }
    WhereScreen #reached.-good { border-left: thick $success; }
    WhereScreen #reached.-bad { border-left: thick $error; }
    WhereScreen Collapsible { margin-top: 1; border: none; padding: 0; background: $background; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._look: PathCheck | None = None
        self._waiting: Timer | None = None
        self._completing = DestinationSuggester()

    def content(self) -> Iterable[Widget]:
        """The fields, and the result of the check."""
        draft = self.advisor.draft
        yield Static(
            Content.assemble(("From".ljust(17), "dim"), f"{socket.gethostname()} (this host)")
        )
        yield Field(
            "To",
            "destination",
            draft,
            check=Endpoint.parse,
            example="host, user@host, lab:NAME or localhost",
            explained="The host that gets the data, as you would give it to ssh. Names that are "
            "known are completed: right arrow takes them.",
            suggester=self._completing,
        )
        with_agent = draft.way == "agent"
        yield Vertical(Static(id="reached"), Copyable(id="fix"), id="reach")
        yield Static("How to reach the agent there", classes="label")
        yield ChoiceSet(
            *(Choice(words, draft.way == way, id=way) for way, words in _WAYS.items()),
            compact=True,
            id="way",
        )
        for field in self._fields_of_the_way():
            field.display = (field.id in ("field-agent", "field-secret-file")) == with_agent
            yield field
        yield Field(
            "Reserved rate",
            "bandwidth",
            draft,
            check=parse_rate,
            example="as in 10Gbit, if you have a reservation",
            explained="The part of the path that you may use, in bit/s. Results are compared "
            "with it; without it, with the slower network card.",
        )
        yield Collapsible(*self._more(), title="More", collapsed=not (draft.address or draft.rtt))

    def _fields_of_the_way(self) -> Iterable[Field]:
        draft = self.advisor.draft
        yield Field(
            "Agent command",
            "agent_command",
            draft,
            example="advisor agent --stdio",
            explained="The agent's command there, if advisor is not in the PATH of a login by "
            "ssh, as in /opt/advisor/bin/advisor agent --stdio.",
        )
        yield Field(
            "Ports",
            "ports",
            draft,
            check=parse_ports,
            example="as in 50000-51000, if a firewall asks for it",
            explained="The ports that the agent may open for test traffic; sites often name them "
            "in GLOBUS_TCP_PORT_RANGE. They are open only while a test runs.",
        )
        yield Field(
            "Agent at",
            "agent",
            draft,
            check=parse_host_port,
            example="HOST:PORT that it printed",
            explained="The address that 'advisor agent --listen' printed there.",
        )
        yield Field(
            "Secret file",
            "secret_file",
            draft,
            example="file with the secret that it printed",
            explained="A file here, readable by you alone (chmod 600), with the line that the "
            "agent printed. Both sides prove that they know it before anything else.",
        )

    def _more(self) -> Iterable[Widget]:
        draft = self.advisor.draft
        yield Field(
            "Data address",
            "address",
            draft,
            check=parse_address,
            example="IP address, if data goes to another one than the name's",
            explained="Transfer nodes often have one network for logins and one for data.",
        )
        yield Field(
            "Round trip",
            "rtt",
            draft,
            check=parse_duration,
            example="as in 93.6ms, where it cannot be measured",
            explained="The round-trip time, for paths that block ping.",
        )

    def on_mount(self) -> None:
        self._learn_names()
        self._show()

    def on_screen_resume(self, _: ScreenResume) -> None:
        """Refill the fields, and check again if the entries changed elsewhere."""
        for field in self.query(Field):
            field.refill()
        if self._look is None or self._look.reach != self.advisor.draft.reach_arguments():
            self._try_soon()

    async def on_screen_suspend(self, _: ScreenSuspend) -> None:
        """Stop the check."""
        if not isinstance(self.app.screen, ModalScreen):
            await self._end_look()

    async def on_unmount(self) -> None:
        await self._end_look()

    async def _end_look(self) -> None:
        if self._waiting:
            self._waiting.stop()
        if self._look and self._look.is_running:
            look, self._look = self._look, None
            await look.close()

    @work(thread=True, exclusive=True, group="names")
    def _learn_names(self) -> None:
        with self.advisor.history.store() as store:
            known = known_destinations(store)
        self.app.call_from_thread(self._take_names, known)

    def _take_names(self, known: list[KnownDestination]) -> None:
        self._completing.names = [one.name for one in known]
        named = ", ".join(one.name for one in known[:_NAMED])
        more = ", …" if len(known) > _NAMED else ""
        field = self.query_one("#field-destination", Field)
        if not field.text:
            field.hint(f"known: {named}{more}")

    def on_field_changed(self, changed: Field.Changed) -> None:
        """Check the path after typing pauses."""
        if changed.field.id == "field-destination":
            changed.field.hint("")
        self._try_soon()

    def on_radio_set_changed(self, event: RadioSet.Changed) -> None:
        """Show the fields of the chosen way."""
        way = cast(Way, event.pressed.id)
        self.advisor.draft.way = way
        for name in ("agent", "secret-file"):
            self.query_one(f"#field-{name}").display = way == "agent"
        for name in ("agent-command", "ports"):
            self.query_one(f"#field-{name}").display = way == "ssh"
        self._try_soon()

    def _try_soon(self) -> None:
        if self._waiting:
            self._waiting.stop()
        self._waiting = self.set_timer(_AFTER_LAST_KEY_S, self._try)
        self._show()

    async def _try(self) -> None:
        """Check the path of the present entries; a check of earlier entries is stopped."""
        reach = self.advisor.draft.reach_arguments()
        if self._look and self._look.reach == reach and not self._look.trouble:
            return
        if self._look:
            await self._look.close()
        self._look = None
        if not self._incomplete():
            self._look = PathCheck(self.advisor.draft, self.advisor.history, self._show)
        self._show()

    def _incomplete(self) -> str:
        """What is still missing or wrong; "" when the path can be checked."""
        draft = self.advisor.draft
        if problem := first_problem(list(self.query(Field))):
            return problem
        if draft.way == "agent":
            if not draft.agent.strip():
                return "enter where the agent listens: HOST:PORT"
            if not draft.secret_file.strip():
                return "enter the file here that has the secret that the agent printed"
        elif not draft.destination.strip():
            return "type where the data goes: it is checked as you type"
        return ""

    def _show(self) -> None:
        """Show the present result of the check."""
        if not self.is_mounted:
            return
        words, manner = self._state()
        reached = self.query_one("#reached", Static)
        reached.update(Content(words))
        reached.set_class(manner == "good", "-good")
        reached.set_class(manner == "bad", "-bad")
        fix = fix_for(words) if manner == "bad" else None
        self.query_one("#fix", Copyable).hold(*(fix or ("", "")))

    def _state(self) -> tuple[str, str]:
        """A sentence, and whether it is "good", "bad" or "" for neither."""
        if missing := self._incomplete():
            return f"· {missing}", ""
        look, draft = self._look, self.advisor.draft
        if look is None or look.reach != draft.reach_arguments():
            seen = draft.path_seen
            return (self._reached_words(), "good") if seen else ("… about to check it", "")
        if look.trouble:
            return f"✗ {look.trouble}", "bad"
        if look.model.path is None or look.is_running:
            return f"… reaching {draft.where}", ""
        return self._reached_words(), "good"

    def _reached_words(self) -> str:
        seen = self.advisor.draft.path_seen
        if seen is None:
            return "✓ reachable"
        path = seen.path
        version = path.destination.versions.get("advisor", "of an unknown version")
        rate = f"\n  {format_rate(path.capacity_bps)} at most" if path.capacity_bps else ""
        return (
            f"✓ {self.advisor.draft.where} is reachable\n"
            f"✓ agent found: advisor {version}\n"
            f"✓ round trip {format_duration(path.rtt_s)} ({path.rtt_method})"
            f"{rate}"
        )

    def why_not_next(self) -> str:
        """A valid destination is required; it need not answer."""
        return self._incomplete()

    def action_next(self) -> None:
        """Go to the next step, and say so if the destination has not answered yet."""
        if not self.why_not_next() and self.advisor.draft.path_seen is None:
            where = self.advisor.draft.where
            self.notify(f"{where} has not answered yet: continuing, and checking again later.")
        super().action_next()
