"""The manual: pages of Markdown that link to each other."""

import asyncio
import signal
from pathlib import Path, PurePath
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Footer, MarkdownViewer


class _Pages(MarkdownViewer):
    """Follows links to pages of the manual, and to nothing else."""

    async def go(self, location: str | PurePath) -> None:
        """Open a page, or what a link on the present page leads to."""
        path, anchor = self.document.sanitize_location(str(location))
        target = self.navigator.location.parent / path
        if path == Path() and anchor:
            self.document.goto_anchor(anchor)
        elif target.suffix == ".md" and target.is_file():
            await super().go(location)
        else:
            self.notify(f"{location} is not a page of the manual", markup=False)


class ManualApp(App[None]):
    """The manual, opened at `page`."""

    TITLE = "advisor"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,escape", "quit", "Leave", key_display="q"),
        Binding("ctrl+q", "quit", show=False, priority=True),
        Binding("t", "contents", "Contents"),
        Binding("b,alt+left", "back", "Back"),
    ]

    def __init__(self, page: Path, *, theme: str) -> None:
        super().__init__()
        self.theme = theme
        self._page = page

    def compose(self) -> ComposeResult:
        yield _Pages(show_table_of_contents=False, open_links=False)
        yield Footer()

    def on_mount(self) -> None:
        """Open the page, and leave on a signal with the terminal as it was."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self.exit)
        # The longest pages take seconds.
        self.query_one(_Pages).loading = True
        self.call_after_refresh(self._open)

    async def _open(self) -> None:
        viewer = self.query_one(_Pages)
        await viewer.go(self._page)
        viewer.loading = False
        viewer.document.focus()

    def action_contents(self) -> None:
        """Show or hide the headings of the page."""
        viewer = self.query_one(_Pages)
        viewer.show_table_of_contents = not viewer.show_table_of_contents

    async def action_back(self) -> None:
        """Return to the page before."""
        await self.query_one(_Pages).back()
