"""The advice on its screen."""

import re
from typing import Any

import pytest

from advisor.domain.advice import AtOnce, ConnectionShare, Estimate, Limit
from advisor.domain.connection import Connection
from advisor.domain.events import GaveUp
from advisor.tui.features.advising.screens.advice import AdviceScreen, headline
from advisor.tui.features.advising.screens.comparison import contender_bars
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.widgets.command_card import CommandCard, RemedyCard
from advisor.tui.features.advising.widgets.limits_panel import LimitsPanel
from advisor.tui.features.advising.widgets.tool_lines import ToolLine
from advisor.tui.home import HomeScreen
from advisor.tui.status import session_status

from .conftest import NewApp
from .driving import settle, until
from .test_comparison import (
    COMMAND,
    SERVER,
    SIZES,
    an_advice,
    notices,
    shown,
    some_events,
    text_of,
)


def a_screen(**changes: Any) -> AdviceScreen:
    return AdviceScreen(SessionModel(some_events(an_advice(**changes))))


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_each_line_is_a_card_with_side_and_note_and_opens_with_flags(
    new_app: NewApp, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.open(a_screen())
        await pilot.pause()
        cards = list(app.screen.query(CommandCard))
        assert [card.line for card in cards] == [COMMAND.shell, SERVER.shell]
        assert "on the source" in cards[0].title
        text = text_of(app)
        assert "9 Gbit/s (8.00–10.00)" in text
        assert "8.19 TiB: 2 h 13 min + start-up" in text
        assert "! Put the real path in. …" in text
        assert "c copy" in text
        flags = re.compile(r"-p 8 +Sends each file over this many TCP connections")
        assert not flags.search(text)
        assert app.focused is cards[0]
        await pilot.press("enter")
        await pilot.pause()
        assert flags.search(text_of(app))
        assert COMMAND.note in text_of(app)
        await pilot.press("enter")
        await pilot.pause()
        assert not flags.search(text_of(app))


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_another_tool_is_one_line_until_it_is_opened(
    new_app: NewApp, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.open(a_screen())
        await pilot.pause()
        assert re.search(r"▸ other +1 line, on the destination +enter open", text_of(app))
        assert "serve [all]" not in text_of(app)
        await pilot.press("down", "enter")
        await pilot.pause()
        assert isinstance(app.focused, ToolLine)
        assert "▾ other" in text_of(app)
        assert "serve [all]" in text_of(app)
        # The focus moves to the line that is now shown.
        await pilot.press("down")
        assert app.focused is app.screen.query(CommandCard)[1]
        await pilot.press("up", "enter")
        await pilot.pause()
        assert "serve [all]" not in text_of(app)
        await pilot.press("tab")
        assert isinstance(app.focused, RemedyCard)


@pytest.mark.asyncio
async def test_only_the_focused_card_has_a_title_in_the_colour_of_the_focus(
    new_app: NewApp,
) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.open(a_screen())
        await pilot.pause()
        card = app.screen.query(CommandCard).first()
        assert "[$focus]" in str(card.border_title)
        await pilot.press("down")
        await pilot.pause()
        assert "[$focus]" not in str(card.border_title)
        app.screen.query_one(RemedyCard).focus()
        await pilot.pause()
        assert "[$focus]" in str(app.screen.query_one(LimitsPanel).border_title)


@pytest.mark.asyncio
async def test_limits_are_rows_of_one_panel_and_a_click_shows_what_lifts_one(
    new_app: NewApp,
) -> None:
    app = new_app()
    limits = [
        Limit(what="buffers are small", side="source", remedy="sysctl -w a=[1]", ceiling_bps=1e9),
        Limit(what="packets are lost", side=None, remedy="have the path checked"),
    ]
    async with app.run_test(size=(80, 24)) as pilot:
        app.open(a_screen(limits=limits))
        await pilot.pause()
        text = text_of(app)
        assert "Holding you back" in text
        assert "✗ On the source: buffers are small" in text
        assert "✗ On the path: packets are lost" in text
        # What it would allow is an estimate, and measured rates may exceed it.
        assert "at most" not in text
        assert "sysctl" not in text
        await pilot.click(RemedyCard)
        await pilot.pause()
        assert "sysctl -w a=[1]" in text_of(app)
        assert "have the path checked" not in text_of(app)
        await pilot.click(RemedyCard)
        await pilot.pause()
        assert "sysctl" not in text_of(app)


@pytest.mark.asyncio
async def test_without_a_session_it_says_what_to_do_and_refuses(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.go("advice")
        await pilot.pause()
        assert "There is no advice yet" in text_of(app)
        for key in "cst":
            await pilot.press(key)
            await pilot.pause()
            assert shown(app) is AdviceScreen
        assert "no line to copy" in notices(app)
        assert "let a session finish" in notices(app)


@pytest.mark.parametrize(
    ("gain", "word"),
    [
        (Estimate(3.0, (2.5, 3.5)), "3× untuned"),
        (Estimate(32.1, (30.9, 33.4)), "32× untuned"),
        (Estimate(1.1, (0.9, 1.3)), "no clear gain over untuned"),
        (Estimate(1.0, (1.0, 1.0)), "nothing measured beats the default"),
    ],
)
def test_the_gain_says_how_sure_it_is(gain: Estimate, word: str) -> None:
    assert word in headline(an_advice(gain=gain)).plain


def test_without_a_size_the_headline_says_where_to_enter_one() -> None:
    assert "enter a size in step What" in headline(an_advice(transfer_s=None)).plain


def test_the_rate_is_bold_and_its_interval_dim() -> None:
    shown = headline(an_advice())
    styles = {shown.plain[span.start : span.end]: str(span.style) for span in shown.spans}
    assert styles["9 Gbit/s"] == "bold $advised"
    assert styles[" (8.00–10.00)"] == "$default"


@pytest.mark.asyncio
async def test_one_rate_is_the_advised_one_in_status_headline_and_comparison(
    new_app: NewApp,
) -> None:
    model = SessionModel(some_events(an_advice()))
    [advised] = [bar for bar in contender_bars(model) if bar.kind == "advised"]
    assert advised.value_bps == an_advice().expected_bps
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.open(AdviceScreen(model))
        await pilot.pause()
        await until(pilot, lambda: text_of(app).count("9 Gbit/s") == 2)


@pytest.mark.parametrize(
    ("gain", "is_shown"), [(Estimate(3.0, (2.5, 3.5)), True), (Estimate(1.3, (0.6, 2.7)), False)]
)
def test_the_status_tells_a_gain_only_where_it_is_certain(gain: Estimate, is_shown: bool) -> None:
    status = session_status(SessionModel(some_events(an_advice(gain=gain))))
    assert any("×" in part.plain for part in status) is is_shown


@pytest.mark.asyncio
async def test_a_session_that_gave_up_says_why(new_app: NewApp) -> None:
    model = SessionModel(some_events())
    model.apply(GaveUp(at_s=9.0, message="the peer [x] is gone", exit_code=3))
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.open(AdviceScreen(model))
        await pilot.pause()
        assert "the peer [x] is gone" in text_of(app)


@pytest.mark.asyncio
async def test_a_session_that_ended_is_continued_from_its_advice(
    new_app: NewApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = new_app()
    started: list[list[str]] = []
    monkeypatch.setattr(app, "begin_session", started.append)
    async with app.run_test() as pilot:
        app.open(a_screen())
        await pilot.pause()
        await pilot.press("e")
        await pilot.pause()
        assert shown(app) is HomeScreen
    assert started[0][:5] == ["resume", "--more", "30s", "--session", an_advice().session]


@pytest.mark.asyncio
async def test_an_advice_from_history_has_nothing_to_continue(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test() as pilot:
        app.open(a_screen(basis="history"))
        await pilot.pause()
        await pilot.press("e")
        await pilot.pause()
        assert "start a new session" in notices(app)


@pytest.mark.asyncio
async def test_it_is_the_last_step_and_the_way_home(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.open(a_screen())
        await pilot.pause()
        await pilot.press("ctrl+n")
        await pilot.pause()
        assert shown(app) is AdviceScreen
        await pilot.press("ctrl+g")
        await pilot.pause()
        assert shown(app) is HomeScreen


def at_once(*, adds: bool) -> AtOnce:
    def part(number: int, alone_bps: float, beside_bps: float) -> ConnectionShare:
        return ConnectionShare(
            connection=Connection(
                source_interface=f"eth{number}", destination_interface=f"ens{number}"
            ),
            subject="tcp",
            setting={"streams": 4, "buffer_bytes": 0, "congestion": "cubic"},
            alone=Estimate(alone_bps, (alone_bps * 0.95, alone_bps * 1.05)),
            at_once=Estimate(beside_bps, (beside_bps * 0.95, beside_bps * 1.05)),
        )

    total_bps = 13.5e9 if adds else 9.0e9
    return AtOnce(
        parts=[part(1, 9.0e9, 0.667 * total_bps), part(2, 5.0e9, 0.333 * total_bps)],
        total_bps=Estimate(total_bps, (0.9 * total_bps, 1.1 * total_bps)),
        rounds=4,
        gain=Estimate(total_bps / 9.0e9, (0.98 * total_bps / 9.0e9, 1.02 * total_bps / 9.0e9)),
        adds=adds,
        settled=True,
    )


@pytest.mark.parametrize(
    ("adds", "rate", "words"),
    [
        (True, "13.5 Gbit/s", "2 connections at once; eth1 to ens1 alone: "),
        (False, "9 Gbit/s", "eth1 to ens1 alone: "),
    ],
)
@pytest.mark.asyncio
async def test_several_networks_are_shown_alone_and_at_once(
    new_app: NewApp, adds: bool, rate: str, words: str
) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.push_screen(a_screen(at_once=at_once(adds=adds)))
        await settle(pilot)
        text = text_of(app)
        assert words in text
        assert "Several networks" in text
        assert "Eth2 to ens2: alone 5 Gbit/s" in text
        assert f"All at once: {rate}, measured 4 times" in text
