"""What the steps about the outcome of a session share: which session, and when to redraw."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget

from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.step import Step
from advisor.tui.kit.marked import marked
from advisor.tui.kit.static import Static
from advisor.tui.page import past_trail
from advisor.tui.status import session_status


class OutcomeStep(Step):
    """A step about the outcome of a session: of `model`, or of the one that runs or ran last."""

    EMPTY: ClassVar[str] = ""
    """What it shows while there is no outcome, in markup."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "scroll_body(1)", "Down", show=False),
        Binding("up", "scroll_body(-1)", "Up", show=False),
        Binding("pagedown,space", "scroll_body(10)", "Page down", show=False),
        Binding("pageup", "scroll_body(-10)", "Page up", show=False),
        Binding("p", "past", "Past transfers", show=False, id="past-transfers"),
    ]
    DEFAULT_CSS = """
    OutcomeStep #outcome { height: auto; }
    OutcomeStep .heading { text-style: bold; margin-top: 1; }
    OutcomeStep .dim { color: $text-muted; }
    """

    def __init__(self, model: SessionModel | None = None) -> None:
        super().__init__()
        self._past = model
        self._shown: tuple[str, int] | None = None

    @property
    def model(self) -> SessionModel | None:
        """The session's model; None if there is no session."""
        if self._past is not None:
            return self._past
        return self.advisor.session.model if self.advisor.session else None

    @property
    def is_of_the_past(self) -> bool:
        """Whether it was opened from Review instead of by the steps."""
        return self._past is not None

    def trail(self) -> Content:
        if self._past is None:
            return super().trail()
        return past_trail(self._past.session, self.NAME)

    def status(self) -> Sequence[Content]:
        return session_status(self.model) if self.model else super().status()

    def action_back(self) -> None:
        if self.is_of_the_past:
            self.advisor.leave()
        else:
            super().action_back()

    def content(self) -> Iterable[Widget]:
        yield Vertical(id="outcome")

    async def on_mount(self) -> None:
        await self._show()
        if not self.is_of_the_past:
            self.every(1.0, self._show)

    async def on_screen_resume(self) -> None:
        await self._show()

    async def _show(self) -> None:
        """Rebuild the content when the outcome changed."""
        model = self.model
        # Only these change the content; a probe's intervals do not.
        ended = sum(probe.ended_s is not None for probe in model.probes) if model else 0
        now = (model.session, ended + model.is_over) if model else ("", -1)
        if now == self._shown or not self.is_current:
            return
        self._shown = now
        outcome = self.query_one("#outcome", Vertical)
        await outcome.remove_children()
        parts = list(self.outcome(model)) if model else []
        await outcome.mount_all(parts or [Static(marked(self.EMPTY))])
        # Without scrolling: the headline above it stays in view.
        self.set_focus(next(iter(self.focus_chain), None), scroll_visible=False)

    def outcome(self, model: SessionModel) -> Iterable[Widget]:
        """The widgets of the outcome; none if it is too early."""
        return ()

    def past_transfers(self, model: SessionModel) -> Iterable[Widget]:
        """A line about past transfers, if the method consulted them."""
        if model.evidence:
            newest = list(model.evidence.values())[-1]
            went_by = f"{newest.similar} of {newest.known}" if newest.similar else "no"
            used = f"The search used {went_by} past transfers: "
            words = Content.assemble(used, ("p", "bold"), " shows what they say.")
            yield Static(words, id="past-transfers")

    def action_past(self) -> None:
        """Open what past transfers predict, if the method consults them."""
        from advisor.tui.features.advising.screens.evidence import open_evidence

        open_evidence(self.advisor, self.model)


def bulleted(lines: Iterable[str]) -> Table:
    """The lines as a list."""
    table = Table.grid(padding=(0, 1, 0, 0))
    for line in lines:
        table.add_row(Text("•"), Text(line))
    return table


def heading(words: str) -> Static:
    """A heading above a part of the screen."""
    return Static(words, classes="heading")
