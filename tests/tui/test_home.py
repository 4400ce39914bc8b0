"""Home: what is known, and every way from here."""

import asyncio
import time

import msgspec
import pytest
from textual.widgets import DataTable

from advisor.domain.endpoints import Endpoint
from advisor.domain.records import SessionRecord
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.testing.samples import a_path
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.draft import Draft
from advisor.tui.features.advising.screens.where import WhereScreen
from advisor.tui.features.lab.screen import LabScreen
from advisor.tui.home import HomeScreen

from .conftest import NewApp
from .driving import until, words
from .stored import keep_probes

BEGIN = ["advise", "--json", "--orders"]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)])


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The words of sessions that would have begun."""
    found: list[list[str]] = []
    monkeypatch.setattr(AdvisorApp, "begin_session", lambda _, words: found.append(words))
    return found


@SIZES
@pytest.mark.asyncio
async def test_without_a_history_it_says_what_to_do(
    new_app: NewApp, store: Store, size: tuple[int, int], begun: list[list[str]]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: "To try it here takes about a minute" in words(app, "#pair"))
        await pilot.press("d")
        directory = store.argument
        assert begun == [
            [*BEGIN, "--measure", "--store", directory, "--", "localhost"],
        ]
        await pilot.click("#start", offset=(4, 1))
        await until(pilot, lambda: isinstance(app.screen, WhereScreen))
        await pilot.press("escape", "l")
        await until(pilot, lambda: isinstance(app.screen, LabScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, HomeScreen)


@SIZES
@pytest.mark.asyncio
async def test_a_known_pair_is_the_way_to_new_advice(
    new_app: NewApp, store: Store, size: tuple[int, int]
) -> None:
    keep_probes(store, "dtn03", [5e8])
    keep_probes(store, "dtn02", [1e9, 2e9, 4e9])
    app = new_app(Draft(destination="elsewhere", bandwidth="10G"))
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: [t.row_count for t in app.screen.query(DataTable)] == [2])
        table = app.screen.query_one(DataTable)
        rows = [[str(cell) for cell in table.get_row_at(number)] for number in range(2)]
        row = next(row for row in rows if "dtn02" in row[0])
        assert str(table.ordered_columns[1].label) == "Gbit/s"
        assert row[1] == "2.33"  # (1 + 2 + 4) ÷ 3
        assert row[3].startswith("TCP")
        assert row[5] == "▃▅█"  # 1, 2 and 4 of 4, from zero up
        await pilot.press("down", "up", "enter")
        await until(pilot, lambda: isinstance(app.screen, WhereScreen))
        assert app.draft.destination in ("dtn02", "dtn03")
        assert app.draft.bandwidth == "10G"


@pytest.mark.asyncio
async def test_there_may_be_nothing_to_resume(new_app: NewApp, begun: list[list[str]]) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "try it here" in words(app, "#pair"))
        assert "Resume" not in words(app, "#start")
        await pilot.press("r")
        await pilot.pause()
        assert begun == []
        assert any("no session was interrupted" in n.message.lower() for n in app._notifications)


@pytest.mark.asyncio
async def test_an_interrupted_session_is_named_and_resumed(
    new_app: NewApp, store: Store, begun: list[list[str]]
) -> None:
    pair = keep_probes(store, "dtn02", [1e9])
    store.append(
        SessionRecord(
            session="20260101T000000Z-bbbbbb",
            pair=pair,
            recorded_s=time.time() - 120,
            request=msgspec.to_builtins(AdviceRequest(destination=Endpoint("dtn02"))),
            path=a_path(),
        )
    )
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "begun 2 min" in words(app, "#interrupted"))
        assert f"{pair}, begun 2 min" in words(app, "#interrupted")
        assert app.screen.query_one("#interrupted").display
        assert "Resume session" in words(app, "#start")
        await pilot.press("r")
        named = ["--session", "20260101T000000Z-bbbbbb"]
        assert begun == [["resume", *named, "--json", "--orders", "--store", store.argument]]


@pytest.mark.asyncio
async def test_a_session_that_runs_is_shown_and_gone_to(
    new_app: NewApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "try it here" in words(app, "#pair"))
        await pilot.press("d")
        await until(pilot, lambda: app.session and app.session.is_running)
        await pilot.press("ctrl+g")
        await until(pilot, lambda: "A session is running" in words(app, "#under-way"))
        assert app.screen.query_one("#under-way").display
        await pilot.press("d")
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, HomeScreen))
        assert app.session
        await app.session.close()
        await asyncio.sleep(0)
