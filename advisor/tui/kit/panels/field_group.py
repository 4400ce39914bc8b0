"""A panel of fields that belong together."""

from textual.containers import Vertical
from textual.widget import Widget

from advisor.tui.kit.panels.titled import PANEL_CSS, Titled


class FieldGroup(Titled, Vertical):
    """Fields in a frame with a title."""

    DEFAULT_CSS = (
        f"FieldGroup {{ {PANEL_CSS} }}"
        + """
    FieldGroup { height: auto; }
    """
    )

    def __init__(self, title: str, *fields: Widget, id: str | None = None) -> None:  # noqa: A002  # as every widget has it
        super().__init__(*fields, id=id)
        self.set_title(title)
