"""The review: the table of sessions, and several of them beside each other."""

import gzip
import json
from pathlib import Path

import pytest
from textual.widgets import Input, RadioSet, Static

from advisor.domain.endpoints import Pair
from advisor.domain.records import RemarkRecord, SessionRecord
from advisor.store.history import Store
from advisor.testing.samples import a_path
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.history.screens.review import ReviewScreen
from advisor.tui.features.history.screens.session import SessionScreen
from advisor.tui.features.history.screens.side_by_side import SideBySideScreen, end_bars
from advisor.tui.features.history.widgets.session_columns import FULL, shortened_look
from advisor.tui.features.history.widgets.session_table import SessionTable
from advisor.tui.home import HomeScreen

from .conftest import NewApp
from .driving import settle
from .stored_sessions import OTHER, keep, keep_three, opened, state_of
from .test_advice_saving import wrong
from .test_comparison import PAIR, SIZES, an_advice, notices, shown, some_events, text_of


@pytest.fixture
def three(store: Store) -> Store:
    keep_three(store)
    return store


def rows(table: SessionTable) -> list[str]:
    """The sessions of the rows as they are drawn."""
    keys = [str(row.key.value) for row in table.ordered_rows]
    return [key.split("\0")[1] for key in keys]


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_an_empty_history_says_what_to_do(new_app: NewApp, size: tuple[int, int]) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot)
        text = text_of(app)
        assert "No session is stored yet" in text
        assert "advisor history import" in text
        for key in ("enter", "a", "m", "d", "e", "T", "b", "u"):
            await pilot.press(key)
            await pilot.pause()
            assert shown(app) is ReviewScreen
        assert "No session is chosen" in notices(app)
        assert "Mark two sessions" in notices(app)
        await pilot.press("escape")
        await pilot.pause()
        assert shown(app) is HomeScreen


@pytest.mark.asyncio
async def test_a_history_that_cannot_be_read_says_why(new_app: NewApp, store: Store) -> None:
    Path(store.argument).write_text("no directory")
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        assert "Cannot read" in text_of(app)


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_sorted_by_any_column_with_keys_and_headers(
    new_app: NewApp, three: Store, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        table = await opened(app, pilot)
        assert rows(table) == ["three", "two", "one"]
        await pilot.press("4")
        assert rows(table) == ["two", "one", "three"]
        await pilot.press("4")
        assert rows(table) == ["three", "one", "two"]
        # The name of the first column stands behind that of the mark.
        await pilot.click(SessionTable, offset=(8, 1))
        await settle(pilot)
        assert rows(table) == ["three", "two", "one"]
        await pilot.press("5")
        assert rows(table) == ["one", "three", "two"]


@pytest.mark.asyncio
async def test_what_is_listed_of_a_session(new_app: NewApp, three: Store) -> None:
    app = new_app()
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(app, pilot)
        line = next(line for line in text_of(app).splitlines() if "far[1]" in line)
        for word in ("dtn1->far[1]", "✓ advised", "tcp  1.00", "3.00×", " 2 "):
            assert word in line
        assert "Gbit/s" in text_of(app)


NAMES = Pair("dtn01.physics.example.edu", "archive-gateway.lbl.example.gov")


@pytest.mark.parametrize(
    ("columns", "shown_as"),
    [(120, "dtn01->archive-gateway"), (200, "dtn01.physics.example.edu->archive-gateway.lbl")],
)
@pytest.mark.asyncio
async def test_nothing_is_cut_where_there_is_room(
    new_app: NewApp, three: Store, columns: int, shown_as: str
) -> None:
    keep(three, "long", 1.7e9, 2e9, NAMES, advised=False)
    app = new_app()
    async with app.run_test(size=(columns, 40)) as pilot:
        table = await opened(app, pilot)
        assert shown_as in text_of(app)
        assert "interrupted " in text_of(app)
        assert table.max_scroll_x == 0


@pytest.mark.asyncio
async def test_columns_that_say_nothing_are_left_out(new_app: NewApp, store: Store) -> None:
    keep(store, "one", 1.6e9, 4e9, advised=False)
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(app, pilot)
        [heading] = [line for line in text_of(app).splitlines() if "began" in line]
        assert "best" in heading
        assert "gain" not in heading
        assert "came true" not in heading


def test_hosts_that_short_names_would_confuse_keep_their_own(store: Store) -> None:
    for number, pair in enumerate((Pair("a.x.org", "b.x.org"), Pair("a.y.org", "10.0.0.1"))):
        keep(store, f"s{number}", 1.6e9 + number, 1e9, pair)
    names = shortened_look(FULL, store.sessions()).names
    assert names == {"b.x.org": "b"}


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_filtered_as_one_types(new_app: NewApp, three: Store, size: tuple[int, int]) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        table = await opened(app, pilot)
        await pilot.press("slash", *"FAR[1] adv")
        await pilot.pause()
        assert rows(table) == ["three"]
        assert "1 of 3" in text_of(app)
        await pilot.press(*"xyz")
        await pilot.pause()
        assert rows(table) == []
        assert "No session has all these words" in text_of(app)
        await pilot.press("escape")
        await pilot.pause()
        assert shown(app) is ReviewScreen
        assert len(rows(table)) == 3
        assert table.has_focus
        await pilot.press("escape")
        await pilot.pause()
        assert shown(app) is HomeScreen


@pytest.mark.asyncio
async def test_arrows_and_vim_keys_move_the_cursor_which_stays_when_sorted(
    new_app: NewApp, three: Store
) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        table = await opened(app, pilot)
        await pilot.press("j", "down", "k")
        assert table.chosen
        assert table.chosen.session == "two"
        await pilot.press("2")
        assert table.chosen.session == "two"
        await pilot.press("G")
        assert table.cursor_row == 2
        await pilot.press("g")
        assert table.cursor_row == 0


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_marked_sessions_are_put_beside_each_other(
    new_app: NewApp, three: Store, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        table = await opened(app, pilot)
        await pilot.press("space")
        assert next(iter(table.marked.values())).session == "three"
        await pilot.press("b")
        await pilot.pause()
        assert shown(app) is ReviewScreen
        await pilot.press("j", "space", "b")
        await settle(pilot)
        assert shown(app) is SideBySideScreen
        who = str(app.screen.query_one("#who", Static).render())
        # By age: the elder one is A.
        assert who.index("dtn1->dtn2") < who.index("dtn1->far[1]")
        assert who.startswith("A")
        await pilot.press("escape")
        await settle(pilot)
        assert [s.session for s in table.meant] == ["one", "three"]


def test_bars_of_a_session_without_advice_are_its_best_probes() -> None:
    advised = end_bars("A", SessionModel(some_events(an_advice())))
    assert {bar.name for bar in advised} == {"A: Advised", "A: Untuned"}
    cut_short = end_bars("B", SessionModel(some_events()))
    assert {bar.name for bar in cut_short} == {"B: Untuned", "B: Best TCP", "B: Best UDT"}


@pytest.mark.asyncio
async def test_outlier_and_back(new_app: NewApp, three: Store) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        table = await opened(app, pilot)
        await pilot.press("m")
        await settle(pilot)
        assert state_of(three, "three").outlier
        assert table.chosen
        assert table.chosen.outlier
        assert "outlier" in text_of(app)
        await pilot.press("m")
        await settle(pilot)
        assert not state_of(three, "three").outlier


@pytest.mark.asyncio
async def test_deleted_and_brought_back_in_turn(new_app: NewApp, three: Store) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        table = await opened(app, pilot)
        await pilot.press("d")
        await settle(pilot)
        assert rows(table) == ["two", "one"]
        await pilot.press("space", "space", "d")
        await settle(pilot)
        assert rows(table) == []
        assert three.sessions() == []
        await pilot.press("u")
        await settle(pilot)
        assert rows(table) == ["two", "one"]
        await pilot.press("u")
        await settle(pilot)
        assert rows(table) == ["three", "two", "one"]
        await pilot.press("u")
        await pilot.pause()
        assert "Nothing was deleted since" in notices(app)


@pytest.mark.asyncio
async def test_keys_work_after_all_were_deleted_and_restored(new_app: NewApp, three: Store) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        table = await opened(app, pilot)
        await pilot.press("space", "space", "space", "d")
        await settle(pilot)
        assert rows(table) == []
        assert "U restores" in text_of(app)
        assert table.has_focus
        await pilot.press("u")
        await settle(pilot)
        assert rows(table) == ["three", "two", "one"]
        assert table.has_focus
        await pilot.press("down", "space")
        assert [s.session for s in table.meant] == ["two"]
        await pilot.press("enter")
        await settle(pilot)
        assert shown(app) is SessionScreen


@pytest.mark.asyncio
async def test_a_note_is_kept_and_found(new_app: NewApp, three: Store) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        table = await opened(app, pilot)
        await pilot.press("a")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert "it is empty" in wrong(app)
        await pilot.press(*"[sun] day", "enter")
        await settle(pilot)
        assert [note.text for note in state_of(three, "three").notes] == ["[sun] day"]
        await pilot.press("slash", *"sun", "enter")
        await pilot.pause()
        assert rows(table) == ["three"]
        await pilot.press("enter")
        await settle(pilot)
        assert "[sun] day" in text_of(app)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "note", ["[DTN02] was slow", "copied to [/scratch/me", 'see [@click="app.quit"[]here']
)
async def test_a_note_is_shown_as_it_was_typed(new_app: NewApp, three: Store, note: str) -> None:
    three.append(
        RemarkRecord(pair=OTHER, recorded_s=1.7e9, session="three", kind="note", text=note)
    )
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(app, pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert shown(app) is SessionScreen
        assert note in text_of(app)


@pytest.mark.asyncio
async def test_a_transfer_is_recorded_and_came_true(new_app: NewApp, three: Store) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        table = await opened(app, pilot)
        await pilot.press("T")
        await pilot.pause()
        # 900 GB in 800 s are 9 Gbit/s, in the middle of what was advised.
        await pilot.press(*"900GB", "enter", *"800", "enter", "enter")
        await settle(pilot)
        assert state_of(three, "three").transfers[0].came_true == "within"
        assert "within" in text_of(app)
        await pilot.press("space", "space", "T")
        await pilot.pause()
        assert shown(app) is ReviewScreen
        assert "follows one session" in notices(app)
        assert len(table.marked) == 2


@pytest.mark.asyncio
@pytest.mark.parametrize("downs", range(4))
async def test_exported_in_every_format(
    new_app: NewApp, three: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, downs: int
) -> None:
    monkeypatch.chdir(tmp_path)
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await pilot.press("e")
        await pilot.pause()
        app.screen.query_one(RadioSet).focus()
        await pilot.press(*["down"] * downs, "enter")
        await pilot.pause()
        app.screen.query_one(Input).focus()
        await pilot.press("enter")
        await settle(pilot)
        assert shown(app) is ReviewScreen
    [saved] = tmp_path.glob("three.*")
    match downs:
        case 0:
            lines = saved.read_text().splitlines()
            assert len(lines) == 3
            assert all("three" in line for line in lines[1:])
        case 1:
            kinds = [json.loads(line)["record"] for line in saved.read_text().splitlines()]
            assert kinds == ["session", "probe", "probe", "advice"]
        case 2:
            assert saved.read_text().count("far\\[1\\]") == 2
        case 3:
            data = json.loads(gzip.decompress(saved.read_bytes()))
            assert len(data["results"]) == 2


@pytest.mark.asyncio
async def test_a_flent_file_of_two_pairs_is_refused_in_the_dialog(
    new_app: NewApp, three: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await pilot.press("space", "space", "e")
        await pilot.pause()
        app.screen.query_one(RadioSet).focus()
        await pilot.press("up", "enter")
        await pilot.pause()
        await pilot.click("#save")
        await settle(pilot)
        assert "one pair" in wrong(app)
    assert not list(tmp_path.glob("*.flent.gz"))


@pytest.mark.asyncio
async def test_a_long_history_is_all_there_in_its_order(new_app: NewApp, store: Store) -> None:
    names = [f"s{n:03}" for n in range(250)]
    for number, name in enumerate(names):
        store.append(
            SessionRecord(
                session=name, pair=PAIR, recorded_s=1.6e9 + number, request={}, path=a_path()
            )
        )
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        table = await opened(app, pilot)
        assert rows(table) == names[::-1]
        await pilot.press("G")
        assert table.chosen
        assert table.chosen.session == "s000"
