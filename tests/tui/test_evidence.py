"""What past transfers say: the groups, the surface against the points, and the ways there."""

import math
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from textual.content import Content
from textual.widgets import Static

from advisor.domain import events as ev
from advisor.domain.evidence import Evidence, SimilarGroup
from advisor.domain.transfers import Levels, PastTransfer
from advisor.store.history import Store
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.screens.advice import AdviceScreen
from advisor.tui.features.advising.screens.comparison import ComparisonScreen
from advisor.tui.features.advising.screens.evidence import EvidenceScreen, why_no_evidence
from advisor.tui.features.advising.screens.profiling import ProfilingScreen
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.widgets.evidence_table import EvidenceTable, columns_of
from advisor.tui.features.advising.widgets.slice_chart import SliceChart, slice_of, surface_top_bps
from advisor.tui.features.history.screens.session import SessionScreen
from advisor.tui.home import HomeScreen
from tests.unit.models.harp.worlds import DAY_S, WAN, hill, sweep

from .conftest import NewApp
from .disk_to_disk import PAIR, SESSION, TOOL, until
from .driving import row_count, settle, words
from .driving import until as wait_until
from .similar_transfers import BUSY, NOON_S, QUIET, SAMPLE, a_session, found, on, scattered
from .stored_sessions import keep
from .test_comparison import notices, shown, some_events, text_of
from .test_profiling import Recorded

SMALL, USUAL, LARGE = (80, 24), (120, 40), (200, 60)
SIZES = pytest.mark.parametrize("size", [SMALL, USUAL])


@pytest.fixture(scope="module")
def alike() -> Evidence:
    """Two groups that are alike, and one that no surface fits."""
    return found(QUIET + BUSY + scattered(9))


async def opened(app: AdvisorApp, pilot: Any, *evidence: Evidence) -> EvidenceScreen:
    screen = EvidenceScreen(SessionModel(a_session(*evidence)))
    app.open(screen)
    await pilot.pause()
    await pilot.pause()
    return screen


def chart_shown(app: AdvisorApp) -> SliceChart:
    [chart] = [one for one in app.screen.query(SliceChart) if one.display and one.parent.display]  # type: ignore[union-attr]  # each is in the row of charts
    return chart


def slices_shown(app: AdvisorApp) -> list[str]:
    charts = app.screen.query(SliceChart)
    return [
        str(one.level) for one in charts if one.display and app.screen.query_one("#slices").display
    ]


def drawn_levels(app: AdvisorApp) -> list[str]:
    """The levels that are marked as drawn."""
    content = app.screen.query_one("#levels", Static).content
    assert isinstance(content, Content)
    marked = [span for span in content.spans if "underline" in str(span.style)]
    return [content.plain[span.start : span.end] for span in marked]


def flat(text: str) -> str:
    """Without the places where lines end."""
    return " ".join(text.split())


@pytest.mark.asyncio
@SIZES
async def test_from_a_session_under_way_and_back(
    new_app: NewApp, alike: Evidence, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.session = Recorded(until(a_session(alike), "confirm", 1))
        app.go("profiling")
        await pilot.pause()
        await pilot.press("p")
        await pilot.pause()
        assert shown(app) is EvidenceScreen
        text = flat(text_of(app))
        assert "648 of 648 past transfers are similar (similarity 0.99 or more)." in text
        assert flat(alike.worth) in text
        assert f"The sample gave 1.90 Gbit/s with {SAMPLE.levels.words}." in text
        assert row_count(app, "#groups") == 3
        await pilot.press("escape")
        await pilot.pause()
        assert shown(app) is ProfilingScreen


@pytest.mark.asyncio
@SIZES
async def test_rows_say_what_each_group_expects(
    new_app: NewApp, alike: Evidence, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot, alike)
        lines = text_of(app).splitlines()
        busy, quiet = alike.groups
        for group, day in ((busy, "2026-09-26"), (quiet, "2026-09-21")):
            [row] = [line for line in lines if f" {day} " in line and " 216 " in line]
            assert f" {group.share:.0%} " in row
            assert f"{(group.sample_bps or 0) / 1e9:.3g} " in row
            assert f" {group.answer_bps / 1e9:.3g} " in row
        [out] = [line for line in lines if "2026-09-30" in line]
        assert " none " in out
        best = f"{busy.best.concurrency} × {busy.best.parallelism} × {busy.best.pipelining}"
        assert (best in text_of(app)) == (size == USUAL)
        assert ("left out: no poly" in out) == (size == USUAL)
        assert alike.groups[0].best.words in flat(words(app, "#group"))


@pytest.mark.asyncio
@SIZES
async def test_all_columns_fit_the_panel(
    new_app: NewApp, alike: Evidence, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot, alike)
        assert app.screen.query_one(EvidenceTable).max_scroll_x == 0


@pytest.mark.asyncio
async def test_chosen_group_is_drawn_as_curve_and_points(new_app: NewApp, alike: Evidence) -> None:
    app = new_app()
    async with app.run_test(size=USUAL) as pilot:
        await opened(app, pilot, alike)
        for group in alike.groups:
            along = slice_of(group, "concurrency")
            assert along
            curve, points = chart_shown(app).picture.series
            assert curve.kind == "line"
            assert list(curve.ys) == pytest.approx([rate for _, rate in along.fitted])
            assert points.kind == "points"
            assert [2**x for x in points.xs] == pytest.approx([1, 2, 4, 8, 16, 32])
            assert list(points.ys) == [rate for _, rate in along.measured]
            title = str(chart_shown(app).border_title)
            assert f"parallelism {along.held.parallelism}" in title
            assert f"pipelining {along.held.pipelining}" in title
            text = text_of(app)
            assert "sample now" in text
            assert "The sample gave 1.90 Gbit/s" in text
            assert f"answer: {alike.levels.concurrency}" in text
            await pilot.press("down")
            await pilot.pause()
        assert "no weight and nothing is drawn" in text_of(app)
        assert slices_shown(app) == []
        assert drawn_levels(app) == []
        assert "left out: no polynomial fits it" in flat(words(app, "#group"))


@pytest.mark.asyncio
async def test_small_terminal_shows_the_table_or_the_chart(
    new_app: NewApp, alike: Evidence
) -> None:
    app = new_app()
    async with app.run_test(size=SMALL) as pilot:
        await opened(app, pilot, alike)
        table = app.screen.query_one(EvidenceTable)
        assert table.display
        assert slices_shown(app) == []
        await pilot.press("enter")
        await pilot.pause()
        assert not table.display
        assert slices_shown(app) == ["concurrency"]
        await pilot.press("3")
        await pilot.pause()
        assert slices_shown(app) == ["pipelining"]
        assert "files requested ahead" in text_of(app)
        first = words(app, "#group")
        await pilot.press("down")
        await pilot.pause()
        assert words(app, "#group") != first
        assert slices_shown(app) == ["pipelining"]
        await pilot.press("down", "down")
        await pilot.pause()
        assert "nothing is drawn" in text_of(app)
        await pilot.press("escape")
        await pilot.pause()
        assert table.display
        assert table.has_focus
        assert table.cursor_row == 2
        await pilot.press("escape")
        await pilot.pause()
        assert shown(app) is HomeScreen


@pytest.mark.asyncio
async def test_large_terminal_shows_all_levels_and_resizing_keeps_the_group(
    new_app: NewApp, alike: Evidence
) -> None:
    app = new_app()
    async with app.run_test(size=LARGE) as pilot:
        await opened(app, pilot, alike)
        assert slices_shown(app) == ["concurrency", "parallelism", "pipelining"]
        await pilot.press("down")
        chosen = words(app, "#group")
        for size, levels in ((SMALL, []), (USUAL, ["concurrency"]), (LARGE, None)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            await pilot.pause()
            assert words(app, "#group") == chosen
            assert levels is None or slices_shown(app) == levels


@pytest.mark.asyncio
@SIZES
async def test_a_click_on_a_level_does_what_its_key_does(
    new_app: NewApp, alike: Evidence, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot, alike)
        assert words(app, "#levels") == "1 concurrency   2 parallelism   3 pipelining"
        await pilot.click("#levels", offset=(20, 0))
        await pilot.pause()
        assert slices_shown(app) == ["parallelism"]
        assert drawn_levels(app) == ["parallelism"]


@pytest.mark.asyncio
@SIZES
async def test_group_with_one_slice(new_app: NewApp, size: tuple[int, int]) -> None:
    one_level = [
        PastTransfer(
            conditions=WAN,
            levels=Levels(concurrency=concurrency, parallelism=4),
            throughput_bps=1e9 * (1 + concurrency / 8),
            when_s=NOON_S,
        )
        for concurrency in (1, 2, 4, 8, 16, 32) * 4
    ]
    evidence = found(one_level)
    assert [one.level for one in evidence.groups[0].slices] == ["concurrency"]
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot, evidence)
        await pilot.press("2")
        await pilot.pause()
        assert "measured with one parallelism only" in notices(app)
        await pilot.press("enter")
        await pilot.pause()
        assert slices_shown(app) == ["concurrency"]


@pytest.mark.asyncio
async def test_level_that_a_group_lacks_is_kept_for_the_others(
    new_app: NewApp, alike: Evidence
) -> None:
    quiet, busy = alike.groups
    lacking = msgspec.structs.replace(busy, slices=busy.slices[:1])
    evidence = msgspec.structs.replace(alike, groups=[quiet, lacking])
    app = new_app()
    async with app.run_test(size=USUAL) as pilot:
        await opened(app, pilot, evidence)
        for keys, level in (("2", "parallelism"), ("down", "concurrency"), ("up", "parallelism")):
            await pilot.press(keys)
            await pilot.pause()
            assert slices_shown(app) == [level]


@pytest.mark.asyncio
@SIZES
async def test_without_a_sample(new_app: NewApp, size: tuple[int, int]) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot, found(QUIET + BUSY, None))
        text = text_of(app)
        assert "No sample was taken" in text
        assert "50%" in text
        assert "sample " not in text.split("  path ")[1].splitlines()[0]
        await pilot.press("enter")
        await pilot.pause()
        assert "sample now" not in text_of(app)
        assert "answer:" in text_of(app)


@pytest.mark.asyncio
@SIZES
async def test_without_similar_transfers_the_worth_is_all(
    new_app: NewApp, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        evidence = found([])
        await opened(app, pilot, evidence)
        text = flat(text_of(app))
        assert flat(evidence.worth) in text
        assert "there is no surface to show" in text
        assert not app.screen.query_one(EvidenceTable).display
        await pilot.press("1", "down", "enter", "escape")
        await pilot.pause()
        assert "there is no surface to show" in notices(app)
        assert shown(app) is HomeScreen


@pytest.mark.asyncio
@SIZES
async def test_thirty_groups_can_be_walked_through(new_app: NewApp, size: tuple[int, int]) -> None:
    past = [
        one
        for day in range(30)
        for one in sweep(hill((8, 4, 2), 8e9), when_s=NOON_S + 2 * day * DAY_S, grid=(1, 4, 16))
    ]
    evidence = found(past)
    assert len(evidence.groups) == 30
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot, evidence)
        assert row_count(app, "#groups") == 30
        await pilot.press("ctrl+end")
        await pilot.press("1")
        await pilot.pause()
        assert "Only the 6 groups with the most weight are drawn" in notices(app)
        table = app.screen.query_one(EvidenceTable)
        assert table.cursor_row == 29
        assert table.region.bottom <= app.screen.query_one("#levels").region.y
        began_s = evidence.groups[29].began_s or 0.0
        assert datetime.fromtimestamp(began_s, UTC).date().isoformat() in text_of(app)


@pytest.mark.asyncio
@pytest.mark.parametrize("size", [SMALL, USUAL, LARGE])
async def test_long_names_with_brackets_are_taken_as_they_are(
    new_app: NewApp, size: tuple[int, int]
) -> None:
    network = f"[b]dtn02.{'a-long-name.' * 4}org->dtn[1].{'far-away.' * 4}edu[/nothing]"
    past = [msgspec.structs.replace(one, conditions=on(network)) for one in QUIET]
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot, found(past + scattered(9)))
        assert network in words(app, "#group")
        assert "[b]dtn02" in text_of(app)
        assert app.screen.query_one(EvidenceTable).max_scroll_x == 0
        await pilot.press("enter", "down")
        await pilot.pause()
        assert shown(app) is EvidenceScreen


@pytest.mark.asyncio
async def test_news_are_shown_where_they_come_while_one_looks(
    new_app: NewApp, alike: Evidence
) -> None:
    app = new_app()
    async with app.run_test(size=USUAL) as pilot:
        screen = await opened(app, pilot, found(QUIET))
        assert row_count(app, "#groups") == 1
        screen._model.apply(ev.EvidenceFound(at_s=500, stage=f"{TOOL} 1", evidence=alike))
        await wait_until(pilot, lambda: row_count(app, "#groups") == 3)


@pytest.mark.asyncio
async def test_searches_of_one_session_are_shown_in_turn(new_app: NewApp, alike: Evidence) -> None:
    app = new_app()
    async with app.run_test(size=USUAL) as pilot:
        await opened(app, pilot, alike, found(QUIET))
        assert f"Search {TOOL} 2" in text_of(app)
        assert row_count(app, "#groups") == 1
        await pilot.press("n")
        await pilot.pause()
        assert f"Search {TOOL} 1" in text_of(app)
        assert row_count(app, "#groups") == 3


@pytest.mark.asyncio
async def test_one_search_has_no_next(new_app: NewApp, alike: Evidence) -> None:
    app = new_app()
    async with app.run_test(size=USUAL) as pilot:
        await opened(app, pilot, alike)
        await pilot.press("n")
        await pilot.pause()
        assert "there is no other" in notices(app)


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        (some_events(), "spsa, does not consult past transfers: enter harp"),
        (until(a_session(), TOOL, 1), "after the sample"),
        (a_session(), "no sample succeeded"),
        ([], "this session does not consult"),
    ],
)
def test_why_there_is_none(events: list[Any], reason: str) -> None:
    assert reason in why_no_evidence(SessionModel(events))


@pytest.mark.asyncio
@SIZES
async def test_without_evidence_the_ways_there_say_why(
    new_app: NewApp, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.go("profiling")
        await pilot.pause()
        await pilot.press("p")
        assert "Nothing is being measured" in notices(app)
        app.session = Recorded(some_events())
        await pilot.press("p")
        await pilot.pause()
        assert "does not consult past transfers: enter harp" in notices(app)
        assert shown(app) is ProfilingScreen
        app.open(ComparisonScreen(SessionModel(some_events())))
        await pilot.pause()
        assert not app.screen.query("#past-transfers")
        await pilot.press("p")
        await pilot.pause()
        assert shown(app) is ComparisonScreen


@pytest.mark.asyncio
@pytest.mark.parametrize("page", [ComparisonScreen, AdviceScreen])
async def test_outcome_says_that_it_goes_by_past_transfers(
    new_app: NewApp, alike: Evidence, page: type[ComparisonScreen] | type[AdviceScreen]
) -> None:
    app = new_app()
    async with app.run_test(size=SMALL) as pilot:
        app.open(page(SessionModel(a_session(alike))))
        await pilot.pause()
        assert "The search used 648 of 648 past transfers: p shows" in text_of(app)
        await pilot.press("p")
        await pilot.pause()
        assert shown(app) is EvidenceScreen
        await pilot.press("escape")
        await pilot.pause()
        assert shown(app) is page


@pytest.mark.asyncio
@SIZES
async def test_stored_session_shows_what_it_went_by(
    new_app: NewApp, store: Store, alike: Evidence, size: tuple[int, int]
) -> None:
    keep(store, SESSION, 1.7e9, 4e8, PAIR)
    log = store.event_log(PAIR, SESSION)
    for event in a_session(alike):
        log(event)
    log.close()
    [digest] = store.sessions(PAIR)
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.open(SessionScreen(digest))
        await settle(pilot)
        await pilot.press("home")
        commands = [one.title for one in app.get_system_commands(app.screen)]
        assert "Past transfers" in commands
        await pilot.press("p")
        await pilot.pause()
        assert shown(app) is EvidenceScreen
        assert row_count(app, "#groups") == 3
        await pilot.press("escape")
        await pilot.pause()
        assert shown(app) is SessionScreen


@pytest.mark.asyncio
@SIZES
async def test_without_colours_the_answer_is_shown_by_marks(
    new_app: NewApp, alike: Evidence, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot, alike)
        await pilot.press("enter")
        await pilot.pause()
        text = text_of(app)
        assert all(
            words in text
            for words in (
                *("── fitted", "● measured then", "sample now", "╎"),
                f"answer: {alike.levels.concurrency}",
            )
        )


@pytest.mark.asyncio
async def test_ascii_has_no_blocks(new_app: NewApp, alike: Evidence) -> None:
    app = new_app(drawing="ascii")
    async with app.run_test(size=USUAL) as pilot:
        await opened(app, pilot, alike)
        text = text_of(app)
        assert "67% #######" in text
        assert not set("█●│╎╌⣀⠤") & set(text)
        assert f"answer: {alike.levels.concurrency}" in text


@pytest.mark.parametrize("width", range(78, 200, 11))
@pytest.mark.parametrize("name", ["", "lan", "a-host.far.away.example.org->another[1].example.edu"])
def test_columns_fit(alike: Evidence, width: int, name: str) -> None:
    named = msgspec.structs.replace(
        alike,
        groups=[msgspec.structs.replace(one, conditions=on(name)) for one in alike.groups],
    )
    assert sum(column.width + 2 for column in columns_of(named, width)) <= width


def _as_high(group: SimilarGroup, factor: float) -> SimilarGroup:
    slices = [
        msgspec.structs.replace(
            one,
            fitted=[(value, rate * factor) for value, rate in one.fitted],
            measured=[(value, rate * factor) for value, rate in one.measured],
        )
        for one in group.slices
    ]
    return msgspec.structs.replace(group, slices=slices)


def test_groups_share_an_axis_unless_one_would_lie_flat(alike: Evidence) -> None:
    high, low = alike.groups[1], _as_high(alike.groups[1], 0.5)
    both = msgspec.structs.replace(alike, groups=[high, low])
    assert surface_top_bps(both, low) == surface_top_bps(both, high)
    flat = _as_high(high, 0.01)
    apart = msgspec.structs.replace(alike, groups=[high, flat])
    assert surface_top_bps(apart, flat) < 0.05 * surface_top_bps(apart, high)


@pytest.mark.asyncio
async def test_curve_below_nothing_is_drawn_at_nothing(new_app: NewApp, alike: Evidence) -> None:
    below = _as_high(alike.groups[0], 1.0)
    along = msgspec.structs.replace(below.slices[0], fitted=[(1.0, -1e9), (32.0, 2e9)])
    group = msgspec.structs.replace(below, slices=[along])
    app = new_app()
    async with app.run_test(size=USUAL) as pilot:
        await opened(app, pilot, msgspec.structs.replace(alike, groups=[group]))
        curve = chart_shown(app).picture.series[0]
        assert list(curve.ys) == [0.0, 2e9]
        assert list(curve.xs) == [0.0, math.log2(32)]
