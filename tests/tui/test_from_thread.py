"""What a worker's thread has found is drawn, unless there is nothing left to draw it on."""

import threading
from pathlib import Path

import pytest
from textual import work
from textual.app import App
from textual.widgets import Label

import advisor.tui
from advisor.tui.kit.from_thread import draw_from_thread

from .driving import settle


class Finder(Label):
    """Finds something as soon as it may."""

    def __init__(self) -> None:
        super().__init__("")
        self.may_find = threading.Event()
        self.drawn: list[str] = []

    @work(thread=True, exclusive=True)
    def find(self, what: str) -> None:
        self.may_find.wait()
        draw_from_thread(self, self.drawn.append, what)


@pytest.mark.asyncio
async def test_what_was_found_is_drawn() -> None:
    app, finder = App[None](), Finder()
    async with app.run_test() as pilot:
        await app.mount(finder)
        finder.find("it")
        finder.may_find.set()
        await settle(pilot)
    assert finder.drawn == ["it"]


@pytest.mark.asyncio
async def test_nothing_is_drawn_on_what_was_removed() -> None:
    app, finder = App[None](), Finder()
    async with app.run_test() as pilot:
        await app.mount(finder)
        finder.find("it")
        await finder.remove()
        finder.may_find.set()
        await settle(pilot)
        assert app.is_running
    assert finder.drawn == []


@pytest.mark.asyncio
async def test_what_a_newer_worker_finds_is_drawn_alone() -> None:
    app, finder = App[None](), Finder()
    async with app.run_test() as pilot:
        await app.mount(finder)
        finder.find("old")
        finder.find("new")
        finder.may_find.set()
        await settle(pilot)
    assert finder.drawn == ["new"]


def test_no_screen_draws_from_a_thread_in_another_way() -> None:
    folder = Path(advisor.tui.__file__).parent
    using = [f for f in folder.rglob("*.py") if "call_from_thread" in f.read_text()]
    assert [file.relative_to(folder) for file in using] == [Path("kit/from_thread.py")]
