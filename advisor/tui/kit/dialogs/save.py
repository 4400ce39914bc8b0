"""Saving to a file: format, name, and a question before one is overwritten."""

import errno
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

import msgspec
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label, RadioSet

from advisor.store.errors import StoreError
from advisor.store.files import replace_file, write_new
from advisor.tui.kit.dialogs.ask import AskScreen
from advisor.tui.kit.dialogs.style import DIALOG_CSS
from advisor.tui.kit.fields.choice import Choice
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.sentences import capitalised
from advisor.tui.kit.static import Static


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """A file format. `data` makes the bytes, in a thread.

    It raises ValueError or StoreError with a sentence.
    """

    name: str
    suffix: str
    data: Callable[[], bytes]


class SaveScreen(ModalScreen[Path | None]):
    """Returns the path of the saved file, None when it was cancelled."""

    HELP = (
        "[b]Save[/b] A name without a directory is saved in the one in which advisor was "
        "started; ~ is your home. Choosing a format changes the name's ending."
    )
    DEFAULT_CSS = (
        "SaveScreen {" + DIALOG_CSS + "#dialog RadioSet { height: auto; margin-bottom: 1; } }"
    )
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave")]

    def __init__(self, what: str, stem: str, formats: Sequence[Format]) -> None:
        """`stem`: the proposed name without its ending."""
        super().__init__()
        self._what = what
        self._stem = stem
        self._formats = formats
        self._chosen = 0

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="dialog", can_focus=False):
            yield Static(f"Save {self._what}")
            with RadioSet(id="formats", compact=True):
                for number, each in enumerate(self._formats):
                    yield Choice(f"{each.name} ({each.suffix})", value=number == 0)
            yield Label("File")
            yield Input(self._stem + self._formats[0].suffix, id="file", compact=True)
            yield Static("", id="wrong")
            with Horizontal(id="answers"):
                yield Button("Leave", id="leave")
                yield Button("Save", id="save", variant="primary")

    def on_radio_set_changed(self, changed: RadioSet.Changed) -> None:
        """Adapt the name's ending to the format, unless another was typed."""
        line = self.query_one("#file", Input)
        before = self._formats[self._chosen].suffix
        self._chosen = changed.index
        if line.value.endswith(before):
            line.value = line.value.removesuffix(before) + self._formats[self._chosen].suffix

    def on_input_submitted(self) -> None:
        self._save(overwrite=False)

    def on_button_pressed(self, pressed: Button.Pressed) -> None:
        if pressed.button.id == "save":
            self._save(overwrite=False)
        else:
            self.dismiss(None)

    def action_leave(self) -> None:
        self.dismiss(None)

    def _save(self, *, overwrite: bool) -> None:
        self._tell("")
        typed = self.query_one("#file", Input).value.strip()
        if not typed:
            self._tell("the file has no name: type one")
            return
        try:
            path = Path(typed).expanduser()
        except RuntimeError:
            self._tell("there is no such home directory: type an absolute path")
            return
        self._write(path, self._formats[self._chosen], overwrite)

    @work(thread=True, exclusive=True)
    def _write(self, path: Path, chosen: Format, overwrite: bool) -> None:
        draw: Callable[[], object]
        try:
            data = chosen.data()
            if overwrite:
                replace_file(path, data, public=True)
            else:
                write_new(path, data)
        except FileExistsError:
            draw = partial(self._ask_to_replace, path)
        except OSError as error:
            draw = partial(self._tell, explained(path, error))
        except (ValueError, StoreError) as error:
            draw = partial(self._tell, str(error))
        else:
            draw = partial(self.dismiss, path)
        draw_from_thread(self, draw)

    def _ask_to_replace(self, path: Path) -> None:
        if path.is_dir():
            self._tell(f"{path} is a directory: name a file in it")
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self._save(overwrite=True)

        self.app.push_screen(AskScreen(f"{path} exists already. Replace it?", "Replace"), answered)

    def _tell(self, sentence: str) -> None:
        text = capitalised(sentence)
        self.query_one("#wrong", Static).update(f"{text}." if text else "")


def explained(path: Path, error: OSError) -> str:
    """Why a file cannot be written: a sentence with the remedy."""
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return f"there is no directory {path.parent}: create it first, or choose another"
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return f"no space is left in {path.parent}: free some space, or choose another"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return f"you may not write in {path.parent}: choose another directory"
        case errno.ENAMETOOLONG:
            return "this name is too long: shorten it"
    reason = (error.strerror or str(error)).lower()
    return f"cannot write {path}: {reason}; choose another directory"
