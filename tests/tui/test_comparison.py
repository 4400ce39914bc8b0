"""The comparison, and the bars it is drawn with."""

from typing import Any

import pytest
from textual.app import App
from textual.widgets import Static

from advisor.domain import events as ev
from advisor.domain.advice import Command, Contender, Estimate, Limit
from advisor.domain.endpoints import Pair
from advisor.domain.space import Setting
from advisor.testing.samples import a_path, a_space, failed, measured
from advisor.tui.features.advising.screens.advice import AdviceScreen
from advisor.tui.features.advising.screens.comparison import (
    ComparisonScreen,
    compared,
    transports_in_words,
)
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.home import HomeScreen
from advisor.tui.kit.charts.interval_bars import Bar, IntervalBars

from .conftest import NewApp

PAIR = Pair("dtn1", "dtn2")
SESSION = "20261121T074920Z-d28598"
TCP: Setting = {"streams": 8, "buffer_bytes": 2**22, "congestion": "cubic"}
DEFAULT: Setting = {"streams": 1, "buffer_bytes": 0, "congestion": "cubic"}
UDT: Setting = {"block_bytes": 2**20, "buffer_bytes": 2**24}
SIZES = [(80, 24), (200, 60)]
COMMAND = Command(
    tool="globus-url-copy",
    side="source",
    argv=["globus-url-copy", "-fast", "-p", "8", "file:///SOURCE_PATH", "ftp://dtn2/D[1]"],
    shell="globus-url-copy -fast -p 8 file:///SOURCE_PATH 'ftp://dtn2/D[1]'",
    note="Put the real path in.",
)
SERVER = Command(tool="other", side="destination", argv=["serve"], shell="serve [all]")


def an_advice(**changes: Any) -> ev.AdviceGiven:
    given: dict[str, Any] = {
        "at_s": 60.0,
        "pair": PAIR,
        "subject": "tcp",
        "setting": TCP,
        "expected_bps": 9.0e9,
        "interval_bps": (8.0e9, 10.0e9),
        "default_bps": 3.0e9,
        "gain": Estimate(3.0, (2.5, 3.5)),
        "limits": [Limit(what="buffers are small", side="source", remedy="sysctl -w a=[1]")],
        "reasons": [
            "against default (TCP, 1 stream): × 3.00, a real difference [sure]",
            "UDT reached 2 Gbit/s at best: too far behind to be compared again",
        ],
        "commands": [COMMAND, SERVER],
        "contenders": [
            Contender(
                role="default",
                subject="tcp",
                setting=DEFAULT,
                throughput=Estimate(3.0e9, (2.5e9, 3.5e9)),
                probes=4,
            ),
            Contender(
                role="best",
                subject="tcp",
                setting=TCP,
                throughput=Estimate(9.0e9, (8.5e9, 9.5e9)),
                probes=5,
            ),
        ],
        "incomplete": False,
        "session": SESSION,
        "transfer_s": Estimate(8000.0, (7000.0, 9000.0)),
    }
    return ev.AdviceGiven(**(given | changes))


def a_probe(ordinal: int, transport: str, setting: Any, rate_bps: float | None) -> list[Any]:
    """Both events of a probe of four seconds that began four seconds after the one before."""
    told = {
        "ordinal": ordinal,
        "stage": transport,
        "purpose": "baseline" if setting is DEFAULT else "search",
        "subject": transport,
        "setting": setting,
        "label": "default" if setting is DEFAULT else "y+",
    }
    result = measured(rate_bps) if rate_bps else failed()
    return [
        ev.ProbeStarted(at_s=4.0 * ordinal, **told),
        ev.ProbeEnded(at_s=4.0 * ordinal + 4.0, result=result, remaining_s=0.0, **told),
    ]


def some_events(advice: ev.AdviceGiven | None = None, session: str = SESSION) -> list[Any]:
    """A session with three probes, and its advice where one is given."""
    past = ev.PastResult(
        subject="tcp",
        setting={"streams": 4, "buffer_bytes": 2**20},
        throughput_bps=5.0e9,
        spread=0.1,
        probes=3,
        age_s=86400.0,
    )
    return [
        ev.SessionStarted(at_s=0, session=session, pair=PAIR, method="spsa", seed=1, budget_s=60.0),
        ev.PathFound(at_s=0.1, path=a_path(), limits=[]),
        ev.HistoryFound(at_s=0.2, results=[past]),
        ev.StageStarted(at_s=0.3, stage="tcp", subject="tcp", budget_s=30.0, space=a_space()),
        *a_probe(1, "tcp", DEFAULT, 3.1e9),
        *a_probe(2, "tcp", TCP, 8.8e9),
        *a_probe(3, "udt", UDT, 2.0e9),
        *([advice] if advice else []),
    ]


def told(app: App[int]) -> str:
    """All that was said in passing."""
    return "\n".join(note.message for note in app._notifications)


def shown(app: App[int]) -> type:
    """Which screen is seen."""
    return type(app.screen)


def text_of(app: object) -> str:
    """All that stands on the screen, as text."""
    lines = app.screen._compositor.render_strips()  # type: ignore[attr-defined]  # for tests only
    return "\n".join("".join(segment.text for segment in strip) for strip in lines)


def test_all_that_is_known_is_compared_and_nothing_twice() -> None:
    bars = {bar.name: bar for bar in compared(SessionModel(some_events(an_advice())))}
    assert bars["Best found, advised"].interval_bps == (8.5e9, 9.5e9)
    assert bars["Best found, advised"].kind == "advised"
    assert bars["Untuned default"].interval_bps == (2.5e9, 3.5e9)
    assert bars["History, TCP"].value_bps == 5.0e9
    assert bars["Best UDT"].remark == "one probe"
    # The best single probes of TCP and of the default are contenders.
    assert len(bars) == 4


def test_before_the_advice_the_best_probes_stand_alone() -> None:
    bars = compared(SessionModel(some_events()))
    assert {bar.name for bar in bars} == {"Untuned default", "Best TCP", "Best UDT", "History, TCP"}
    assert all(bar.interval_bps is None for bar in bars)


def test_the_words_on_transports_are_those_of_the_session() -> None:
    said = "\n".join(transports_in_words(SessionModel(some_events(an_advice()))))
    assert "[b]TCP[/b]" in said
    assert "too far behind" in said
    silent = SessionModel([e for e in some_events(an_advice(reasons=[])) if "udt" not in str(e)])
    assert "UDT was not measured" in "\n".join(transports_in_words(silent))
    told = SessionModel(some_events(an_advice(reasons=[])))
    assert "UDT reached 2 Gbit/s at best" in "\n".join(transports_in_words(told))


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("drawing", ["braille", "ascii"])
async def test_bars_are_from_zero_on_one_axis_the_best_first(
    new_app: NewApp, size: tuple[int, int], drawing: str
) -> None:
    app = new_app(drawing=drawing)
    async with app.run_test(size=size) as pilot:
        bars = IntervalBars(
            [
                Bar(name="half", detail="", value_bps=4e9, interval_bps=(3e9, 5e9)),
                Bar(name="whole", detail="x" * 300, value_bps=8e9),
            ],
            drawing=drawing,
        )
        await app.screen.query_one("#body").mount(bars)
        await pilot.pause()
        lines = str(bars.render()).split("\n")
    assert "whole" in lines[0]
    assert "half" in lines[2]
    assert lines[5].lstrip("┊").startswith("0")
    assert all(len(line) <= size[0] for line in lines)
    point = lines[3].index("o" if drawing == "ascii" else "●")
    assert point / (len(lines[1]) - 1) == pytest.approx(0.5, abs=0.02)
    left = lines[3].index("[" if drawing == "ascii" else "├")
    assert left / (len(lines[1]) - 1) == pytest.approx(3 / 8, abs=0.02)
    if drawing == "ascii":
        assert all(ord(c) < 128 for line in lines[1::2] for c in line)


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_without_a_session_it_says_what_to_do(new_app: NewApp, size: tuple[int, int]) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.go("comparison")
        await pilot.pause()
        assert "nothing to compare yet" in text_of(app)
        await pilot.press("ctrl+n")
        await pilot.pause()
        assert shown(app) is ComparisonScreen
        assert "There is no advice yet" in told(app)


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_a_past_session_is_walked_on_to_its_advice_and_back(
    new_app: NewApp, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.open(ComparisonScreen(SessionModel(some_events(an_advice()))))
        await pilot.pause()
        text = text_of(app)
        assert f"Review › {SESSION}" in text
        assert text.index("Best found, advised") < text.index("Untuned default")
        reasons = str(app.screen.query_one("#reasons", Static).render())
        assert "a real difference [sure]" in reasons
        await pilot.press("ctrl+n")
        await pilot.pause()
        assert shown(app) is AdviceScreen
        await pilot.press("escape")
        await pilot.pause()
        assert shown(app) is ComparisonScreen
        await pilot.press("escape")
        await pilot.pause()
        assert shown(app) is HomeScreen


@pytest.mark.asyncio
async def test_it_grows_with_the_session(new_app: NewApp) -> None:
    model = SessionModel(some_events())
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = ComparisonScreen(model)
        app.open(screen)
        await pilot.pause()
        assert "The session is running" in text_of(app)
        assert "when the closing comparison has ended" in text_of(app)
        model.apply(an_advice())
        app.open(AdviceScreen(model))
        await pilot.pause()
        await pilot.press("escape")
        await pilot.pause()
        assert "Advised: TCP, 8 streams" in text_of(app)
