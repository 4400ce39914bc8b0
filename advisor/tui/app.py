"""The application: keys that work everywhere, the palette, and a clean end on every way out."""

import asyncio
import gc
import signal
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.screen import Screen

from advisor.store.history import Store
from advisor.tui.features.advising.draft import Draft, save_draft
from advisor.tui.kit.dialogs.ask import AskScreen
from advisor.tui.kit.dialogs.help import HelpScreen
from advisor.tui.kit.dialogs.jump import JumpScreen
from advisor.tui.kit.dialogs.too_small import LEAST_COLUMNS, LEAST_LINES, TooSmallScreen
from advisor.tui.kit.sentences import capitalised
from advisor.tui.page import Page
from advisor.tui.screens import SCREENS, WALK, screen_named
from advisor.tui.shell import Shell

EXIT_SIGNALLED: Final = 130
_KEEP_DRAFT_EVERY_S: Final = 1.0
_MOVEMENTS: Final = ("cursor", "scroll", "page", "choose", "select_cursor", "toggle_cell")
# Thresholds of the three generations: a full collection is rare.
_COLLECTED_AFTER: Final = (20_000, 10, 25)


class AdvisorApp(Shell):
    """`keys`: by the names of bindings. `first`: the screen to begin with, over Home."""

    CSS_PATH = "advisor.tcss"
    TITLE = "advisor"
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help_here", "Help", id="help"),
        Binding("ctrl+p", "command_palette", "All actions", id="palette"),
        Binding("ctrl+o", "jump", "Jump", show=False, id="jump"),
        Binding("ctrl+g", "home", "Home", show=False, id="home"),
        Binding("ctrl+z", "suspend_process", "Suspend (fg resumes)", show=False, id="suspend"),
        Binding("ctrl+q", "quit", "Quit", id="quit", priority=True),
    ]

    def __init__(
        self,
        store: Store,
        draft: Draft,
        *,
        drawing: str = "braille",
        theme: str = "textual-dark",
        keys: Mapping[str, str] | None = None,
        first: str | Page = "home",
    ) -> None:
        super().__init__(store, draft, drawing)
        self.theme = theme
        self._keys = dict(keys or {})
        self._kept = Draft()
        self._first = first

    def on_mount(self) -> None:
        """Open the first screen, and handle the signals that end the program."""
        self.set_keymap(self._keys)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            loop.add_signal_handler(number, self._leave_on_signal)
        self.call_after_refresh(_collect_from_now_on)
        self.set_interval(_KEEP_DRAFT_EVERY_S, self._save_draft)
        self.push_screen(screen_named("home"))
        if isinstance(self._first, Page):
            self.call_later(self.open, self._first)
        elif self._first != "home":
            self.call_later(self.go, self._first)

    def _save_draft(self) -> None:
        if self.draft != self._kept:
            save_draft(self.draft)
            self._kept = Draft(**{f: getattr(self.draft, f) for f in Draft.__struct_fields__})

    def _leave_on_signal(self) -> None:
        self.exit(EXIT_SIGNALLED)

    async def on_unmount(self) -> None:
        """Close every child: none outlives the program."""
        self._save_draft()
        under_way = [one for one in (self.session, self.transfer, self.shares) if one]
        await asyncio.gather(*(one.close() for one in under_way))

    def on_resize(self, event: Resize) -> None:
        """Below the smallest usable size a message covers the screen, which keeps its state."""
        small = event.size.width < LEAST_COLUMNS or event.size.height < LEAST_LINES
        if small and not isinstance(self.screen, TooSmallScreen):
            self.push_screen(TooSmallScreen())
        elif not small and isinstance(self.screen, TooSmallScreen):
            self.pop_screen()

    def action_help_here(self) -> None:
        """Show help on the focused widget, and all keys of this screen."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen))

    def action_jump(self) -> None:
        """Focus any widget with two keys."""
        if isinstance(self.screen, Page):
            self.push_screen(JumpScreen(self.screen))

    async def action_quit(self) -> None:
        """Quit. A running session ends with the results so far, and can be resumed.

        So does a transfer, but it may be hours long: that is confirmed first.
        """
        if not self.is_moving:
            self.exit(0)
            return
        if not isinstance(self.screen, AskScreen):
            question = (
                "Files are being moved, which stops when you leave. What arrived is kept, and "
                "the same transfer resumes from there next time."
            )
            self.push_screen(AskScreen(question, "Stop and quit"), self._leave_if)

    def _leave_if(self, yes: bool | None) -> None:
        if yes:
            self.exit(0)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action of this screen, the screens of the registry, and Textual's own commands."""
        for active in screen.active_bindings.values():
            binding = active.binding
            if binding.description and not binding.system and not _only_moves(binding):
                yield SystemCommand(
                    binding.description,
                    f"{binding.tooltip or 'Key'}: {self.get_key_display(binding)}",
                    lambda action=binding.action, node=active.node: self.call_later(
                        self.run_action, action, node
                    ),
                )
        if any(isinstance(s, Page) for s in self.screen_stack):
            for name, word in WALK.items():
                yield SystemCommand(
                    f"Step: {word}", "Go to this step", lambda name=name: self.go(name)
                )
            for name, entry in SCREENS.items():
                if entry.title:
                    yield SystemCommand(
                        f"Open: {entry.title}",
                        capitalised(entry.about),
                        lambda name=name: self.go(name),
                    )
        for command in super().get_system_commands(screen):
            if command.title not in ("Quit", "Keys"):
                yield command


def _only_moves(binding: Binding) -> bool:
    """Whether it moves a cursor or scrolls, which nobody looks for by its name."""
    return binding.action.removeprefix("screen.").startswith(_MOVEMENTS)


def _collect_from_now_on() -> None:
    """Collect garbage again, seldom, and without the objects that exist since the start.

    Those live to the end. By default Python scans all objects every two seconds, which delays keys
    by 30 to 110 ms each time.
    """
    gc.freeze()
    gc.set_threshold(*_COLLECTED_AFTER)
    gc.enable()
