"""History: taken or not; a session begins with the words that were entered."""

from typing import cast

import pytest
from textual.widgets import DataTable

from advisor.domain.dataset import Dataset
from advisor.domain.events import GaveUp
from advisor.store.history import Store
from advisor.testing.samples import a_path
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.draft import Draft, PathSeen
from advisor.tui.features.advising.live_session import LiveSession
from advisor.tui.features.advising.screens.advice import AdviceScreen
from advisor.tui.features.advising.screens.comparison import ComparisonScreen
from advisor.tui.features.advising.screens.history import HistoryScreen
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.widgets.age_axis import AgeAxis
from advisor.tui.kit.fields.field import Field
from advisor.tui.kit.tables.row_table import RowTable

from .conftest import NewApp
from .driving import row_count, until, words
from .recorded_runs import RecordedRun
from .stored import keep_probes
from .test_comparison import an_advice, notices, some_events, text_of

YEAR_S = 365.25 * 86400
BEGIN = ["advise", "--json", "--orders"]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)])


def profiling_time(app: AdvisorApp) -> str:
    """How long profiling takes, on the right of its panel's title."""
    return str(app.screen.query_one("#profiling").border_title).rpartition("] ")[2]


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The words of sessions that would have begun."""
    found: list[list[str]] = []
    monkeypatch.setattr(AdvisorApp, "begin_session", lambda _, words: found.append(words))
    return found


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> "list[tuple[list[str], RecordedRun[SessionModel]]]":
    """The words of sessions that would have started unseen, each with what it would tell."""
    found: list[tuple[list[str], RecordedRun[SessionModel]]] = []

    def start(app: AdvisorApp, words: list[str]) -> RecordedRun[SessionModel]:
        found.append((words, RecordedRun(SessionModel(), is_running=True)))
        app.session = cast(LiveSession, found[-1][1])
        return found[-1][1]

    monkeypatch.setattr(AdvisorApp, "start_session", start)
    return found


@SIZES
@pytest.mark.asyncio
async def test_what_is_stored_can_be_taken(
    new_app: NewApp,
    store: Store,
    size: tuple[int, int],
    taken: "list[tuple[list[str], RecordedRun[SessionModel]]]",
) -> None:
    keep_probes(store, "dtn02", [1e9, 1.2e9, 1.1e9])
    app = new_app(Draft(destination="me@dtn02"))
    async with app.run_test(size=size) as pilot:
        app.go("history")
        await until(pilot, lambda: row_count(app, "#stored"))
        table = app.screen.query_one("#stored", RowTable)
        assert table.title == "Stored for me@dtn02"
        assert str(table.get_row_at(0)[0]) == "▶"
        assert str(table.get_row_at(0)[1]).startswith("1.10 Gbit/s")
        await until(pilot, lambda: app.screen.query("Chart"))
        await pilot.press("f6")
        directory = store.argument
        [(arguments, session)] = taken
        assert arguments == [*BEGIN, "--accept-history", "--store", directory, "--", "me@dtn02"]
        # Until there is advice, the step stays and says what it waits for.
        await until(pilot, lambda: "Connecting to me@dtn02 …" in words(app, "#taking"))
        assert isinstance(app.screen, HistoryScreen)
        for event in some_events()[:3]:
            session.model.apply(event)
        await until(pilot, lambda: "from what is stored …" in words(app, "#taking"))
        assert isinstance(app.screen, HistoryScreen)
        session.model.apply(an_advice(basis="history", contenders=[], gain=None))
        await until(pilot, lambda: isinstance(app.screen, AdviceScreen))
        await until(pilot, lambda: "From history: nothing was measured" in text_of(app))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, ComparisonScreen))
        await until(pilot, lambda: "History" in text_of(app))


@pytest.mark.asyncio
async def test_an_advice_that_is_not_given_is_reported_on_the_step(
    new_app: NewApp, store: Store, taken: "list[tuple[list[str], RecordedRun[SessionModel]]]"
) -> None:
    keep_probes(store, "dtn02", [1e9, 1.2e9, 1.1e9])
    app = new_app(Draft(destination="dtn02"))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("history")
        await until(pilot, lambda: row_count(app, "#stored"))
        await pilot.press("f6")
        [(_, session)] = taken
        session.model.apply(GaveUp(at_s=0.0, message="dtn02 does not answer", exit_code=3))
        await until(pilot, lambda: "Dtn02 does not answer." in notices(app))
        assert isinstance(app.screen, HistoryScreen)
        assert words(app, "#taking") == ""


@pytest.mark.asyncio
async def test_an_unknown_tool_in_the_entries_leaves_the_history_readable(
    new_app: NewApp, store: Store
) -> None:
    keep_probes(store, "dtn02", [1e9])
    draft = Draft(destination="dtn02", what="data", data="/data", to="/data", profiled="tool")
    draft.tool, draft.scanned = "no-such-tool", Dataset(total_bytes=10**9)
    draft.seen = PathSeen(reach=draft.reach_arguments(), path=a_path())
    app = new_app(draft)
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("history")
        await until(pilot, lambda: "Nothing is stored for dtn02" in words(app, "#past"))


@pytest.mark.asyncio
async def test_a_caution_names_the_result_that_it_is_about(new_app: NewApp, store: Store) -> None:
    keep_probes(store, "dtn02", [1e9, 1.2e9, 1.1e9])
    keep_probes(store, "dtn02", [9e8, 8e8], subject="udt", setting={"buffer_bytes": 2**24})
    app = new_app(Draft(destination="dtn02"))
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("history")
        await until(pilot, lambda: row_count(app, "#stored") == 2)
        table = app.screen.query_one("#stored", RowTable)
        counts = {
            str(row[4]).split(",")[0]: int(str(row[2]))
            for row in map(table.get_row_at, range(table.row_count))
        }
        assert counts == {"TCP": 3, "UDT": 2}
        assert words(app, "#past") == "! UDT: Based on only 2 probes: that may be chance."


@pytest.mark.parametrize(
    "ages_s",
    [[300.0, 3 * YEAR_S], [5.0], [40.0, 50.0], [86400.0], [3600.0, 90000.0], [60 * YEAR_S]],
)
def test_an_axis_fits_ages_from_minutes_to_years(ages_s: list[float]) -> None:
    axis = AgeAxis(ages_s)
    assert axis.end > 0
    places = [axis.place(age_s) for age_s in ages_s]
    assert all(0 <= place <= axis.end for place in places)
    # The oldest is on the left.
    assert places == sorted(places, key=lambda place: -place)
    assert [place for place, _ in axis.ticks] == sorted(place for place, _ in axis.ticks)
    assert axis.ticks


def test_minutes_and_years_are_both_apart_from_the_ends_of_the_axis() -> None:
    axis = AgeAxis([300.0, 3 * YEAR_S])
    new, old = axis.place(300.0) / axis.end, axis.place(3 * YEAR_S) / axis.end
    assert 0.02 < old < 0.2
    assert 0.8 < new < 0.98
    # The day and the year between them are far apart too.
    assert axis.place(86400.0) - axis.place(YEAR_S) > 0.3 * axis.end


@SIZES
@pytest.mark.asyncio
async def test_profiling_begins_with_what_was_entered(
    new_app: NewApp, store: Store, size: tuple[int, int], begun: list[list[str]]
) -> None:
    app = new_app(Draft(destination="dtn02", what="size", size="10TB"))
    async with app.run_test(size=size) as pilot:
        app.go("history")
        await until(pilot, lambda: "Nothing is stored" in words(app, "#past"))
        assert profiling_time(app) == "about 1 min"
        await pilot.press("f6")
        assert begun == []
        app.screen.query_one("#field-budget", Field).enter()
        await pilot.press(*"90")
        await until(pilot, lambda: profiling_time(app) == "about 1 min 30 s")
        await pilot.press("ctrl+n")
        directory = store.argument
        assert begun == [
            [*BEGIN, "--measure", "--store", directory, "--size=10TB", "--budget=90", "--", "dtn02"]
        ]


@pytest.mark.parametrize(
    ("name", "wrong", "said"),
    [
        ("budget", "1", "too short for one probe: give at least 5 s"),
        ("transports", "tcp,quic", "quic"),
        ("method", "luck", "luck"),
        ("congestion", "cubic;bbr", "commas"),
        ("max_streams", "129", "a number from 1 to 128"),
    ],
)
@pytest.mark.asyncio
async def test_wrong_entries_begin_nothing(
    new_app: NewApp, begun: list[list[str]], name: str, wrong: str, said: str
) -> None:
    app = new_app(Draft(destination="dtn02", **{name: wrong}))  # type: ignore[arg-type]  # all text
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("history")
        await until(pilot, lambda: "Nothing is stored" in words(app, "#past"))
        field = app.screen.query_one(f"#field-{name.replace('_', '-')}", Field)
        assert said in field.problem
        await pilot.press("ctrl+n")
        await pilot.pause()
        assert begun == []


@pytest.mark.asyncio
async def test_one_session_at_a_time(
    new_app: NewApp, begun: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AdvisorApp, "why_no_session", lambda _: "a session is running")
    app = new_app(Draft(destination="dtn02"))
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("history")
        await until(pilot, lambda: isinstance(app.screen, HistoryScreen))
        await pilot.press("ctrl+n")
        await pilot.pause()
        assert begun == []


@pytest.mark.asyncio
async def test_pairs_like_this_one_and_what_may_be_gained(new_app: NewApp, store: Store) -> None:
    keep_probes(store, "dtn02", [1e9, 1e9, 1e9], rtt_s=0.05)
    keep_probes(store, "alike", [2e9], rtt_s=0.06, bandwidth_bps=10e9)
    keep_probes(store, "near", [3e9], rtt_s=0.001, bandwidth_bps=10e9)
    draft = Draft(destination="dtn02", bandwidth="10G")
    draft.seen = PathSeen(
        reach=draft.reach_arguments(), path=a_path(rtt_s=0.05, bandwidth_bps=10e9)
    )
    app = new_app(draft)
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("history")
        await until(pilot, lambda: "10.0 times" in words(app, "#cost"))
        table = app.screen.query_one("#similar", DataTable)
        assert [str(table.get_row_at(row)[0]) for row in range(table.row_count)] == ["alike"]


@pytest.mark.asyncio
async def test_a_path_that_changed_has_no_history(new_app: NewApp, store: Store) -> None:
    keep_probes(store, "dtn02", [1e9, 1e9, 1e9], rtt_s=0.05)
    draft = Draft(destination="dtn02")
    draft.seen = PathSeen(reach=draft.reach_arguments(), path=a_path(rtt_s=0.1))
    app = new_app(draft)
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("history")
        await until(pilot, lambda: "Nothing is stored" in words(app, "#past"))


@SIZES
@pytest.mark.asyncio
async def test_a_tool_takes_longer_and_has_no_transports(
    new_app: NewApp, store: Store, size: tuple[int, int], begun: list[list[str]]
) -> None:
    keep_probes(store, "dtn02", [1e9, 1.2e9, 1.1e9])
    draft = Draft(destination="dtn02", what="data", data="/d", profiled="tool", transports="tcp")
    app = new_app(draft)
    async with app.run_test(size=size) as pilot:
        app.go("history")
        # What is stored is of TCP from memory to memory.
        await until(pilot, lambda: "Nothing is stored" in words(app, "#past"))
        assert profiling_time(app) == "about 2 min"
        assert not app.screen.query_one("#field-transports").display
        await pilot.press("ctrl+n")
        assert begun == []
        assert "Goes to" in "".join(note.message for note in app._notifications)
        draft.to = "/there"
        await pilot.press("ctrl+n")
        assert begun == [
            [
                *BEGIN,
                "--measure",
                "--store",
                store.argument,
                "--data=/d",
                "--to=/there",
                "--profile-tool=auto",
                "--",
                "dtn02",
            ]
        ]


@SIZES
@pytest.mark.asyncio
async def test_harp_says_what_it_needs(
    new_app: NewApp, size: tuple[int, int], begun: list[list[str]]
) -> None:
    app = new_app(Draft(destination="dtn02", method="spsa"))
    async with app.run_test(size=size) as pilot:
        app.go("history")
        await until(pilot, lambda: "Nothing is stored" in words(app, "#past"))
        field = app.screen.query_one("#field-method", Field)
        assert "past transfers" in field.HELP.plain
        assert words(app, "#field-method .note") == ""
        field.enter()
        await pilot.press(*["backspace"] * 4, *"harp")
        await until(pilot, lambda: "With none stored it uses" in words(app, "#field-method .note"))
        await pilot.press("ctrl+n")
        assert "--method=harp" in begun[0]
