"""The screen of shares: planning by keys, text and mouse."""

from collections.abc import Sequence

import pytest
from textual.pilot import Pilot

from advisor.domain.shares import Asked
from advisor.store.history import Store
from advisor.tui.features.shares.adjusting import typed
from advisor.tui.features.shares.draft import SharesDraft, load_shares_draft, save_shares_draft
from advisor.tui.features.shares.screens.shares import SharesScreen
from advisor.tui.features.shares.widgets.share_bar import ShareBar
from advisor.tui.features.shares.widgets.share_row import ShareRow
from advisor.tui.home import HomeScreen

from . import shared
from .conftest import NewApp
from .driving import settle, until, words
from .shared import RecordedShares, run_in
from .shares_screen import TWO, field_of, know, planned, row_of, screen_of, shown
from .test_comparison import notices, text_of

SIZES = pytest.mark.parametrize("size", [(80, 24), (200, 60)])


@pytest.mark.asyncio
async def test_what_was_learned_is_planned_and_a_share_changes_it(
    new_app: NewApp, store: Store
) -> None:
    shared.learn(store, {name: name for name in TWO})
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, SharesScreen))
        screen = screen_of(app)
        await until(pilot, lambda: planned(screen))
        await until(pilot, lambda: isinstance(app.focused, ShareRow))
        before = planned(screen)
        assert before.keys() == set(TWO)
        await pilot.press(*"0.2", "enter")
        await until(pilot, lambda: planned(screen) != before)
        assert planned(screen)["kraken"] < before["kraken"]
        assert "plan kraken=0.2 mason=1" in words(app, "#command")
        assert "measurements, off by" in text_of(app)
        learned = screen.board.learned
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        assert load_shares_draft().asked == {"kraken": "0.2", "mason": "1"}
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, SharesScreen))
        await settle(pilot)
        # Nothing new was learned: nothing was fitted again.
        assert screen_of(app).board.learned is learned


@SIZES
@pytest.mark.asyncio
async def test_without_anything_learned_it_says_what_to_run(
    new_app: NewApp, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.go("shares")
        await until(pilot, lambda: "Nothing is known yet" in text_of(app))
        assert "advisor share train HOST1 HOST2 --to FOLDER" in words(app, "#command")
        await pilot.press("c")
        assert "Copied" in notices(app)
        await pilot.press("r", "space", "x")
        assert "Nothing was learned yet: run the command above" in notices(app)
        assert isinstance(app.screen, SharesScreen)


@pytest.mark.asyncio
async def test_one_that_was_measured_too_seldom_cannot_take_part(
    new_app: NewApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    know(monkeypatch, ["gordon"])
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await shown(app, pilot)
        await until(pilot, lambda: "too few measurements" in text_of(app))
        await pilot.press("up", "space", "right")
        assert app.focused is row_of(app, "gordon")
        assert "Too few measurements of gordon" in notices(app)
        assert "Gordon is left out" in notices(app)
        assert planned(screen).keys() == set(TWO)


@SIZES
@pytest.mark.parametrize("is_running", [False, True])
@pytest.mark.asyncio
async def test_five_destinations_are_seen_whole(
    new_app: NewApp, five: None, is_running: bool, size: tuple[int, int]
) -> None:
    app = new_app()
    if is_running:
        run_in(app, RecordedShares(shared.under_way()))
    async with app.run_test(size=size) as pilot:
        await shown(app, pilot)
        await until(pilot, lambda: "Gbit/s" in words(app, "#axis"))
        text = text_of(app)
        rows = list(app.screen.query(ShareRow))
        assert len(rows) == 5
        for row in rows:
            assert row.region.height == 2
            assert app.screen.query_one("#rows").region.contains_region(row.region)
            assert row.destination in text
        for word in ("asked", "expected", "measured"):
            assert word in text
        assert ("Events" if is_running else "advisor share plan") in text


@pytest.mark.asyncio
async def test_more_destinations_than_fit_are_scrolled_to(
    new_app: NewApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared.know_by_name(monkeypatch, [f"dtn{number:02}" for number in range(12)])
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        await until(pilot, lambda: "dtn00" in text_of(app))
        assert "[x] dtn11" not in text_of(app)
        await pilot.press("up")
        await until(pilot, lambda: "[x] dtn11" in text_of(app))
        assert app.focused is row_of(app, "dtn11")


@pytest.mark.asyncio
async def test_keys_change_what_is_asked(new_app: NewApp, two: None) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await shown(app, pilot)
        before = planned(screen)
        await pilot.press("right", "right", "left", "shift+right", "shift+right")
        await until(pilot, lambda: field_of(app, "kraken") == "2.1")
        await until(pilot, lambda: planned(screen) != before)
        await pilot.press("down", "shift+left")
        await until(pilot, lambda: field_of(app, "mason") == "0.95")
        assert field_of(app, "kraken") == "2.1"
        await pilot.press("k")
        assert app.focused is row_of(app, "kraken")


@pytest.mark.asyncio
async def test_one_is_left_out_and_taken_in_again(new_app: NewApp, two: None) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await shown(app, pilot)
        await pilot.press("space")
        await until(pilot, lambda: "[ ] kraken" in text_of(app))
        # What is left is a share of nothing.
        await until(pilot, lambda: "alone gets all there is" in text_of(app))
        await pilot.press("r")
        assert "alone gets all there is" in notices(app)
        assert isinstance(app.screen, SharesScreen)
        await pilot.press("down", "space")
        await until(pilot, lambda: "space includes one" in text_of(app))
        await pilot.press("c")
        assert "space includes one" in notices(app)
        await pilot.press("space", "up", "space")
        await until(pilot, lambda: planned(screen).keys() == set(TWO) and not screen.board.trouble)
        await until(pilot, lambda: "plan kraken=1 mason=1" in words(app, "#command"))


@pytest.mark.asyncio
async def test_what_is_typed_counts_and_escape_takes_it_back(new_app: NewApp, two: None) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await shown(app, pilot)
        await pilot.press("enter", *"40Mbit")
        await until(pilot, lambda: planned(screen) and screen.board.plan.rows[0].asked.rate_bps)  # type: ignore[union-attr]  # there is a plan
        assert "400 Mbit" not in text_of(app)
        assert "asked 40 Mbit/s" in text_of(app)
        await pilot.press("q", "q")
        await until(
            pilot, lambda: "kraken: write a share as in 4" in text_of(app).replace("K", "k")
        )
        await pilot.press("escape")
        await until(pilot, lambda: field_of(app, "kraken") == "1")
        assert isinstance(app.screen, SharesScreen)
        assert app.focused is row_of(app, "kraken")
        await until(pilot, lambda: "plan kraken=1 mason=1" in words(app, "#command"))
        await pilot.press("@", "2", "enter")
        await until(pilot, lambda: planned(screen)["kraken"] == 2)
        assert "held at 2" in text_of(app)


@pytest.mark.asyncio
async def test_a_wrong_text_is_not_run(new_app: NewApp, two: None) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        await pilot.press("4", "m", "m", "enter", "r")
        assert "Kraken: write a share as in 4" in notices(app)
        assert isinstance(app.screen, SharesScreen)


async def drag(pilot: Pilot[int], bar: ShareBar, columns: Sequence[int]) -> None:
    """With the button down over these columns, and up at the last."""
    await pilot.mouse_down(bar, offset=(columns[0], 0))
    for column in columns[1:]:
        await pilot.hover(bar, offset=(column, 0))
    await pilot.mouse_up(bar, offset=(columns[-1], 0))


@pytest.mark.asyncio
async def test_the_mark_is_dragged(new_app: NewApp, two: None) -> None:
    save_shares_draft(SharesDraft(asked={"kraken": "400Mbit", "mason": "1"}))
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await shown(app, pilot)
        bar = row_of(app, "kraken").query_one(ShareBar)
        # A click that does not move chooses the row, and no more.
        await pilot.click(bar, offset=(20, 0))
        assert field_of(app, "kraken") == "400Mbit"
        top_bps = screen.board.top_bps(screen.board.rows(None, is_running=False))
        await drag(pilot, bar, [10, 14, 20])
        await pilot.pause()
        rate_bps = 20 / (bar.size.width - 2) * top_bps
        assert field_of(app, "kraken") == typed(Asked(rate_bps=float(f"{rate_bps:.2g}")))
        assert app.focused is row_of(app, "kraken")
        # Once it is left nothing more is dragged.
        before = field_of(app, "kraken")
        await pilot.hover(bar, offset=(5, 0))
        assert field_of(app, "kraken") == before
        share = row_of(app, "mason").query_one(ShareBar)
        await drag(pilot, share, [10, 6])
        # The only share is all that shares get, whatever it is.
        assert field_of(app, "mason") == "1"


@pytest.mark.asyncio
async def test_a_share_is_dragged_beside_the_others(new_app: NewApp, two: None) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await shown(app, pilot)
        before = planned(screen)
        bar = row_of(app, "kraken").query_one(ShareBar)
        await drag(pilot, bar, [20, 8, 4])
        await pilot.pause()
        assert float(field_of(app, "kraken")) < 0.5
        await until(pilot, lambda: planned(screen)["kraken"] < before["kraken"])


@pytest.mark.asyncio
async def test_the_keys_are_in_the_help(new_app: NewApp, two: None) -> None:
    app = new_app()
    async with app.run_test(size=(120, 50)) as pilot:
        await shown(app, pilot)
        await pilot.press("f1")
        text = words(app, "#help > Static")
        for word in ("Ask for much less", "In or out", "Copy the command", "Run", "Stop", "x1.5"):
            assert word in text
