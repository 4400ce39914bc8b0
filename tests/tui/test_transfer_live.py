"""Files being moved, live: what is said of them, stopping, resuming, leaving; and past ones."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace
from textual.widgets._footer import FooterKey

from advisor.domain.events import AnyEvent, GaveUp, Notice
from advisor.domain.orders import Stop
from advisor.domain.records import TransferRecord
from advisor.domain.space import Setting
from advisor.store.history import Store
from advisor.testing.gridftp import anonymous_server
from advisor.tui.app import AdvisorApp
from advisor.tui.features.history.screens.review import ReviewScreen
from advisor.tui.features.history.screens.session import SessionScreen
from advisor.tui.features.transfer.draft import TransferDraft
from advisor.tui.features.transfer.end_texts import end_lines, fulfilment_line
from advisor.tui.features.transfer.live_transfer import LiveTransfer
from advisor.tui.features.transfer.screens.form import TransferFormScreen
from advisor.tui.features.transfer.screens.live import TransferLiveScreen
from advisor.tui.features.transfer.screens.past import PastTransferScreen
from advisor.tui.features.transfer.texts import left_or_state, progress_lines
from advisor.tui.features.transfer.transfer_model import TransferModel
from advisor.tui.features.transfer.widgets.transfer_log import TransferLog, transfer_log_lines
from advisor.tui.home import HomeScreen
from advisor.tui.kit.charts.chart import Chart
from advisor.tui.kit.copying.copyable import Copyable
from advisor.tui.kit.dialogs.ask import AskScreen
from advisor.tui.status import transfer_status
from tests.plugins.tools.gridftp_lines import require

from . import tuned
from .conftest import NewApp
from .driving import settle, until, words
from .recorded_runs import RecordedRun
from .test_comparison import notices, text_of
from .test_transfer_model import epoch, gave

SIZES = pytest.mark.parametrize("size", [(80, 24), (200, 60)])


class RecordedTransfer(RecordedRun[TransferModel]):
    """A transfer."""

    def __init__(self, events: Sequence[AnyEvent], *, is_running: bool = True) -> None:
        super().__init__(TransferModel(events), is_running=is_running)
        self.arguments = ["transfer", "--no-such-option", "--restart"]


def moved_in(app: AdvisorApp, transfer: RecordedTransfer) -> RecordedTransfer:
    app.transfer = cast(LiveTransfer, transfer)
    return transfer


def offered(app: AdvisorApp) -> set[str]:
    """The actions on the transfer that the footer offers."""
    actions = {one.binding.action for one in app.screen.active_bindings.values()}
    return actions & {"stop", "resume", "others"}


def keys_named(app: AdvisorApp, name: str) -> list[FooterKey]:
    return [key for key in app.screen.query(FooterKey) if key.description == name]


def panels(app: AdvisorApp) -> list[str]:
    """Those of which something is seen."""
    found = [*app.screen.query(Chart), *app.screen.query(TransferLog)]
    return [str(panel.id) for panel in found if panel.region.area]


def progress(model: TransferModel) -> list[str]:
    return [line.plain for line in progress_lines(model, 10)]


def ending(model: TransferModel) -> list[str]:
    return [line.plain for line in end_lines(model)]


def test_progress_in_words() -> None:
    model = TransferModel([tuned.started(), tuned.moving(9.0, 30 * 10**9, 1e9)])
    assert progress(model)[:2] == [
        "█████░░░░░  50%  27.9 GiB of 55.9 GiB moved, 20 of 40 files",
        "Now 1 Gbit/s",
    ]
    assert left_or_state(model) == "4 min left (90 %: 3 min 36 s to 4 min 48 s)"
    model.apply(tuned.moving(10.0, 6 * 10**9, 0.0, phase="verify", left_s=None))
    assert progress(model) == ["█░░░░░░░░░  10%  5.59 GiB of 55.9 GiB compared"]
    assert left_or_state(model) == "comparing checksums"
    model.apply(tuned.ended())
    assert progress(model) == []


def test_the_time_left_is_estimated_from_the_first_second() -> None:
    model = TransferModel([tuned.started()])
    assert left_or_state(model) == "connecting …"
    model.apply(tuned.moving(3.0, 30 * 10**9, 1e9, left_s=None))
    assert left_or_state(model) == "about 4 min left"
    assert any("4 min left" in part.plain for part in transfer_status(model))


def test_the_rate_stands_beside_the_advised_one() -> None:
    model = TransferModel([tuned.started(advised=tuned.ADVISED), tuned.moving(3.0, 10**9, 9.5e8)])
    assert progress(model)[1:] == [
        "Now 950 Mbit/s (97%) · advised 975 Mbit/s over TCP (memory to memory)",
        "2 files at a time × 8 streams each = 16 streams · epoch 1, 1 of 30 s",
        "Why: it starts here (nelder-mead)",
    ]
    setting: Setting = {"concurrency": 1, "parallelism": 4}
    model = TransferModel([tuned.started(advised=tuned.ADVISED, setting=setting)])
    assert "Why: it starts at what was advised (nelder-mead)" in progress(model)


def test_the_setting_and_why_in_words() -> None:
    assert progress(TransferModel(tuned.under_way(40)))[2:] == [
        "3 files at a time × 8 streams each = 24 streams · epoch 2, 10 of 30 s",
        "Why: reflected: away from the worst of three (nelder-mead)",
    ]
    fixed = TransferModel([tuned.started(method="fixed")])
    assert progress(fixed)[-1] == "Why: this setting is kept (fixed)"


def test_the_end_says_how_much_how_fast_the_proof_and_the_advice() -> None:
    over = tuned.ended(advised=True, receipt="/r [7].json")
    lines = ending(TransferModel([*tuned.under_way(9), over]))
    assert lines[:2] == [
        "✓ All 40 files are there. 55.9 GiB in 6 min 40 s, 1.20 Gbit/s.",
        "✓ Equal by checksum at both ends; the receipt is signed.",
    ]
    assert lines[2].startswith(
        "✓ 1.20 Gbit/s, as advised: 1.10 to 1.40 Gbit/s over TCP (memory to memory), 20"
    )


@pytest.mark.parametrize(
    ("rate_bps", "words"),
    [(5e8, "! 500 Mbit/s, slower than advised"), (2e9, "✓ 2 Gbit/s, faster than advised")],
)
def test_the_end_says_where_the_rate_lies(rate_bps: float, words: str) -> None:
    advised = tuned.ended(advised=True).advised
    assert advised
    line = fulfilment_line(replace(advised, rate_bps=rate_bps)).plain
    assert line.startswith(words)
    assert ("Files and disks may limit it" in line) == (rate_bps < 1e9)


def test_an_end_without_a_receipt_says_why() -> None:
    over = tuned.ended(message="all 40 files are there, 5 s; sizes only were compared")
    assert ending(TransferModel([tuned.started(), over]))[1:] == [
        "! No receipt: Sizes only were compared."
    ]


def test_what_is_missing_is_named_at_the_end() -> None:
    started = tuned.started(advised=tuned.ADVISED)
    model = TransferModel([started, tuned.ended(complete=False, missing_files=5)])
    assert ending(model) == [
        "! 38 of 40 files are there whole, 2 could not be moved.",
        "  55.9 GiB in 6 min 40 s, 1.20 Gbit/s.",
        "  Advised 975 Mbit/s over TCP (memory to memory); this run reached 1.20 Gbit/s.",
        "✗ run [7]/a.dat: no access",
        "✗ run [7]/b.dat: it changed",
        "✗ 3 more files: key 3 lists them.",
        "  g resumes: what has arrived is not moved again.",
    ]
    lines = list(transfer_log_lines(model))
    assert lines[-2].endswith("missing  run [7]/b.dat: it changed")
    assert lines[-1].endswith("and 3 more")


def test_a_resumed_run_tells_only_its_own_rate() -> None:
    over = tuned.ended(earlier_bytes=tuned.TOTAL_BYTES // 2)
    words = ending(TransferModel([tuned.started(), over]))[0]
    assert words.endswith("there. 27.9 GiB in 6 min 40 s, 600 Mbit/s; 27.9 GiB had arrived before.")


@SIZES
@pytest.mark.asyncio
async def test_it_shows_charts_and_log_as_there_is_room(
    new_app: NewApp, size: tuple[int, int]
) -> None:
    app = new_app()
    moved_in(app, RecordedTransfer(tuned.under_way()))
    async with app.run_test(size=size) as pilot:
        app.go("moving")
        await until(pilot, lambda: "dtn1 → dtn[2]" in text_of(app))
        await until(pilot, lambda: "mean of each epoch" in text_of(app))
        text = text_of(app)
        assert "8 files at a time × 8 streams each = 64 streams" in text
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
    transfer = moved_in(app, RecordedTransfer([]))
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("moving")
        await until(pilot, lambda: "Counting the files" in text_of(app))
        for event in tuned.under_way(100):
            transfer.model.apply(event)
        await until(pilot, lambda: "epoch 4, 10 of 30 s" in text_of(app))
        await until(pilot, lambda: "epoch 2: 3 × 8 gave" in text_of(app))


@pytest.mark.asyncio
async def test_stopping_asks_first(new_app: NewApp) -> None:
    app = new_app()
    transfer = moved_in(app, RecordedTransfer(tuned.under_way(20)))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("moving")
        await pilot.pause()
        await until(pilot, lambda: offered(app) == {"stop"})
        await pilot.press("g", "m")
        assert isinstance(app.screen, TransferLiveScreen)
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
async def test_a_key_of_the_footer_can_be_clicked(new_app: NewApp) -> None:
    app = new_app()
    moved_in(app, RecordedTransfer(tuned.under_way(20)))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("moving")
        async with asyncio.timeout(60):
            # The first click may come before the screen is laid out.
            while not isinstance(app.screen, AskScreen):
                if keys := keys_named(app, "Stop"):
                    await pilot.click(keys[0])
                await pilot.pause(0.2)


@pytest.mark.asyncio
async def test_a_notice_is_shown_once_where_the_log_has_no_room(new_app: NewApp) -> None:
    app = new_app()
    transfer = moved_in(app, RecordedTransfer(tuned.under_way(20)))
    transfer.model.apply(Notice(at_s=21.0, message="the path [7] was lost"))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("moving")
        await until(pilot, lambda: "the path [7] was lost" in words(app, "#message"))
        transfer.model.apply(tuned.moving(22.0, 10**9, 1e9))
        await until(pilot, lambda: "954 MiB" in text_of(app))
        assert notices(app).count("the path [7] was lost") == 1


@pytest.mark.asyncio
async def test_what_did_not_start_has_no_empty_charts(new_app: NewApp) -> None:
    app = new_app()
    moved_in(app, RecordedTransfer([GaveUp(at_s=0, message="no", exit_code=3)], is_running=False))
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("moving")
        await until(pilot, lambda: "Nothing is being moved" in text_of(app))
        assert "Not started" in str(app.screen.query_one("#end").border_title)
        assert panels(app) == []


@pytest.mark.asyncio
async def test_an_interrupted_one_is_resumed(new_app: NewApp) -> None:
    app = new_app()
    over = RecordedTransfer([*tuned.under_way(20), tuned.ended(complete=False)], is_running=False)
    moved_in(app, over)
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("moving")
        await until(pilot, lambda: "2 could not be moved" in text_of(app))
        await until(pilot, lambda: offered(app) == {"resume", "others"})
        await pilot.press("x")
        assert isinstance(app.screen, TransferLiveScreen)
        assert over.orders == []
        await pilot.press("g")
        # The same words again, which this time no command knows: it says so.
        await until(pilot, lambda: "o such option" in text_of(app))
        assert app.transfer is not cast(LiveTransfer, over)
        assert app.transfer
        assert app.transfer.arguments == ["transfer", "--no-such-option"]
        assert app.transfer.model.gave_up
        assert app.transfer.model.gave_up.exit_code == 2


@pytest.mark.asyncio
async def test_a_complete_one_is_not_resumed(new_app: NewApp) -> None:
    app = new_app()
    over = moved_in(app, RecordedTransfer([*tuned.under_way(20), tuned.ended()], is_running=False))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("moving")
        await until(pilot, lambda: "All 40 files are there" in text_of(app))
        await until(pilot, lambda: offered(app) == {"others"})
        await pilot.press("g")
        assert app.transfer is cast(LiveTransfer, over)
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, TransferFormScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))


@pytest.mark.asyncio
async def test_the_receipt_can_be_copied_as_a_command(new_app: NewApp) -> None:
    app = new_app()
    over = tuned.ended(receipt="/a b/receipt.json")
    moved_in(app, RecordedTransfer([*tuned.under_way(20), over], is_running=False))
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("moving")
        await until(pilot, lambda: "advisor verify '/a b/receipt.json'" in text_of(app))
        assert app.screen.query_one("#check", Copyable).line == "advisor verify '/a b/receipt.json'"


@pytest.mark.asyncio
async def test_the_advised_throughput_is_a_level_of_the_chart(new_app: NewApp) -> None:
    app = new_app()
    started = tuned.started(advised=tuned.ADVISED)
    moved_in(app, RecordedTransfer([started, *tuned.under_way(20)[1:]]))
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("moving")
        await until(pilot, lambda: "advised 975 Mbit/s" in text_of(app))
        picture = app.screen.query_one("#throughput", Chart).picture
        assert [(level.name, level.y) for level in picture.levels] == [("advised", 9.75e8)]
        setting = app.screen.query_one("#setting")
        await until(pilot, lambda: "2 × 8 = 16 streams" in str(setting.border_title))


@pytest.mark.asyncio
async def test_without_a_transfer_it_says_how_to_begin(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("moving")
        await until(pilot, lambda: "No files are being moved" in text_of(app))
        await pilot.press("x", "g")
        assert offered(app) == {"others"}
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, TransferFormScreen))


@pytest.mark.asyncio
async def test_leaving_the_screen_leaves_it_running_and_home_leads_back(new_app: NewApp) -> None:
    app = new_app()
    transfer = moved_in(app, RecordedTransfer(tuned.under_way(20)))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("moving")
        await pilot.pause()
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await until(pilot, lambda: "Files are being moved: dtn1->dtn[2]" in text_of(app))
        assert "The transfer continues" in notices(app)
        assert not transfer.orders
        await pilot.press("n", "escape", "r")
        assert "Files are being moved, which would disturb it" in notices(app)
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        for key in ("enter", "f", "m"):
            await pilot.press(key)
            await until(pilot, lambda: isinstance(app.screen, TransferLiveScreen))
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, HomeScreen))


@pytest.mark.asyncio
async def test_leaving_the_program_asks_while_files_are_moved(new_app: NewApp) -> None:
    app = new_app()
    transfer = moved_in(app, RecordedTransfer(tuned.under_way(20)))
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
    moved_in(
        app, RecordedTransfer([GaveUp(at_s=0, message="no [host]", exit_code=3)], is_running=False)
    )
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
            await until(pilot, lambda: "All 3 files are there" in text_of(app))
            assert "Equal by checksum at both ends" in text_of(app)
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
        await settle(pilot)
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
async def test_a_past_one_is_reported_as_it_was(new_app: NewApp, store: Store) -> None:
    """Nothing of it is stored but its end, as of one that was held to a ceiling."""
    started = tuned.started()
    log = store.event_log(tuned.PAIR, started.session)
    for event in [*tuned.under_way(), tuned.ended(advised=True)]:
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
        await settle(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, PastTransferScreen))
        await until(pilot, lambda: "mean of each epoch" in text_of(app))
        assert "Tuned by nelder-mead, 13 epochs: all 40 files are there" in words(app, "#about")
        assert "1.20 Gbit/s, as advised: 1.10 to 1.40 Gbit/s" in words(app, "#about")
        await pilot.press("3")
        await until(pilot, lambda: "reflected: away from the worst of three" in text_of(app))
        assert "16 other streams" in text_of(app)


@pytest.mark.asyncio
async def test_files_moved_by_a_plan_are_a_film_as_before(new_app: NewApp, store: Store) -> None:
    store.append(epoch(1, gave(1e8), label="sample"))
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("review")
        await settle(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, SessionScreen))
