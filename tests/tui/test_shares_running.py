"""Shares under way: the form, the live screen, live orders, stopping."""

import socket
from pathlib import Path

import pytest
from textual.widgets import Input

from advisor.domain.events import GaveUp
from advisor.domain.orders import Ask, Stop
from advisor.store.history import Store
from advisor.testing.gridftp import anonymous_server
from advisor.tui.app import AdvisorApp
from advisor.tui.features.shares import pending_orders
from advisor.tui.features.shares.draft import SharesDraft, save_shares_draft
from advisor.tui.features.shares.screens.form import SharesFormScreen
from advisor.tui.features.shares.screens.shares import SharesScreen
from advisor.tui.features.shares.widgets.share_bar import ShareBar
from advisor.tui.home import HomeScreen
from advisor.tui.kit.dialogs.ask import AskScreen
from tests.plugins.tools.gridftp_lines import require

from . import shared
from .conftest import NewApp
from .driving import until, words
from .shared import RecordedShares, run_in
from .shares_screen import field_of, row_of, shown
from .test_comparison import notices, text_of

SIZES = pytest.mark.parametrize("size", [(80, 24), (200, 60)])


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The words of runs that would have begun."""
    found: list[list[str]] = []
    monkeypatch.setattr(AdvisorApp, "begin_shares", lambda _, words: found.append(words))
    return found


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
@pytest.mark.asyncio
async def test_the_form_asks_which_files_and_begins(
    new_app: NewApp,
    store: Store,
    tmp_path: Path,
    two: None,
    begun: list[list[str]],
    size: tuple[int, int],
) -> None:
    (tmp_path / "a").write_bytes(b"x" * 2048)
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await shown(app, pilot)
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, SharesFormScreen))
        assert "kraken share 1, mason share 1" in text_of(app)
        assert app.screen.query_one("#field-epoch Input", Input).placeholder == "default: 90s"
        await pilot.press("ctrl+n")
        assert "type the path of a folder" in notices(app)
        for name, text in (("data", str(tmp_path / "a")), ("to", "/scratch/%h"), ("epoch", "5s")):
            app.screen.query_one(f"#field-{name} Input", Input).value = text
        await until(pilot, lambda: "✓ 1 files, 2 KiB" in words(app, "#field-data .note"))
        app.screen.query_one("#restart").focus()
        await pilot.press("space", "ctrl+n")
        await until(pilot, lambda: isinstance(app.screen, SharesScreen))
        run = ["share", "plan", "--run", "--json", "--orders", "--store", store.argument]
        request = ["--data", str(tmp_path / "a"), "--to=/scratch/%h", "--epoch=5s", "--restart"]
        assert begun == [[*run, *request, "--", "kraken=1", "mason=1"]]
        # The next time it resumes from there.
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, SharesFormScreen))
        await pilot.press("ctrl+n")
        await until(pilot, lambda: len(begun) == 2)
        assert "--restart" not in begun[1]


@pytest.mark.asyncio
async def test_files_that_are_moved_are_not_moved_twice_at_once(
    new_app: NewApp, five: None
) -> None:
    app = new_app()
    run_in(app, RecordedShares(shared.under_way()))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        await pilot.press("r", "space")
        assert "It is running: x stops it" in notices(app)
        assert "the destinations can be changed after that" in notices(app)
        assert app.why_no_session().startswith("files are being moved")


@SIZES
@pytest.mark.asyncio
async def test_it_is_shown_live(new_app: NewApp, five: None, size: tuple[int, int]) -> None:
    app = new_app()
    run = run_in(app, RecordedShares([]))
    async with app.run_test(size=size) as pilot:
        await shown(app, pilot)
        await until(pilot, lambda: "connecting to the destinations" in text_of(app))
        for event in shared.under_way():
            run.model.apply(event)
        await until(pilot, lambda: "epoch 3, 12 s of 30 s" in text_of(app))
        text = text_of(app)
        assert "█" in text
        assert "kraken 7 files instead of 5" in text
        assert "yellowstone: all 40 files are there" in text
        assert "yellowstone ✓" in text
        assert "7 files" in text
        assert "got 568 Mbit/s" in text
        assert words(app, "#command") == "" or not app.screen.query_one("#command").display
        run.model.apply(shared.ended())
        run.is_running = False
        await until(pilot, lambda: "All is there at 5 of 5 destinations." in text_of(app))
        # Drawing continues after the end: the next transfer can be started.
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, SharesFormScreen))


@pytest.mark.asyncio
async def test_what_is_changed_while_it_runs_is_ordered(
    new_app: NewApp, five: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Keys that follow each other are that near also on a busy machine.
    monkeypatch.setattr(pending_orders, "_AFTER_LAST_KEY_S", 4.0)
    app = new_app()
    run = run_in(app, RecordedShares(shared.under_way()))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        # Of keys that follow each other the last one counts.
        await pilot.press("right", "right", "right")
        await until(pilot, lambda: run.orders)
        assert run.orders == [Ask(destination="blacklight", asked="1.3")]
        await until(pilot, lambda: "1.3 is asked from epoch 4 on" in text_of(app))
        run.model.apply(shared.seen(3, {}))
        await until(pilot, lambda: "is asked from" not in text_of(app))
        # Of text only what is left standing: on the way there it is another rate each time.
        await pilot.press("down", *"40Mbit")
        await pilot.pause(1.0)
        assert len(run.orders) == 1
        await pilot.press("enter")
        await until(pilot, lambda: len(run.orders) == 2)
        assert run.orders[1] == Ask(destination="gordon", asked="40Mbit")
        # Of the mouse where it is let go.
        bar = row_of(app, "kraken").query_one(ShareBar)
        await pilot.mouse_down(bar, offset=(20, 0))
        await pilot.hover(bar, offset=(10, 0))
        await pilot.pause(1.0)
        assert len(run.orders) == 2
        await pilot.mouse_up(bar, offset=(10, 0))
        await until(pilot, lambda: len(run.orders) == 3)
        assert run.orders[2] == Ask(destination="kraken", asked=field_of(app, "kraken"))


@pytest.mark.asyncio
async def test_nothing_wrong_and_nothing_late_is_ordered(new_app: NewApp, five: None) -> None:
    app = new_app()
    run = run_in(app, RecordedShares(shared.under_way()))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        await pilot.press(*"4mm", "enter")
        await until(pilot, lambda: "Blacklight: write a share" in notices(app))
        # Its files are all there.
        await pilot.press("up", "right")
        assert app.focused is row_of(app, "yellowstone")
        await pilot.pause(1.2)
        assert run.orders == []


@pytest.mark.asyncio
async def test_stopping_asks_once(new_app: NewApp, five: None) -> None:
    app = new_app()
    run = run_in(app, RecordedShares(shared.under_way()))
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, SharesScreen))
        assert run.orders == []
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        await pilot.press("y")
        await until(pilot, lambda: run.orders == [Stop()])
        assert isinstance(app.screen, SharesScreen)
        run.model.apply(shared.ended(complete=False))
        run.is_running = False
        await until(pilot, lambda: "r moves the rest" in text_of(app))
        await pilot.press("x")
        assert "No files are being moved: r starts a transfer" in notices(app)
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, SharesFormScreen))


@pytest.mark.asyncio
async def test_leaving_the_screen_leaves_it_running_and_home_leads_back(
    new_app: NewApp, five: None
) -> None:
    app = new_app()
    run = run_in(app, RecordedShares(shared.under_way()))
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await until(pilot, lambda: "moved to blacklight, gordon" in text_of(app))
        assert "10 min 20 s left" in text_of(app)
        assert not run.orders
        for key in ("enter", "f", "m", "p"):
            await pilot.press(key)
            await until(pilot, lambda: isinstance(app.screen, SharesScreen))
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        await pilot.press("y")
    assert run.is_closed


@pytest.mark.asyncio
async def test_what_cannot_begin_says_why(new_app: NewApp, two: None) -> None:
    app = new_app()
    run_in(
        app, RecordedShares([GaveUp(at_s=0, message="no [host]", exit_code=3)], is_running=False)
    )
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot)
        await until(pilot, lambda: "No [host]." in text_of(app))
        assert "r tries again" in text_of(app)
        app.begin_shares(["share", "plan", "--no-such-option"])
        await until(pilot, lambda: "o such option" in text_of(app))
        assert app.shares
        assert app.shares.model.gave_up
        assert app.shares.model.gave_up.exit_code == 2


@pytest.mark.asyncio
async def test_real_files_are_moved_from_the_form_to_the_end(
    new_app: NewApp, store: Store, tmp_path: Path
) -> None:
    require("globus-gridftp-server", "globus-url-copy")
    assert socket.gethostname()
    data = tmp_path / "run [7]"
    data.mkdir()
    for number in range(3):
        (data / f"{number}.dat").write_bytes(bytes([number]) * 3_000_000)
    shared.learn(store, {"localhost": "kraken"})
    async with anonymous_server(own_account=True) as server:
        config = tmp_path / "config" / "advisor"
        config.mkdir(parents=True)
        (config / "config.toml").write_text(f'[hosts.localhost]\nserver = "{server.url}"\n')
        to = str(server.folder / "to-%h")
        save_shares_draft(SharesDraft(asked={"localhost": "@2"}, data=str(data), to=to, epoch="1s"))
        app = new_app()
        async with app.run_test(size=(120, 40)) as pilot:
            await shown(app, pilot)
            await pilot.press("r")
            await until(pilot, lambda: isinstance(app.screen, SharesFormScreen))
            await pilot.press("ctrl+n")
            await until(pilot, lambda: app.shares and not app.shares.is_running)
            await until(
                pilot, lambda: "Everything has arrived at 1 of 1 destinations" in text_of(app)
            )
            assert app.shares
            assert app.shares.model.destinations["localhost"].ended
        arrived = list((server.folder / "to-localhost").rglob("*.dat"))
        assert sorted(path.read_bytes() for path in arrived) == sorted(
            path.read_bytes() for path in data.iterdir()
        )
