"""The hosts that are known here, to pick one instead of typing it."""

from typing import Final

from textual import work
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from advisor.runtime.destinations import KnownDestination, known_destinations
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.open_history import OpenHistory
from advisor.tui.kit.panels.titled import PANEL_CSS, Titled
from advisor.tui.kit.sentences import shortened

_NAME: Final = 30


class KnownHosts(Titled, OptionList):
    """Read when it is mounted; it has the class `-some` when there are any."""

    HELP = (
        "[b]Known hosts[/b]\nThis machine, labs that are up, hosts measured before, and those of "
        "your ssh configuration. Enter takes one."
    )
    DEFAULT_CSS = (
        f"KnownHosts {{ {PANEL_CSS} }}"
        + """
    KnownHosts { background: $background; }
    KnownHosts > .option-list--option-highlighted { background: transparent; text-style: none; }
    KnownHosts:focus > .option-list--option-highlighted { background: $focus 30%; }
    """
    )

    class Picked(Message):
        """One was picked. `name`: of the host."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, history: OpenHistory) -> None:
        super().__init__(id="known")
        self.set_title("Known hosts")
        self._history = history

    def on_mount(self) -> None:
        self._learn()

    @work(thread=True, exclusive=True, group="known")
    def _learn(self) -> None:
        with self._history.store() as store:
            known = known_destinations(store)
        draw_from_thread(self, self._take, known)

    def _take(self, known: list[KnownDestination]) -> None:
        self.clear_options()
        self.add_options(Option(_words(one), id=one.name) for one in known)
        self.highlighted = 0 if known else None
        self.set_title("Known hosts", str(len(known)))
        self.set_class(bool(known), "-some")

    def on_option_list_option_selected(self, selected: OptionList.OptionSelected) -> None:
        selected.stop()
        self.post_message(self.Picked(selected.option.id or ""))


def _words(known: KnownDestination) -> Content:
    return Content.assemble(shortened(known.name, _NAME), "\n", (f"  {known.what}", "dim"))
