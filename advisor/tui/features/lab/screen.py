"""Lab: emulated paths on this machine: those that are up, and presets to bring up."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import ScreenResume
from textual.widget import Widget
from textual.widgets import DataTable

from advisor.lab import catalogue
from advisor.lab.paths import BadPath, EmulatedPath
from advisor.lab.state import labs
from advisor.runtime.advisor_child import AdvisorChild
from advisor.tui.features.lab.rows import (
    PATH_COLUMNS,
    UP_COLUMNS,
    LabHost,
    hosts_of,
    lab_row,
    path_rows,
)
from advisor.tui.kit.dialogs.ask import AskScreen
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.static import Static
from advisor.tui.kit.tables.row_table import RowTable
from advisor.tui.page import Page

_POLL_S: Final = 2.0
_LABS: Final = "Labs"
_PATHS: Final = "Paths to bring up"


class LabScreen(Page):
    """Lists labs, brings them up and takes them down."""

    NAME = "Lab"
    HELP = (
        "[b]Lab[/b]\nA lab is a long-distance network path emulated on this machine: emulated "
        "hosts, with delay, rate limit and loss between them. Use it to see what the advisor "
        "does, or how a setting behaves at another round-trip time. No interface of this machine "
        "is touched, and a lab leaves nothing behind when it is taken down. Results in a lab say "
        "nothing about your real paths."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "bring_up", "Bring up", id="bring-up"),
        Binding("t", "take_down", "Take down", id="take-down"),
        Binding("a", "advise_on", "Advise on it", id="advise-on"),
    ]
    DEFAULT_CSS = """
    LabScreen #doing { height: auto; margin-bottom: 1; }
    LabScreen #none-up { height: auto; margin: 0 1 1 1; }
    LabScreen #labs { margin-bottom: 1; max-height: 12; }
    LabScreen #paths { max-height: 100%; scrollbar-size-vertical: 1; }
    LabScreen.-low #body { overflow-y: hidden; }
    LabScreen.-low #paths { height: 1fr; }
    LabScreen #about { height: auto; margin: 0 1; color: $default; }
    """
    AUTO_FOCUS = "#paths"
    VERTICAL_BREAKPOINTS = [(0, "-low"), (30, "-high")]  # noqa: RUF012  # as Textual declares it

    def __init__(self) -> None:
        super().__init__()
        self._hosts: dict[str, LabHost] = {}
        self._known: dict[str, EmulatedPath] = {}
        self._child: AdvisorChild | None = None
        self._doing = ""
        self._ending: asyncio.Task[None] | None = None

    def content(self) -> Iterable[Widget]:
        yield Static(id="doing")
        yield Static("No lab is up. Choose a path below, and press u to bring it up.", id="none-up")
        up = RowTable(_LABS, *UP_COLUMNS, id="labs")
        up.header_height = 2
        up.display = False
        yield up
        paths = RowTable(_PATHS, *PATH_COLUMNS, id="paths")
        paths.header_height = 2
        yield paths
        yield Static(id="about")

    def on_mount(self) -> None:
        self.query_one("#doing").display = False
        self._read_paths()
        self.every(_POLL_S, self._poll)

    def on_screen_resume(self, _: ScreenResume) -> None:
        self._look()

    async def on_unmount(self) -> None:
        if self._child:
            await self._child.close(at_once=True)

    @work(thread=True, exclusive=True, group="paths")
    def _read_paths(self) -> None:
        found, broken = {}, []
        for name in catalogue.names():
            try:
                found[name] = catalogue.find(name)
            except BadPath as error:
                broken.append(str(error))
        draw_from_thread(self, self._show_paths, found, broken)

    def _show_paths(self, found: dict[str, EmulatedPath], broken: Sequence[str]) -> None:
        self._known = found
        self._draw_paths()
        if broken:
            self._say("\n".join(f"✗ {trouble}" for trouble in broken))

    def _draw_paths(self) -> None:
        table = self.query_one("#paths", RowTable)
        table.set_title(_PATHS, str(len(self._known)))
        table.fill(path_rows(self._known, self.size.width))

    def on_resize(self) -> None:
        self._draw_paths()

    def _poll(self) -> None:
        if self.app.screen is self:
            self._look()

    @work(thread=True, exclusive=True, group="labs")
    def _look(self) -> None:
        found = [host for place in labs() for host in hosts_of(place)]
        draw_from_thread(self, self._show_labs, found)

    def _show_labs(self, found: list[LabHost]) -> None:
        self._hosts = {f"{host.lab} {host.place}": host for host in found}
        table = self.query_one("#labs", RowTable)
        had_rows = table.row_count
        table.display, self.query_one("#none-up").display = bool(found), not found
        table.set_title(_LABS, str(len(found)))
        table.fill([lab_row(key, host) for key, host in self._hosts.items()])
        if found and not had_rows and not self._doing:
            table.focus()

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """Show the source of a preset's figures."""
        if event.data_table.id == "paths" and event.row_key.value in self._known:
            path = self._known[event.row_key.value]
            self.query_one("#about", Static).update(Content(path.note))

    async def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Advise on a lab that is up; bring up a preset."""
        event.stop()
        if event.data_table.id == "paths":
            self.action_bring_up()
        else:
            self.action_advise_on()

    def action_bring_up(self) -> None:
        """Bring up a lab with the chosen path."""
        path = self.query_one("#paths", RowTable).chosen
        name = path.replace(".", "-")
        if not path:
            self.advisor.refuse("there is no path to bring up: choose one in the lower table")
        elif name in {host.lab for host in self._hosts.values()}:
            self.advisor.refuse(f"lab {name} exists already: take it down first (t)")
        else:
            words = ["lab", "up", name, "--path", path, "--json"]
            self._run(words, f"bringing up {name}", f"lab {name} is up: a starts advice on it")

    def _chosen_lab(self) -> LabHost | None:
        return self._hosts.get(self.query_one("#labs", RowTable).chosen)

    def action_take_down(self) -> None:
        """Take down the chosen lab, after a confirmation."""
        chosen = self._chosen_lab()
        if chosen is None:
            self.advisor.refuse("no lab is up: u brings one up")
            return
        self.app.push_screen(
            AskScreen(
                f"Take down lab {chosen.lab}? What runs in it ends; the measurements are kept.",
                "Take it down",
            ),
            lambda yes: self._take_down(chosen.lab) if yes else None,
        )

    def _take_down(self, lab: str) -> None:
        self._run(["lab", "down", lab], f"taking down {lab}", f"lab {lab} is down")

    def action_advise_on(self) -> None:
        """Open the first step, with the chosen lab as the destination."""
        chosen = self._chosen_lab()
        if chosen is None:
            self.advisor.refuse("no lab is up: u brings one up")
        elif not chosen.place:
            self.advisor.refuse(
                f"lab {chosen.lab} has ended: take it down (t), and bring it up again"
            )
        else:
            draft = self.advisor.draft
            draft.destination, draft.way = chosen.place, "ssh"
            self.advisor.go("where")

    def _run(self, words: list[str], doing: str, done: str) -> None:
        if self._doing:
            self.advisor.refuse(f"still {self._doing}: wait for its end")
            return
        self._doing = doing
        self._say(f"… {doing}")
        self._ending = asyncio.create_task(self._run_to_its_end(words, done))

    async def _run_to_its_end(self, words: list[str], done: str) -> None:
        try:
            self._child = await AdvisorChild.start(words)
            async for _ in self._child.events():
                pass
            status, said = await self._child.ended()
            trouble = said.removeprefix("advisor: ") if status else ""
        except OSError as error:
            status, trouble = 1, f"it cannot be started: {error.strerror or error}"
        finally:
            self._doing = ""
            if self._child:
                await asyncio.shield(self._child.close(at_once=True))
                self._child = None
        if self.is_mounted:
            self._say(f"✗ {trouble or 'it failed without a message'}" if status else f"✓ {done}")
            self._look()

    def _say(self, words: str) -> None:
        doing = self.query_one("#doing", Static)
        doing.display = bool(words)
        doing.update(Content(words))
