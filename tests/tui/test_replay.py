"""A stored session is opened as it was, and replayed."""

import re

import pytest
from textual.widgets import Static

from advisor.domain import events as ev
from advisor.store.history import Store
from advisor.tui.features.advising.screens.advice import AdviceScreen
from advisor.tui.features.advising.screens.comparison import ComparisonScreen
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.widgets.space_map import SpaceMap
from advisor.tui.features.advising.widgets.why_panel import WhyPanel
from advisor.tui.features.history.past_events import events_of
from advisor.tui.features.history.replay import Replay
from advisor.tui.features.history.screens.playback import playback_line
from advisor.tui.features.history.screens.review import ReviewScreen
from advisor.tui.features.history.screens.session import SessionScreen

from .conftest import NewApp
from .driving import settle
from .stored_sessions import OTHER, keep_three, opened, state_of
from .test_comparison import PAIR, SIZES, an_advice, notices, shown, some_events, text_of


@pytest.fixture
def three(store: Store) -> Store:
    keep_three(store)
    return store


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_a_session_is_opened_as_it_was_and_replayed(
    new_app: NewApp, three: Store, size: tuple[int, int]
) -> None:
    log = three.event_log(OTHER, "three")
    for event in some_events(an_advice(session="three"), session="three"):
        log(event)
    log.close()
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await opened(app, pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert shown(app) is SessionScreen
        playback = app.screen.query_one("#film", Static)
        assert "probe 3 of 3" in str(playback.render())
        assert "not stored" not in text_of(app)
        assert "paused" in str(playback.render())
        bound = app.screen.active_bindings.values()
        footer = {one.binding.description for one in bound if one.binding.show}
        assert {"Compare", "Advice", "Past transfers", "Note", "Record transfer"} <= footer
        await pilot.press("left")
        assert "probe 2 of 3" in str(playback.render())
        await pilot.press("home")
        assert "probe 0 of 3" in str(playback.render())
        await pilot.press("plus", "plus", "plus", "plus", "space")
        while "probe 3 of 3" not in str(playback.render()):
            await pilot.pause(0.1)
        await pilot.press("v")
        await pilot.pause()
        assert shown(app) is AdviceScreen
        await pilot.press("escape", "c")
        await pilot.pause()
        assert shown(app) is ComparisonScreen
        await pilot.press("escape", "escape")
        await pilot.pause()
        assert shown(app) is ReviewScreen


@pytest.mark.asyncio
async def test_a_session_without_events_is_made_from_its_records_and_says_so(
    new_app: NewApp, three: Store
) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot)
        await pilot.press("j", "enter")
        await settle(pilot)
        text = text_of(app)
        assert "Its events were not stored" in text
        assert "probe 2 of 2" in text
        await pilot.press("v")
        await pilot.pause()
        assert shown(app) is SessionScreen
        assert "gave no advice" in notices(app)


def test_records_tell_the_same_as_events_would(three: Store) -> None:
    replayed, kept = events_of(three, state_of(three, "one"))
    model = SessionModel(replayed)
    assert not kept
    assert [p.throughput_bps for p in model.probes] == [2e9, 4e9]
    assert [p.ended_s for p in model.probes] == [2.0, 7.0]
    assert model.probes[0].curve == [(1.0, 2e9), (2.0, 2e9)]
    assert model.advice
    assert model.advice.expected_bps == 4e9


def test_a_replay_goes_to_any_moment_and_back() -> None:
    events = some_events(an_advice())
    replay = Replay(events)
    assert replay.model.advice
    assert replay.length_s == 60.0
    replay.step(-1)
    assert (replay.probes_before, replay.model.is_over) == (2, False)
    # The third began in the moment in which the second ended.
    assert len(replay.model.probes) == 3
    replay.step(-5)
    assert (replay.at_s, replay.probes_before) == (0.0, 0)
    replay.step(1)
    assert [p.throughput_bps for p in replay.model.probes][:1] == [3.1e9]
    replay.step(9)
    assert replay.model.version == len(events)
    assert replay.whole().advice


def test_a_replay_plays_at_its_speed_passes_over_idle_time_and_stops_at_the_end() -> None:
    replay = Replay(some_events(an_advice()))
    assert not replay.advance(1.0)
    replay.play_or_pause()
    replay.speed = 1.0
    replay.advance(0.25)
    assert replay.at_s == 0.25
    replay.advance(0.1)
    assert replay.at_s == pytest.approx(0.35)
    # Nothing comes before the first probe in the fourth second: nobody waits for that.
    replay.advance(0.01)
    assert replay.at_s == 4.0
    for _ in range(40):
        replay.advance(10.0)
    assert replay.model.advice
    assert not replay.playing
    replay.play_or_pause()
    assert (replay.at_s, replay.playing) == (0.0, True)


def test_playback_line_says_where_it_is() -> None:
    replay = Replay(some_events(an_advice()))
    assert "❚❚ paused ████████████ 1 min of 1 min  probe 3 of 3" in playback_line(replay)
    replay.go_to(0.0)
    replay.play_or_pause()
    assert "▶ playing ░░░░░░░░░░░░ 0 s of 1 min" in playback_line(replay)


def test_a_resumed_session_is_one_film() -> None:
    first = some_events()
    again = [
        ev.SessionStarted(
            at_s=0, session="s", pair=PAIR, method="spsa", seed=1, budget_s=60.0, resumed=True
        ),
        *some_events(an_advice())[1:],
    ]
    replay = Replay([*first, *again])
    assert replay.length_s == 16.0 + 60.0
    assert replay.probes == 6
    assert replay.model.probes[-1].ended_s == 32.0


def test_nothing_at_all_is_a_film_too() -> None:
    replay = Replay([])
    replay.step(1)
    replay.play_or_pause()
    replay.advance(1.0)
    assert (replay.at_s, replay.length_s) == (0.0, 0.0)


@pytest.mark.parametrize("panel", [SpaceMap, WhyPanel])
def test_help_of_a_panel_names_no_key_that_a_replay_has_otherwise(
    panel: type[SpaceMap | WhyPanel],
) -> None:
    assert panel.HELP
    assert not re.search(r"\bkey [a-z]\b", panel.HELP)
