"""Why the present setting is tried, and what made a difference so far."""

from typing import ClassVar

from textual.content import Content

from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.widgets.reasons import differences, trying
from advisor.tui.kit.panels.text_panel import TextPanel

_NOTICES = 3


class WhyPanel(TextPanel):
    """`show` a model."""

    HELP: ClassVar[str | None] = """[b]Why[/b]
Why the present setting is tried, and what made a difference, newest first: each sentence compares
the two probes before a step of the search. Without a clear difference the rates differ by less
than twice their standard error."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # as every widget has it
        super().__init__(id=id)
        self.set_title("Why")

    def show(self, model: SessionModel) -> None:
        """Update the text, if it changed."""
        # Texts, not markup: messages may contain brackets.
        self.fill(Content("\n").join(Content(line) for line in why_lines(model)))


def why_lines(model: SessionModel) -> list[str]:
    """The lines of the panel."""
    lines = []
    if model.waiting_ahead:
        lines.append(f"Waiting: another advisor is measuring ({model.waiting_ahead} ahead).")
    elif model.running:
        lines.append(f"Now: {trying(model.running)}")
    if model.notices:
        lines += [f"! {words}" for _, words in model.notices[-_NOTICES:]]
    if found := [f"· {words}" for words in differences(model)]:
        lines += ["", *found] if lines else found
    return lines or ["The defaults are measured first; then the search begins."]
