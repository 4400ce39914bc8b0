"""Panels: a rounded frame, its title on the left of the top line, the live value on the right."""

from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.events import Blur, Focus, Resize
from textual.widget import Widget

# Textual takes a widget's styles from the first of its bases that is one: this must not be.
if TYPE_CHECKING:
    _Mixin = Widget
else:
    _Mixin = object

PANEL_CSS: Final = """
    border: round $line; border-title-color: $foreground; padding: 0 1;
    &:focus, &:focus-within { border: round $focus; border-title-color: $focus; }
"""
"""The look of a panel, to be put between the braces of its own rule."""

_CORNERS: Final = 6
"""Two corners, and beside each a piece of the frame and a blank."""

_LEAST_GAP: Final = 2


class Titled(_Mixin):
    """A widget with a frame. `set_title` may be called as often as you like."""

    _title = Content("")
    _value = Content("")
    _fitted = Content("")

    def set_title(self, title: str | Content, value: str | Content = "") -> None:
        """`title` says what it is, `value` how it stands now. Texts are never markup."""
        title = Content(title) if isinstance(title, str) else title
        value = Content(value) if isinstance(value, str) else value
        # The equality of Content leaves colours out.
        if not (title.is_same(self._title) and value.is_same(self._value)):
            self._title, self._value = title, value
            self._fit_title()

    @property
    def title(self) -> str:
        """What it is, without the live value."""
        return self._title.plain

    def on_mount(self) -> None:
        self._fit_title()

    def on_resize(self, _: Resize) -> None:
        self._fit_title()

    def on_focus(self, _: Focus) -> None:
        self._fit_title(is_focused=True)

    def on_blur(self, _: Blur) -> None:
        self._fit_title(is_focused=False)

    def _fit_title(self, *, is_focused: bool | None = None) -> None:
        """Fill the line between title and value; a value that does not fit is left out."""
        focused = self.has_focus if is_focused is None else is_focused
        gap = self.outer_size.width - _CORNERS - self._title.cell_length - self._value.cell_length
        fitted = self._title
        if self._value.cell_length and gap >= _LEAST_GAP + 2:
            rule = Content.styled("─" * (gap - 2), "$focus" if focused else "$line")
            fitted = Content.assemble(self._title, " ", rule, " ", self._value)
        if not fitted.is_same(self._fitted):
            self._fitted = self.border_title = fitted
