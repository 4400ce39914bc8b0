"""Lab: a path brought up, advised on and taken down, and what is refused."""

import pytest
from textual.widgets import DataTable

from advisor.lab import catalogue
from advisor.lab.paths import Direction, EmulatedPath
from advisor.runtime.advisor_child import AdvisorChild
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.screens.where import WhereScreen
from advisor.tui.features.lab.rows import LabHost, lab_row, path_rows
from advisor.tui.features.lab.screen import LabScreen
from advisor.tui.kit.dialogs.ask import AskScreen

from .conftest import NewApp
from .driving import row_count, until, words

UP = LabHost("wan", "lab:wan", "✓ up 3 s", EmulatedPath(title="wan"))
ENDED = LabHost("old", "", "✗ ended: without a message", None)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that were run."""
    found: list[list[str]] = []
    start = AdvisorChild.start

    async def started(words: list[str]) -> AdvisorChild:
        found.append(words)
        return await start(words)

    monkeypatch.setattr(AdvisorChild, "start", started)
    return found


def at_lab(app: AdvisorApp) -> LabScreen:
    page = LabScreen()
    app.open(page)
    return page


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.asyncio
async def test_all_named_paths_are_offered(new_app: NewApp, size: tuple[int, int]) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        page = at_lab(app)
        await until(pilot, lambda: row_count(app, "#paths"))
        assert page.query_one("#paths", DataTable).row_count == len(catalogue.names())
        await pilot.press("t", "a")
        await pilot.pause()
        assert app.screen is page
        assert all("no lab is up" in n.message.lower() for n in app._notifications)
        assert len(app._notifications) == 2


@pytest.mark.asyncio
async def test_a_lab_is_brought_up_as_a_command_whose_refusal_is_reported(
    new_app: NewApp, run: list[list[str]]
) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        page = at_lab(app)
        await until(pilot, lambda: row_count(app, "#paths"))
        page._run(["lab", "up", "x", "--path", "nowhere"], "bringing up x", "x is up")
        await until(pilot, lambda: "there is no path 'nowhere'" in words(app, "#doing"))
        assert run == [["lab", "up", "x", "--path", "nowhere"]]


@pytest.mark.asyncio
async def test_taking_down_asks_first(
    new_app: NewApp, run: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LabScreen, "_look", lambda _: None)
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        page = at_lab(app)
        await until(pilot, lambda: row_count(app, "#paths"))
        page._show_labs([UP])
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        await pilot.press("n")
        await until(pilot, lambda: app.screen is page)
        assert run == []
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        await pilot.press("y")
        # It is none that is up here: the command says so.
        await until(pilot, lambda: "no lab 'wan' is up" in words(app, "#doing"))
        assert run == [["lab", "down", "wan"]]


@pytest.mark.asyncio
async def test_advice_on_a_lab_begins_at_where(
    new_app: NewApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LabScreen, "_look", lambda _: None)
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        page = at_lab(app)
        await until(pilot, lambda: row_count(app, "#paths"))
        page._show_labs([ENDED])
        await pilot.press("a")
        await pilot.pause()
        assert app.screen is page
        page._show_labs([UP])
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, WhereScreen))
        assert app.draft.destination == "lab:wan"


def test_rows_have_one_unit_for_each_column() -> None:
    paths = {
        "near": EmulatedPath(forward=Direction(delay_s=0.01), reverse=Direction(delay_s=0.01)),
        "far": EmulatedPath(
            forward=Direction(delay_s=0.05, rate_bps=1e8, loss=1e-4),
            reverse=Direction(delay_s=0.03, rate_bps=1e7),
            title="a path with a long title",
        ),
    }
    rows = {key: [cell.plain for cell in cells] for key, cells in path_rows(paths, 80)}
    assert rows["near"][1] == "20"
    assert rows["near"][3] == "1,000"
    assert rows["far"][1:4] == ["80", "████████", "100 / 10"]
    assert rows["near"][2] == "██░░░░░░"
    _, cells = lab_row("far", LabHost("far", "lab:far", "✓ up 3 s", paths["far"]))
    assert [cell.plain for cell in cells] == ["lab:far", "✓ up 3 s", "80", "100 / 10", "0.01"]


@pytest.mark.asyncio
async def test_without_a_lab_the_screen_says_what_to_do(
    new_app: NewApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LabScreen, "_look", lambda _: None)
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        page = at_lab(app)
        await until(pilot, lambda: row_count(app, "#paths"))
        assert "press u to bring it up" in words(app, "#none-up")
        page._show_labs([ENDED])
        await pilot.pause()
        assert not page.query_one("#none-up").display
        assert row_count(app, "#labs") == 1
