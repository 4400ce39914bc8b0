"""History: taken or not; a session begins with the words that were entered."""

import pytest
from textual.widgets import DataTable

from advisor.store.history import Store
from advisor.testing.samples import a_path
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.draft import Draft, PathSeen
from advisor.tui.features.advising.screens.history import HistoryScreen
from advisor.tui.kit.fields.field import Field

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
async def test_what_is_stored_can_be_taken(
    new_app: NewApp, store: Store, size: tuple[int, int], begun: list[list[str]]
) -> None:
    keep_probes(store, "dtn02", [1e9, 1.2e9, 1.1e9])
    app = new_app(Draft(destination="me@dtn02"))
    async with app.run_test(size=size) as pilot:
        app.go("history")
        await until(pilot, lambda: "Stored for me@dtn02" in words(app, "#past"))
        table = app.screen.query_one("#stored", DataTable)
        assert str(table.get_row_at(0)[1]).startswith("1.10 Gbit/s")
        await until(pilot, lambda: app.screen.query("Chart"))
        await pilot.press("f6")
        directory = str(store.directory)
        assert begun == [
            [*BEGIN, "--accept-history", "--store", directory, "--", "me@dtn02"],
        ]


@SIZES
@pytest.mark.asyncio
async def test_profiling_begins_with_what_was_entered(
    new_app: NewApp, store: Store, size: tuple[int, int], begun: list[list[str]]
) -> None:
    app = new_app(Draft(destination="dtn02", what="size", size="10TB"))
    async with app.run_test(size=size) as pilot:
        app.go("history")
        await until(pilot, lambda: "Nothing is stored" in words(app, "#past"))
        assert "about 1 min" in words(app, "#cost")
        await pilot.press("f6")
        assert begun == []
        app.screen.query_one("#field-budget", Field).enter()
        await pilot.press(*"90")
        await until(pilot, lambda: "about 1 min 30 s" in words(app, "#cost"))
        await pilot.press("ctrl+n")
        directory = str(store.directory)
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
        assert "about 2 min" in words(app, "#cost")
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
                str(store.directory),
                "--data=/d",
                "--to=/there",
                "--profile-tool=globus-url-copy",
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
        assert "past transfers" in field.HELP
        assert words(app, "#field-method .note") == ""
        field.enter()
        await pilot.press(*["backspace"] * 4, *"harp")
        await until(pilot, lambda: "With none stored it uses" in words(app, "#field-method .note"))
        await pilot.press("ctrl+n")
        assert "--method=harp" in begun[0]
