"""Where: the destination, and how to reach its agent; checked while typing."""

import socket
from collections.abc import Iterable
from typing import Final, cast

from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Resize, ScreenResume, ScreenSuspend
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Collapsible, RadioSet

from advisor.domain.quantities import format_duration, format_rate
from advisor.tui.features.advising.draft import Draft, Way
from advisor.tui.features.advising.path_check import UNCHECKED, PathCheck
from advisor.tui.features.advising.reach_fields import SOURCE, reach_fields
from advisor.tui.features.advising.step import Step
from advisor.tui.features.advising.widgets.destination_field import DestinationField
from advisor.tui.features.advising.widgets.known_hosts import KnownHosts
from advisor.tui.kit.copying.copyable import Copyable
from advisor.tui.kit.fields.choice import Choice, ChoiceSet
from advisor.tui.kit.fields.field import Field, first_problem
from advisor.tui.kit.fields.scanned_field import AFTER_LAST_KEY_S
from advisor.tui.kit.panels.field_group import FieldGroup
from advisor.tui.kit.static import Static

_KNOWN_FROM: Final = 110
_WAYS: Final[dict[Way, str]] = {
    "ssh": "Start the agent over ssh (advisor is installed there)",
    "push": "ssh brings it along, where advisor is not installed",
    "agent": "it is listening already, at a HOST:PORT",
    "none": "none: no program may run there but the tool's server",
}
_OF_WAYS: Final[dict[str, tuple[Way, ...]]] = {
    "agent_command": ("ssh",),
    "ports": ("ssh", "push"),
    "agent": ("agent",),
    "secret_file": ("agent",),
}
"""The entries about an agent, and the ways that they are for."""


class WhereScreen(Step):
    """The fields for source and destination, and the result of checking the path."""

    NAME = "Where"
    STEP = "where"
    HELP = (
        "[b]Where[/b]\nWhere the data goes. What you type is checked at once, without load: "
        "whether that host answers, whether the advisor is installed there, and the round-trip "
        "time.\n\nThe other side runs an [i]agent[/i]: the same program, which receives the test "
        "traffic. Your own ssh starts it, and can bring it along: one file, of which nothing "
        "stays. Where ssh is not allowed, somebody there starts 'advisor agent --listen' and gives "
        "you the secret that it prints. Where no program may run at all, as on a server that "
        "offers SFTP alone, a tool that looks after its own files can be profiled."
    )
    DEFAULT_CSS = """
    WhereScreen RadioSet { width: auto; margin-left: 17; }
    WhereScreen #reach { height: auto; margin-left: 17; }
    WhereScreen #reached.-good { color: $advised; }
    WhereScreen #reached.-bad { color: $failed; }
    WhereScreen Collapsible { border: none; padding: 0; background: $background; }
    WhereScreen #entries { height: auto; }
    WhereScreen #entered { width: 1fr; height: auto; }
    WhereScreen #entered FieldGroup { margin-bottom: 1; }
    WhereScreen #known { width: 36; height: 100%; margin-left: 1; display: none; }
    WhereScreen.wide #known.-some { display: block; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._look: PathCheck | None = None
        self._waiting: Timer | None = None

    def content(self) -> Iterable[Widget]:
        """The fields, and the result of the check."""
        with Horizontal(id="entries"):
            with Vertical(id="entered"):
                yield from self._groups(self.advisor.draft)
            yield KnownHosts(self.advisor.history)

    def _groups(self, draft: Draft) -> Iterable[Widget]:
        here = Content.assemble(("From".ljust(17), "dim"), f"{socket.gethostname()} (this host)")
        yield FieldGroup(
            "Hosts",
            Static(here),
            DestinationField(draft, self.advisor.history, lists_known=True),
            Vertical(Static(id="reached"), Copyable(id="fix"), id="reach"),
        )
        ways = (Choice(words, draft.way == way, id=way) for way, words in _WAYS.items())
        yield FieldGroup(
            "Agent at the destination",
            ChoiceSet(*ways, compact=True, id="way"),
            *self._way_fields(draft),
        )
        yield FieldGroup(
            "Path",
            *reach_fields(draft, ["bandwidth"]),
            Collapsible(
                *reach_fields(draft, ["address", *SOURCE, "rtt"]),
                title="More",
                collapsed=not (draft.address or draft.interfaces or draft.rtt),
            ),
        )

    def on_known_hosts_picked(self, picked: KnownHosts.Picked) -> None:
        """Enter the host; Enter in its field then continues."""
        draft = self.advisor.draft
        draft.destination, draft.way = picked.name, "ssh"
        self._show_way()
        field = self.query_one(DestinationField)
        field.refill()
        field.enter()
        self._try_soon()

    def on_resize(self, _: Resize) -> None:
        self.set_class(self.size.width >= _KNOWN_FROM, "wide")

    def _way_fields(self, draft: Draft) -> Iterable[Field]:
        for name, ways in _OF_WAYS.items():
            for field in reach_fields(draft, [name]):
                field.display = draft.way in ways
                yield field

    def on_mount(self) -> None:
        # The children of panels are mounted after the screen.
        self.call_after_refresh(self._show)

    def on_screen_resume(self, _: ScreenResume) -> None:
        # The children of panels are mounted after the screen.
        self.call_after_refresh(self._renew)

    def _renew(self) -> None:
        """Show the entries, and check again if they changed elsewhere."""
        for field in self.query(Field):
            field.refill()
        self._show_way()
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

    def on_field_changed(self) -> None:
        """Check the path after typing pauses."""
        self._try_soon()

    def on_radio_set_changed(self, event: RadioSet.Changed) -> None:
        """Show the fields of the chosen way to reach the agent."""
        self.advisor.draft.way = cast(Way, event.pressed.id)
        self._show_fields()
        self._try_soon()

    def _show_way(self) -> None:
        """Choose the draft's way to reach the agent, and show its fields."""
        self.query_one(f"#{self.advisor.draft.way}", Choice).value = True
        self._show_fields()

    def _show_fields(self) -> None:
        for name, ways in _OF_WAYS.items():
            field = self.query_one(f"#field-{name.replace('_', '-')}")
            field.display = self.advisor.draft.way in ways

    def _try_soon(self) -> None:
        if self._waiting:
            self._waiting.stop()
        self._waiting = self.set_timer(AFTER_LAST_KEY_S, self._try)
        self._show()

    async def _try(self) -> None:
        """Check the path of the present entries; a check of earlier entries is stopped."""
        reach = self.advisor.draft.reach_arguments()
        if self._look and self._look.reach == reach and not self._look.trouble:
            return
        if self._look:
            await self._look.close()
        self._look = None
        if not self._incomplete() and self.advisor.draft.has_agent:
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
        trouble = self._look.trouble if self._look and manner == "bad" else None
        self.query_one("#fix", Copyable).mend(trouble)

    def _state(self) -> tuple[str, str]:
        """A sentence, and whether it is "good", "bad" or "" for neither."""
        if self.query_one(DestinationField).problem:
            return "", ""  # It stands in the line above.
        if missing := self._incomplete():
            return f"· {missing}", ""
        look, draft = self._look, self.advisor.draft
        if not draft.has_agent:
            return f"· {UNCHECKED}", ""
        if look is None or look.reach != draft.reach_arguments():
            seen = draft.path_seen
            return (self._reached_words(), "good") if seen else ("Checking …", "")
        if look.trouble:
            return f"✗ {look.trouble}", "bad"
        if look.model.path is None or look.is_running:
            return f"Connecting to {draft.where} …", ""
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
            f"✓ agent answers: advisor {version}\n"
            f"✓ round trip {format_duration(path.rtt_s)} ({path.rtt_method})"
            f"{rate}"
        )

    def why_not_next(self) -> str:
        """A valid destination is required; it need not answer."""
        return self._incomplete()

    def action_next(self) -> None:
        """Go to the next step, and say so if the destination has not answered yet."""
        draft = self.advisor.draft
        if not self.why_not_next() and draft.has_agent and draft.path_seen is None:
            where = draft.where
            self.notify(f"{where} has not answered yet: continuing, and checking again later.")
        super().action_next()
