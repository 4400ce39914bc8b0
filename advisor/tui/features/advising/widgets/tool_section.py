"""What is profiled: the network alone, or a tool that copies part of the files."""

from typing import Final, cast

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Checkbox, RadioSet

from advisor.advising.budget import default_budget_s
from advisor.domain.quantities import format_duration
from advisor.tui.features.advising.checks import known_tool, usual_tool
from advisor.tui.features.advising.draft import Draft, Profiled
from advisor.tui.kit.fields.checks import whole_number
from advisor.tui.kit.fields.choice import Choice, ChoiceSet, Tick
from advisor.tui.kit.fields.field import Field
from advisor.tui.kit.static import Static

_PROFILED: Final[dict[Profiled, str]] = {
    "network": "only the network, from memory to memory: no file is touched",
    "tool": "a tool too, from disk to disk, with part of these files",
}
_OF_A_TOOL: Final = ("#field-tool", "#field-max-concurrency", "#keep", "#verify")
_MOST_AT_ONCE: Final = 128


class ToolSection(Vertical):
    """Changes the draft. `show` says what the tool still needs, else what it will do."""

    DEFAULT_CSS = """
    ToolSection { height: auto; }
    ToolSection > #profiled { margin-bottom: 0; }
    ToolSection > #about-profiled { height: auto; color: $text-muted; }
    ToolSection > #about-profiled.-refused { color: $failed; }
    """

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft
        self._said = ""

    def compose(self) -> ComposeResult:
        draft = self._draft
        choices = ChoiceSet(
            *(Choice(text, draft.profiled == word, id=word) for word, text in _PROFILED.items()),
            compact=True,
            id="profiled",
        )
        choices.border_title = "What is profiled"
        yield choices
        yield Static(id="about-profiled")
        yield Field(
            "Tool",
            "tool",
            draft,
            check=known_tool,
            example=f"default: {usual_tool(several=True)}, else the next that can be used",
            explained="What moves the files in each probe. It must be installed here, and its "
            "server, where it has one, must run at the destination.",
        )
        yield Field(
            "Files at once",
            "max_concurrency",
            draft,
            check=whole_number(1, _MOST_AT_ONCE),
            example="64 at most",
            explained="How many files the tool may move at a time. Some sites ask for few.",
        )
        yield Tick(
            "Keep files that arrive complete: they need not be moved again",
            draft.keep,
            "Files that arrive complete in the probes are put in their place, and stay. "
            "Everything else that was written there is removed; without this, everything is.",
            id="keep",
        )
        yield Tick(
            "Let the tool compare checksums",
            draft.verify,
            "The command line, and each probe, reads the written data again and compares "
            "checksums of both sides. That time is then part of the measurement.",
            id="verify",
        )

    def on_mount(self) -> None:
        self.show()

    def on_radio_set_changed(self, event: RadioSet.Changed) -> None:
        """Show the fields of a tool only where one is profiled."""
        event.stop()
        self._draft.profiled = cast(Profiled, event.pressed.id)
        self.show()

    def on_checkbox_changed(self, event: Checkbox.Changed) -> None:
        """Store it at once, as texts are."""
        event.stop()
        setattr(self._draft, event.checkbox.id or "", event.value)
        self.show()

    def show(self) -> None:
        """Draw what changed."""
        draft = self._draft
        for name in (*_OF_A_TOOL, "#about-profiled"):
            self.query_one(name).display = bool(draft.tool_name)
        if not draft.has_agent:
            self.query_one("#keep").display = False  # Only an agent puts files in their place.
        reason = draft.why_no_tool()
        about = self.query_one("#about-profiled", Static)
        about.set_class(bool(reason), "-refused")
        words = f"✗ {reason}" if reason else _what_a_tool_does(draft)
        if words != self._said:
            self._said = words
            about.update(Content(words))


def _what_a_tool_does(draft: Draft) -> str:
    seen = draft.path_seen
    budget_s = default_budget_s(seen.path.rtt_s if seen else 0.0, files=True)
    keeps = draft.keep and draft.has_agent
    after = "what arrives complete stays, the rest is removed" if keeps else "removed again"
    disks = "Both disks are measured with test files. " if draft.has_agent else ""
    return (
        f"· In each probe part of the files is copied next to {draft.to.strip()}: {after}. {disks}"
        f"It takes {format_duration(budget_s)} unless you change it in step History."
    )
