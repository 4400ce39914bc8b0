"""Path and hosts: watched while it is shown, and no longer."""

import contextlib

import psutil
import pytest
from textual.widgets import DataTable

from advisor.domain.connection import Connection, UsableConnection
from advisor.domain.events import ConnectionsFound
from advisor.testing.samples import a_host, a_path
from advisor.tui.features.advising.draft import Draft, PathSeen
from advisor.tui.features.advising.screens.history import HistoryScreen
from advisor.tui.features.advising.screens.path import PathScreen
from advisor.tui.features.advising.widgets.watched_path import WatchedPath
from advisor.tui.kit.copying.copyable import Copyable
from advisor.tui.kit.panels.field_group import FieldGroup
from advisor.tui.kit.tables.row_table import RowTable

from .conftest import NewApp
from .driving import row_count, until, words


def watching() -> list[psutil.Process]:
    """Children of this process that watch a path."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if "--watch" in child.cmdline():
                found.append(child)
    return found


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
@pytest.mark.asyncio
async def test_it_is_watched_while_it_is_shown(new_app: NewApp, size: tuple[int, int]) -> None:
    app = new_app(Draft(destination="localhost"))
    async with app.run_test(size=size) as pilot:
        app.go("path")
        await until(pilot, lambda: isinstance(app.screen, PathScreen) and watching())
        screen = app.screen
        assert isinstance(screen, PathScreen)
        await until(pilot, lambda: screen._look and len(screen._look.model.rtts) >= 2)
        await until(pilot, lambda: row_count(app, "#findings"))
        await until(pilot, lambda: "median" in str(screen.query_one(WatchedPath).render()))
        await pilot.press("f1")
        await pilot.pause()
        assert watching()
        await pilot.press("escape", "ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, HistoryScreen))
        await until(pilot, lambda: not watching())
        await pilot.press("escape")
        await until(pilot, watching)
    assert not watching()


def _seen_to_be_slow() -> Draft:
    """A path with small buffers that was seen to a lab which is not there."""
    draft = Draft(destination="lab:nowhere")
    slow = a_path(rtt_s=0.0936, source=a_host(send_max_bytes=4 * 2**20))
    draft.seen = PathSeen(reach=draft.reach_arguments(), path=slow)
    return draft


@pytest.mark.asyncio
async def test_what_limits_has_its_cost_and_its_remedy(new_app: NewApp) -> None:
    draft = _seen_to_be_slow()
    app = new_app(draft)
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("path")
        await until(pilot, lambda: row_count(app, "#findings"))
        table = app.screen.query_one(DataTable)
        row = next(
            number
            for number in range(table.row_count)
            if str(table.get_row_at(number)[1]) == "net.core.wmem_max"
        )
        assert str(table.get_row_at(row)[0]) == "✗ bad"
        # What is bad comes first, and what it costs is shown at once.
        assert str(table.get_row_at(0)[0]) == "✗ bad"
        severities = [str(table.get_row_at(n)[0])[0] for n in range(table.row_count)]
        assert severities == sorted(severities, key="✗!?✓".index)
        findings, detail = app.screen.query_one("#findings", RowTable), "#detail"
        assert app.screen.query_one(detail, FieldGroup).title == str(table.get_row_at(0)[1])
        await pilot.press(*["j"] * row)
        assert str(findings.border_title).endswith(f"{severities.count('✗')} bad")
        await until(pilot, lambda: "about 358 Mbit/s" in words(app, "#cost"))
        line = app.screen.query_one("#remedy-0", Copyable)
        assert line.line == "sysctl -w net.core.wmem_max=67108864"
        await pilot.press("c")
        assert app.clipboard == line.line
        await until(pilot, lambda: "no lab 'nowhere' is up" in words(app, "#trouble"))


@pytest.mark.asyncio
async def test_nothing_of_an_earlier_destination_stays(new_app: NewApp) -> None:
    draft = _seen_to_be_slow()
    app = new_app(draft)
    async with app.run_test(size=(120, 50)) as pilot:
        app.go("path")
        await until(pilot, lambda: row_count(app, "#findings"))
        screen = app.screen
        assert isinstance(screen, PathScreen)
        line = screen.query_one("#remedy-0", Copyable)
        await until(pilot, lambda: line.line and screen.query_one("#detail").display)
        assert screen._look is not None
        screen._look.model.apply(connections_found("eth1", "eth2"))
        await until(pilot, lambda: "eth2" in words(app, "#connections"))
        assert "Round trip" in words(app, "#rtt")
        draft.destination = "lab:elsewhere"
        await pilot.press("f4")
        await until(pilot, lambda: not row_count(app, "#findings"))
        await until(pilot, lambda: "elsewhere" in words(app, "#trouble"))
        assert words(app, "#connections") == words(app, "#rtt") == line.line == ""
        assert not screen.query_one("#detail").display
        assert "bad" not in str(screen.query_one("#findings", RowTable).border_title)
        await pilot.press("c")
        assert app.clipboard == ""


@pytest.mark.asyncio
async def test_without_a_destination_it_says_where_to_give_one(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("path")
        await until(pilot, lambda: "go back to Where" in words(app, "#trouble"))
        await pilot.press("ctrl+n")
        await pilot.pause()
        assert isinstance(app.screen, PathScreen)


@pytest.mark.asyncio
async def test_several_connections_are_listed(new_app: NewApp) -> None:
    app = new_app(Draft(destination="localhost"))
    async with app.run_test(size=(120, 50)) as pilot:
        app.go("path")
        await until(pilot, lambda: isinstance(app.screen, PathScreen))
        screen = app.screen
        assert isinstance(screen, PathScreen)
        await until(pilot, lambda: screen._look and screen._look.model.path)
        assert screen._look is not None
        assert words(app, "#connections") == ""
        screen._look.model.apply(connections_found("eth1", "eth2"))
        await until(pilot, lambda: "eth2 10.0.0.1 -> eth2 10.0.0.2" in words(app, "#connections"))
        assert "10 Gbit/s link, MTU 9000, RTT 45 ms" in words(app, "#connections")


def connections_found(*names: str) -> ConnectionsFound:
    def usable(name: str) -> UsableConnection:
        connection = Connection(
            source_address="10.0.0.1",
            destination_address="10.0.0.2",
            source_interface=name,
            destination_interface=name,
            link_bps=10e9,
        )
        return UsableConnection(connection=connection, mtu_bytes=9000, rtt_s=0.045)

    return ConnectionsFound(at_s=1.0, connections=[usable(name) for name in names])
