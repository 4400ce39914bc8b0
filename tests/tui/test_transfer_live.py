"""Files being moved, live: what is said of them, stopping, resuming, leaving; and past ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from advisor.domain.events import AnyEvent, GaveUp
from advisor.domain.orders import Stop
from advisor.domain.records import TransferRecord
from advisor.store.history import Store
from advisor.testing.gridftp import anonymous_server
from advisor.tui.app import AdvisorApp
from advisor.tui.features.history.screens.review import ReviewScreen
from advisor.tui.features.history.screens.session import SessionScreen
from advisor.tui.features.transfer.draft import TransferDraft
from advisor.tui.features.transfer.live_transfer import LiveTransfer
from advisor.tui.features.transfer.screens.form import TransferFormScreen
from advisor.tui.features.transfer.screens.live import TransferLiveScreen
from advisor.tui.features.transfer.screens.past import PastTransferScreen
from advisor.tui.features.transfer.texts import progress_lines, transfer_end_lines, tuning_lines
from advisor.tui.features.transfer.transfer_model import TransferModel
from advisor.tui.features.transfer.widgets.transfer_log import TransferLog, transfer_log_lines
from advisor.tui.home import HomeScreen
from advisor.tui.kit.charts.chart import Chart
from advisor.tui.kit.dialogs.ask import AskScreen
from tests.plugins.tools.gridftp_lines import require

from . import tuned
from .conftest import NewApp
from .driving import until, words
from .test_advice import settle
from .test_comparison import text_of, told
from .test_transfer_model import epoch, gave
from .told_runs import ToldRun

SIZES = pytest.mark.parametrize("size", [(80, 24), (200, 60)])


class Told(ToldRun[TransferModel]):
    """A transfer."""

    def __init__(self, events: Sequence[AnyEvent], *, is_running: bool = True) -> None:
        super().__init__(TransferModel(events), is_running=is_running)
        self.arguments = ["transfer", "--no-such-option", "--restart"]


def moved_in(app: AdvisorApp, transfer: Told) -> Told:
    app.transfer = cast(LiveTransfer, transfer)
    return transfer


def panels(app: AdvisorApp) -> list[str]:
    """Those of which something is seen."""
    found = [*app.screen.query(Chart), *app.screen.query(TransferLog)]
    return [str(panel.id) for panel in found if panel.region.area]


def test_progress_in_words() -> None:
    model = TransferModel([tuned.started(), tuned.moving(9.0, 30 * 10**9, 1e9)])
    assert progress_lines(model, 10) == [
        "█████░░░░░  50%, 27.9 GiB of 55.9 GiB there, 20 of 40 files",
        "Now 1 Gbit/s, 4 min left (90 %: 3 min 36 s to 4 min 48 s)",
    ]
    model.apply(tuned.moving(10.0, 6 * 10**9, 0.0, phase="verify", left_s=None))
    assert progress_lines(model, 10) == [
        "█░░░░░░░░░  10%, 5.59 GiB of 55.9 GiB verified",
        "Now 0 bit/s",
    ]
    model.apply(tuned.ended())
    assert progress_lines(model, 10) == [
        "██████████ 100%, 55.9 GiB of 55.9 GiB there, 40 of 40 files"
    ]


def test_the_setting_and_why_in_words() -> None:
    model = TransferModel(tuned.under_way(40))
    assert tuning_lines(model) == [
        "3 files at a time × 8 streams each = 24 in all; epoch 2, 10 s of 30 s",
        "Why: reflected: away from the worst of three",
    ]
    assert tuning_lines(TransferModel([tuned.started()])) == [
        "2 files at a time × 8 streams each = 16 in all; epoch 1, 0 s of 30 s"
    ]


def test_the_end_in_words() -> None:
    lines = transfer_end_lines(TransferModel([*tuned.under_way(9), tuned.ended(advised=True)]))
    assert lines[0].startswith("All 40 files are there")
    assert "within the interval of the advice" in lines[1]
    model = TransferModel([*tuned.under_way(9), tuned.ended(complete=False)])
    assert transfer_end_lines(model) == [
        "38 of 40 files are there whole, 2 could not be moved.",
        "Press g to resume.",
        "✗ run [7]/a.dat: no access",
        "✗ run [7]/b.dat: it changed",
    ]
    assert list(transfer_log_lines(model))[-1].endswith("missing  run [7]/b.dat: it changed")


@SIZES
@pytest.mark.asyncio
async def test_it_shows_charts_and_log_as_there_is_room(
    new_app: NewApp, size: tuple[int, int]
) -> None:
    app = new_app()
    moved_in(app, Told(tuned.under_way()))
    async with app.run_test(size=size) as pilot:
        app.go("moving")
        await until(pilot, lambda: "dtn1 → dtn[2]" in text_of(app))
        await until(pilot, lambda: "mean of each epoch" in text_of(app))
        text = text_of(app)
        assert "8 files at a time × 8 streams each = 64 in all" in text
        assert "load: 16 other" in text
        everything = ["throughput", "setting", "log"]
        at_once = everything[:1] if size == (80, 24) else everything
        await until(pilot, lambda: panels(app) == at_once)
        for key, name in zip("123n", [*everything, "throughput"], strict=True):
            await pilot.press(key)
            await until(pilot, lambda name=name: panels(app) == [name])
        await pilot.press("0")
        await until(pilot, lambda: panels(app) == at_once)


@pytest.mark.asyncio
async def test_what_comes_later_is_drawn_later(new_app: NewApp) -> None:
    app = new_app()
    transfer = moved_in(app, Told([]))
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("moving")
        await until(pilot, lambda: "counting the files" in text_of(app))
        for event in tuned.under_way(100):
            transfer.model.apply(event)
        await until(pilot, lambda: "epoch 4, 10 s of 30 s" in text_of(app))
        await until(pilot, lambda: "epoch 2: 3 × 8 gave" in text_of(app))


@pytest.mark.asyncio
async def test_stopping_asks_first(new_app: NewApp) -> None:
    app = new_app()
    transfer = moved_in(app, Told(tuned.under_way(20)))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("moving")
        await pilot.pause()
        await pilot.press("g")
        assert "It is running" in told(app)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, TransferLiveScreen))
        assert transfer.orders == []
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        await pilot.press("y")
        await until(pilot, lambda: transfer.orders == [Stop()])


@pytest.mark.asyncio
async def test_what_broke_off_is_gone_on_with(new_app: NewApp) -> None:
    app = new_app()
    over = Told([*tuned.under_way(20), tuned.ended(complete=False)], is_running=False)
    moved_in(app, over)
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("moving")
        await until(pilot, lambda: "2 could not be moved" in text_of(app))
        await pilot.press("x")
        assert "over: nothing is being moved" in told(app)
        await pilot.press("g")
        # The same words again, which this time no command knows: it says so.
        await until(pilot, lambda: "o such option" in text_of(app))
        assert app.transfer is not cast(LiveTransfer, over)
        assert app.transfer
        assert app.transfer.arguments == ["transfer", "--no-such-option"]
        assert app.transfer.model.gave_up
        assert app.transfer.model.gave_up.exit_code == 2


@pytest.mark.asyncio
async def test_a_complete_one_is_not_gone_on_with(new_app: NewApp) -> None:
    app = new_app()
    moved_in(app, Told([*tuned.under_way(20), tuned.ended()], is_running=False))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("moving")
        await until(pilot, lambda: "All 40 files are there" in text_of(app))
        await pilot.press("g")
        assert "All files arrived" in told(app)


@pytest.mark.asyncio
async def test_without_a_transfer_it_says_how_to_begin(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("moving")
        await until(pilot, lambda: "No files are being moved" in text_of(app))
        await pilot.press("x", "g")
        assert told(app).count("m at home starts") == 2


@pytest.mark.asyncio
async def test_leaving_the_screen_leaves_it_running_and_home_leads_back(new_app: NewApp) -> None:
    app = new_app()
    transfer = moved_in(app, Told(tuned.under_way(20)))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("moving")
        await pilot.pause()
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await until(pilot, lambda: "Files are being moved: dtn1->dtn[2]" in text_of(app))
        assert "The transfer continues" in told(app)
        assert not transfer.orders
        await pilot.press("n", "escape", "r")
        assert "Files are being moved, which would disturb it" in told(app)
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        for key in ("enter", "f", "m"):
            await pilot.press(key)
            await until(pilot, lambda: isinstance(app.screen, TransferLiveScreen))
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, HomeScreen))


@pytest.mark.asyncio
async def test_leaving_the_program_asks_while_files_are_moved(new_app: NewApp) -> None:
    app = new_app()
    transfer = moved_in(app, Told(tuned.under_way(20)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        await pilot.press("ctrl+q")
        assert app.is_running
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
        assert not transfer.is_closed
        assert app.return_code is None
        await pilot.press("y")
    assert transfer.is_closed
    assert app.return_code == 0


@pytest.mark.asyncio
async def test_what_cannot_begin_says_why(new_app: NewApp) -> None:
    app = new_app()
    moved_in(app, Told([GaveUp(at_s=0, message="no [host]", exit_code=3)], is_running=False))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("moving")
        await until(pilot, lambda: "No [host]." in text_of(app))
        assert "g tries again" in text_of(app)


@pytest.mark.asyncio
async def test_real_files_are_moved_from_the_form_to_the_review(
    new_app: NewApp, store: Store, tmp_path: Path
) -> None:
    require("globus-gridftp-server", "globus-url-copy")
    data = tmp_path / "run [7]"
    data.mkdir()
    for number in range(3):
        (data / f"{number}.dat").write_bytes(bytes([number]) * 3_000_000)
    async with anonymous_server(own_account=True) as server:
        move = TransferDraft(
            data=str(data),
            destination="localhost",
            to=str(server.folder / "arrived"),
            server=server.url,
            bandwidth="1Gbit",
            rtt="20ms",
            epoch="1s",
        )
        app = new_app()
        async with app.run_test(size=(120, 40)) as pilot:
            app.open(TransferFormScreen(move))
            await pilot.pause()
            await pilot.press("ctrl+n")
            await until(pilot, lambda: isinstance(app.screen, TransferLiveScreen))
            await until(pilot, lambda: app.transfer and not app.transfer.is_running)
            await until(pilot, lambda: "3 of 3 files" in text_of(app))
            assert app.transfer
            assert app.transfer.model.ended
            assert app.transfer.model.ended.complete
            assert len(app.screen_stack) == 3
        arrived = list((server.folder / "arrived").rglob("*.dat"))
        assert sorted(path.read_bytes() for path in arrived) == sorted(
            path.read_bytes() for path in data.iterdir()
        )


@SIZES
@pytest.mark.asyncio
async def test_a_past_one_is_opened_with_its_charts(
    new_app: NewApp, store: Store, size: tuple[int, int]
) -> None:
    for number in (1, 2, 3):
        store.append(epoch(number, gave(number * 1e8)))
    store.append(
        TransferRecord(
            pair=tuned.PAIR, recorded_s=1100.0, session="s", total_bytes=10**9, elapsed_s=40.0
        )
    )
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.go("review")
        await settle(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, PastTransferScreen))
        await until(pilot, lambda: "mean of each epoch" in text_of(app))
        assert "Tuned by compass, 3 epochs." in words(app, "#about")
        assert "200 Mbit/s" in words(app, "#about")  # 10⁹ bytes in 40 s
        await pilot.press("3")
        await until(pilot, lambda: "epoch 1: 2 × 8 gave 100 Mbit/s, now 3 × 8" in text_of(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))


@pytest.mark.asyncio
async def test_a_past_one_is_told_as_it_was(new_app: NewApp, store: Store) -> None:
    """Nothing of it is stored but its end, as of one that was held to a ceiling."""
    started = tuned.started()
    log = store.event_log(tuned.PAIR, started.session)
    for event in [*tuned.under_way(), tuned.ended()]:
        log(event)
    log.close()
    store.append(
        TransferRecord(
            pair=tuned.PAIR,
            recorded_s=1100.0,
            session=started.session,
            total_bytes=tuned.TOTAL_BYTES,
            elapsed_s=400.0,
        )
    )
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("review")
        await settle(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, PastTransferScreen))
        await until(pilot, lambda: "mean of each epoch" in text_of(app))
        assert "Tuned by nelder-mead, 13 epochs: all 40 files are there" in words(app, "#about")
        await pilot.press("3")
        await until(pilot, lambda: "reflected: away from the worst of three" in text_of(app))
        assert "16 other streams" in text_of(app)


@pytest.mark.asyncio
async def test_files_moved_by_a_plan_are_a_film_as_before(new_app: NewApp, store: Store) -> None:
    store.append(epoch(1, gave(1e8), label="sample"))
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("review")
        await settle(app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, SessionScreen))
