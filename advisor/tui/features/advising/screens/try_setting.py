"""A form for a setting to try: one field for each parameter of the space."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label

from advisor.domain.quantities import format_bytes, parse_size
from advisor.domain.space import AUTOMATIC, Parameter, Setting, Space
from advisor.traits import subject_name
from advisor.tui.features.advising.widgets.bins import AUTO, name_of, value_words
from advisor.tui.kit.static import Static


class TrySettingScreen(ModalScreen[Setting | None]):
    """Returns the whole setting, or None. `start`: the initial values."""

    HELP: ClassVar[str | None] = """[b]Try a setting[/b]
It is measured next, once, and counts like any other. Sizes may be written as 4MiB or 500kB."""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Cancel", id="cancel")]
    DEFAULT_CSS = """
    TrySettingScreen { align: center middle; }
    TrySettingScreen > VerticalScroll {
        width: 66; max-width: 96%; height: auto; max-height: 96%;
        background: $surface; border: round $focus; padding: 0 1;
    }
    TrySettingScreen Input { background: $panel; padding: 0 1; }
    TrySettingScreen .wrong { color: $failed; height: auto; }
    TrySettingScreen Horizontal { height: 1; margin-top: 1; }
    TrySettingScreen Button { min-width: 10; margin-right: 1; }
    """

    def __init__(self, subject: str, space: Space, start: Setting) -> None:
        super().__init__()
        self._subject, self._space, self._start = subject, space, start

    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=False) as box:
            box.border_title = Content(f"Try a {subject_name(self._subject)} setting")
            for parameter in self._space.parameters:
                yield Label(Text(f"{name_of(parameter)}: {bounds_words(parameter)}"))
                yield Input(
                    filled_in(parameter, self._start), id=f"p-{parameter.name}", compact=True
                )
                yield Static(id=f"wrong-{parameter.name}", classes="wrong")
            if self._space.fixed:
                fixed = ", ".join(f"{name} {value}" for name, value in self._space.fixed.items())
                yield Label(Text(f"as everywhere in this search: {fixed}"))
            with Horizontal():
                yield Button("Try it", id="try", variant="primary", compact=True)
                yield Button("Cancel", id="cancel", compact=True)

    def on_input_submitted(self) -> None:
        self._answer()

    def on_button_pressed(self, pressed: Button.Pressed) -> None:
        pressed.stop()
        if pressed.button.id == "try":
            self._answer()
        else:
            self.dismiss(None)

    def _answer(self) -> None:
        setting: Setting = {}
        first_wrong: Input | None = None
        for parameter in self._space.parameters:
            field = self.query_one(f"#p-{parameter.name}", Input)
            said = self.query_one(f"#wrong-{parameter.name}", Static)
            try:
                setting[parameter.name] = read_value(parameter, field.value)
                said.update("")
            except ValueError as error:
                said.update(Text(str(error)))
                first_wrong = first_wrong or field
        if first_wrong:
            first_wrong.focus()
        else:
            self.dismiss(setting | self._space.fixed)


def bounds_words(parameter: Parameter) -> str:
    """The bounds in words."""
    words = (
        f"{value_words(parameter, parameter.lower)} to {value_words(parameter, parameter.upper)}"
    )
    if parameter.only_bounds:
        return f"{parameter.lower} or {parameter.upper}"
    if parameter.is_choice:
        return f"{parameter.upper} ({value_words(parameter, parameter.upper)}) or 0"
    if parameter.automatic:
        words += f", or {AUTO} for the kernel's own"
    if parameter.quantum > 1:
        words += f", in steps of {parameter.quantum} {parameter.unit}".rstrip()
    return words


def filled_in(parameter: Parameter, start: Setting) -> str:
    """The value clipped to the bounds, as it would be typed."""
    value = start.get(parameter.name, 0)
    if not isinstance(value, int | float):
        value = parameter.lower
    inside = parameter.value_at(parameter.fraction_of(value))
    if parameter.automatic and inside == AUTOMATIC and not parameter.is_choice:
        return AUTO
    if parameter.unit == "B" and parse_size(format_bytes(inside)) == inside:
        return format_bytes(inside)
    return str(inside)


def read_value(parameter: Parameter, typed: str) -> int:
    """Parse a typed value. Raises ValueError with a sentence that names the remedy."""
    name = name_of(parameter)
    if parameter.automatic and typed.strip().lower() in (AUTO, str(AUTOMATIC)):
        return AUTOMATIC
    try:
        value = parse_size(typed) if parameter.unit == "B" else int(typed)
    except ValueError:
        example = "a size, as in 4MiB" if parameter.unit == "B" else "a whole number"
        raise ValueError(f"{name}: write {example}, {bounds_words(parameter)}") from None
    if not parameter.contains(value):
        raise ValueError(f"{name}: write something from {bounds_words(parameter)}")
    if value % parameter.quantum:
        below = value - value % parameter.quantum
        raise ValueError(f"{name}: write {below} or {below + parameter.quantum}")
    return value
