"""Fleet: the matrix of pairs, one pair, and what is said where there is no fleet."""

from collections.abc import Callable, Sequence

import pytest
from textual.widgets import Input

from advisor.domain.quantities import format_rate
from advisor.fleet.state.rows import Attempt, HostState, Pause
from advisor.fleet.state.standing import FleetStanding, PairStanding
from advisor.fleet.work.claiming import Ending
from advisor.store.errors import StoreError
from advisor.tui.app import AdvisorApp
from advisor.tui.features.fleet.looking import FleetView, attempts, fleet_view
from advisor.tui.features.fleet.matrix import PairMatrix
from advisor.tui.features.fleet.screens import fleet as fleet_screen
from advisor.tui.features.fleet.screens import pair as pair_screen
from advisor.tui.features.fleet.screens.fleet import FleetScreen
from advisor.tui.features.fleet.screens.pair import PairScreen
from advisor.tui.features.history.screens.review import ReviewScreen
from advisor.tui.screens import screen_named
from tests.fleet_at_work import described
from tests.postgres_server import SharedDatabase
from tests.unit.fleet.test_claiming import Desk

from .conftest import NewApp
from .driving import row_count, until, words
from .test_comparison import notices, text_of

NOW_S = 1_760_000_000.0
SIZES = [(80, 24), (120, 40), (200, 60)]


def a_pair(source: str, destination: str, **changes: object) -> PairStanding:
    fields: dict[str, object] = {
        "task": "advice",
        "source": source,
        "destination": destination,
        "last_s": NOW_S - 7200,
        "due_s": NOW_S + 86400,
        "rate_bps": 9.4e9,
        "rtt_s": 0.0456,
        "news": "none",
        "failures": 0,
        "reason": "",
        "stored_source": f"{source}.org",
        "stored_destination": f"{destination}.org",
    }
    return PairStanding(**(fields | changes))  # type: ignore[arg-type]  # its fields, by name


PAIRS = [
    a_pair("ant", "bee"),
    a_pair("ant", "cat", rate_bps=4.7e9, news="changed"),
    a_pair("bee", "ant", failures=2, reason="cat is down: no route", due_s=NOW_S),
    a_pair("bee", "cat", last_s=None, rate_bps=None, rtt_s=None, due_s=NOW_S, stored_source=None),
    a_pair("cat", "bee", task="path", rate_bps=None),
]


def a_view(pairs: Sequence[PairStanding] = PAIRS, **changes: object) -> FleetView:
    fields: dict[str, object] = {
        "version": 3,
        "applied_by": "olga",
        "applied_s": NOW_S - 1e6,
        "now_s": NOW_S,
        "pairs": len(pairs),
        "measured": 4,
        "due": 2,
        "workers": [],
        "running": [],
        "down": [HostState(host="cat", failures=3, message="no route\x1b[2J [b]to it")],
        "busy": {},
        "pauses": [Pause(host="", paused_by="olga", paused_s=NOW_S)],
        "missing": [],
    }
    standing = FleetStanding(**(fields | changes))  # type: ignore[arg-type]  # its fields, by name
    return FleetView(standing, ["advice", "path"], list(pairs))


@pytest.fixture
def see(monkeypatch: pytest.MonkeyPatch) -> Callable[[FleetView], None]:
    """Let the screen find this fleet."""

    def found(view: FleetView) -> None:
        monkeypatch.setattr(fleet_screen, "fleet_view", lambda *_: view)

    found(a_view())
    return found


def matrix(app: AdvisorApp) -> PairMatrix:
    return app.screen.query_one(PairMatrix)


def cells(app: AdvisorApp) -> list[list[str]]:
    table = matrix(app)
    rows = [table.get_row_at(number) for number in range(table.row_count)]
    return [[cell.plain.strip() for cell in row[1:]] for row in rows]


@pytest.mark.usefixtures("see")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.asyncio
async def test_every_pair_has_a_cell(new_app: NewApp, size: tuple[int, int]) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.open(screen_named("fleet"))
        await until(pilot, lambda: row_count(app, "PairMatrix"))
        assert cells(app) == [["·", "9.4", "!4.7"], ["✗", "·", "?"]]
        assert matrix(app).title == "Throughput in Gbit/s"
        how = words(app, "#how")
        assert "4 of 5 pairs measured" in how
        assert "no worker" in how
        assert "The fleet is paused, by olga" in how
        assert "cat cannot be reached" in how
        # A message of a database is text, whatever it holds.
        assert "\x1b" not in text_of(app)
        assert "[b]to it" in how
        assert "Nothing is measured between these two" in text_of(app)
        await pilot.press("right")
        await until(pilot, lambda: "ant → bee" in text_of(app))
        assert f"{format_rate(9.4e9)}, RTT 45.6 ms, 2 h ago" in text_of(app)
        assert "due in 1 d" in text_of(app)
        await pilot.press("down", "left")
        await until(pilot, lambda: "failed 2 times since" in text_of(app))
        assert "due now: cat is down: no route" in text_of(app)


@pytest.mark.usefixtures("see")
@pytest.mark.asyncio
async def test_ages_another_measure_and_a_filter(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.open(FleetScreen())
        await until(pilot, lambda: row_count(app, "PairMatrix"))
        await pilot.press("a")
        assert cells(app)[0] == ["·", "2h", "!2h"]
        await pilot.press("a", "m")
        assert cells(app) == [["45.6"]]
        assert matrix(app).title == "Round-trip time in ms"
        await pilot.press("m", "slash", *"ee", "enter")
        assert cells(app) == [["·", "9.4", "·"], ["✗", "·", "?"]]
        await pilot.press("escape")
        assert app.screen.query_one(Input).value == ""
        assert cells(app)[0] == ["·", "9.4", "!4.7"]


@pytest.mark.usefixtures("see")
@pytest.mark.asyncio
async def test_a_pair_opens_with_its_attempts_and_its_sessions(
    new_app: NewApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [
        Attempt(
            id=number,
            worker_id=1,
            account="wanda",
            task="advice",
            source="ant",
            destination="bee",
            why="its age",
            began_s=NOW_S - number * 3600,
            ended_s=NOW_S - number * 3600 + 60,
            most_bytes=1e9,
            moved_bytes=1e8,
            outcome="done" if rate else "failed",
            message="" if rate else "refused",
            rate_bps=rate,
        )
        for number, rate in enumerate([9e9, None, 4e9], start=1)
    ]
    monkeypatch.setattr(pair_screen, "attempts", lambda *_: found)
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.open(FleetScreen())
        await until(pilot, lambda: row_count(app, "PairMatrix"))
        await pilot.press("right", "enter")
        await until(pilot, lambda: isinstance(app.screen, PairScreen))
        await until(pilot, lambda: row_count(app, "RowTable"))
        assert "4 Gbit/s to 9 Gbit/s" in words(app, "#curve")
        assert "refused" in text_of(app)
        await pilot.press("v")
        await until(pilot, lambda: isinstance(app.screen, ReviewScreen))
        assert app.screen.query_one(Input).value == "ant.org bee.org"


@pytest.mark.asyncio
async def test_a_folder_holds_no_fleet(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, FleetScreen))
        await until(pilot, lambda: "this history is a folder" in words(app, "#how"))
        assert 'store = "postgresql://HOST/DATABASE"' in words(app, "#how")
        await pilot.press("m")
        assert "no other measure" in notices(app)


def test_what_the_screens_read_from_a_database(shared_database: SharedDatabase) -> None:
    desk = Desk(shared_database)
    desk.describe(described("a", "b", "c"))
    one = desk.taken()
    desk.end(one, Ending(outcome="failed", moved_bytes=0.0, message="the disk is full \x1b[2J"))
    desk.close()
    reader = shared_database.address("rita")
    view = fleet_view(reader)
    assert view.tasks == ["mesh"]
    assert len(view.pairs) == view.standing.pairs == 6
    [failed] = [pair for pair in view.pairs if pair.failures]
    [attempt] = attempts(reader, failed)
    assert attempt.outcome == "failed"
    assert attempt.message.startswith("the disk is full")
    assert attempt.message.isprintable()


def test_a_database_that_is_away_is_named() -> None:
    with pytest.raises(StoreError, match="cannot be reached"):
        fleet_view("postgresql://127.0.0.1:1/nothing")
