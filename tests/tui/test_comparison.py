"""The comparison, and the bars it is drawn with."""

import re
from typing import Any

import msgspec
import pytest
from textual.app import App

from advisor.domain import events as ev
from advisor.domain.advice import Command, Contender, Estimate, Limit
from advisor.domain.endpoints import Pair
from advisor.domain.space import Setting
from advisor.testing.samples import a_path, a_space, failed, measured
from advisor.tui.features.advising.outcome_words import brief_setting, ratio_words, verdict_words
from advisor.tui.features.advising.screens.advice import AdviceScreen
from advisor.tui.features.advising.screens.comparison import (
    ComparisonScreen,
    compared,
    reasons_in_words,
)
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.home import HomeScreen
from advisor.tui.kit.charts.bar_scale import BarScale, axis_end
from advisor.tui.kit.charts.interval_bars import Bar, IntervalBars
from advisor.tui.kit.charts.theme_style import theme_style
from advisor.tui.kit.times import age_words

from .conftest import NewApp
from .driving import words

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
    note="Put the real path in. ssh starts the server.",
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
    notices = {
        "ordinal": ordinal,
        "stage": transport,
        "purpose": "baseline" if setting is DEFAULT else "search",
        "subject": transport,
        "setting": setting,
        "label": "default" if setting is DEFAULT else "y+",
    }
    result = measured(rate_bps) if rate_bps else failed()
    return [
        ev.ProbeStarted(at_s=4.0 * ordinal, **notices),
        ev.ProbeEnded(at_s=4.0 * ordinal + 4.0, result=result, remaining_s=0.0, **notices),
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


def notices(app: App[int]) -> str:
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
    assert bars["Advised"].interval_bps == (8.5e9, 9.5e9)
    assert bars["Advised"].kind == "advised"
    assert bars["Untuned"].interval_bps == (2.5e9, 3.5e9)
    assert bars["History"].value_bps == 5.0e9
    assert bars["History"].verdict == "1 d old, 3 probes"
    assert bars["Best UDT"].verdict == "one probe"
    assert bars["Best UDT"].colour == "orange"
    # The best single probes of TCP and of the default are contenders.
    assert len(bars) == 4


def test_before_the_advice_the_best_probes_stand_alone() -> None:
    bars = compared(SessionModel(some_events()))
    assert {bar.name for bar in bars} == {"Untuned", "Best TCP", "Best UDT", "History"}
    assert all(bar.interval_bps is None for bar in bars)


def test_a_stored_result_that_is_taken_is_the_advised_row() -> None:
    stored: Setting = {"streams": 4, "buffer_bytes": 2**20}
    model = SessionModel(
        some_events(an_advice(setting=stored, contenders=[], basis="history", gain=None))
    )
    [advised] = [bar for bar in compared(model) if bar.kind == "advised"]
    assert (advised.name, advised.value_bps) == ("Advised", 5.0e9)


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (Estimate(0.98, (0.9, 1.05)), "no clear difference"),
        (Estimate(0.87, (0.85, 0.89)), "13 % less"),
        (Estimate(0.997, (0.996, 0.998)), "under 1 % less"),
        (Estimate(0.49, (0.48, 0.5)), "half"),
        (Estimate(0.4, (0.38, 0.42)), "60 % less"),
        (Estimate(0.031, (0.03, 0.032)), "1/32"),
        (Estimate(1.04, (1.01, 1.07)), "4 % more"),
    ],
)
def test_verdicts_are_words(ratio: Estimate, words: str) -> None:
    assert ratio_words(ratio) == words


def test_a_verdict_is_that_of_the_session_else_from_the_intervals() -> None:
    default, best = an_advice().contenders
    assert verdict_words(best, best) == "–"
    assert verdict_words(default, best) == "67 % less"
    notices = msgspec.structs.replace(default, ratio=Estimate(0.5, (0.2, 1.2)))
    assert verdict_words(notices, best) == "no clear difference"
    # About as fast, and the intervals overlap.
    near = msgspec.structs.replace(default, throughput=Estimate(8.9e9, (8.4e9, 9.4e9)))
    assert verdict_words(near, best) == "no clear difference"


def test_a_setting_in_brief() -> None:
    assert brief_setting("tcp", TCP) == "TCP 8×4MiB"
    assert brief_setting("tcp", DEFAULT) == "TCP 1"
    assert brief_setting("udt", UDT) == "UDT 16MiB"


def test_ages_are_in_whole_units() -> None:
    assert [age_words(age_s) for age_s in (0.2, 6.16, 90.0, 86400 * 3.5)] == [
        "1 s",
        "6 s",
        "1 min",
        "3 d",
    ]


def test_each_reason_stands_once_and_so_does_each_other_transport() -> None:
    said = reasons_in_words(SessionModel(some_events(an_advice())), an_advice())
    assert len(said) == len(set(said))
    assert sum("UDT" in line for line in said) == 1
    assert any("too far behind" in line for line in said)
    stored = an_advice(reasons=["the best stored result"], basis="history")
    assert reasons_in_words(SessionModel([stored]), stored) == ["the best stored result"]
    mute = an_advice(reasons=[])
    silent = SessionModel([e for e in some_events(mute) if "udt" not in str(e)])
    assert "UDT was not measured in this session" in reasons_in_words(silent, mute)
    notices = SessionModel(some_events(mute))
    assert "UDT reached 2 Gbit/s at best" in reasons_in_words(notices, mute)


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_bars_are_from_zero_on_one_axis_the_best_first(
    new_app: NewApp, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        bars = IntervalBars(
            [
                Bar(name="half", detail="", value_bps=4e9, interval_bps=(3e9, 5e9)),
                Bar(name="whole", detail="x" * 300, brief="x", value_bps=8e9, verdict="same"),
            ]
        )
        await app.screen.query_one("#body").mount(bars)
        await pilot.pause()
        lines = str(bars.render()).split("\n")
    header, whole, half = lines
    assert "whole" in whole
    assert "half" in half
    assert whole.endswith("same")
    assert header.split()[:3] == ["Setting", "Gbit/s", "0"]
    assert header.index("Verdict") == whole.index("same")
    # Figures are right-aligned in one unit.
    assert whole.index("8.00") == half.index("4.00")
    assert all(len(line) <= size[0] for line in lines)
    fill, point, left = "█", "●", "├"
    start = header.index(" 0 ") + 1
    assert whole.index(fill) == start
    # The axis ends at 1.15 × 8 Gbit/s.
    span = whole.index("same") - 3 - start
    assert (half.index(point) - start) / span == pytest.approx(4 / 9.2, abs=0.02)
    assert (half.index(left) - start) / span == pytest.approx(3 / 9.2, abs=0.02)
    assert (whole.rindex(fill) - start) / span == pytest.approx(8 / 9.2, abs=0.02)
    for tick in re.finditer(r"(?<= )\d+(?= )", header[start:]):
        assert tick.start() / span == pytest.approx(int(tick[0]) / 9.2, abs=0.02)


@pytest.mark.parametrize("columns", [16, 40, 120])
@pytest.mark.parametrize("longest_bps", [1.0, 30.7e6, 987e6, 9.99e9, 1e12])
def test_an_axis_has_round_ticks_within_it(columns: int, longest_bps: float) -> None:
    end_bps = axis_end([longest_bps], [])
    assert end_bps == pytest.approx(1.15 * longest_bps)
    scale = BarScale(longest_bps, end_bps, columns)
    ticks = scale.ticks()
    assert ticks[0] == (0, "0")
    assert len(ticks) >= 2
    assert all(0 <= column < columns for column, _ in ticks)
    assert scale.figure(longest_bps / 1e5).startswith("<")


def test_an_interval_far_beyond_all_bars_does_not_flatten_them() -> None:
    assert axis_end([1e9], [1.3e9]) == 1.3e9
    assert axis_end([1e9], [9e9]) == 1.5e9


@pytest.mark.parametrize("theme", ["textual-light", "textual-dark", "ansi-dark"])
@pytest.mark.asyncio
async def test_rows_are_in_the_colours_of_their_roles(new_app: NewApp, theme: str) -> None:
    app = new_app(theme=theme)
    async with app.run_test(size=(120, 40)) as pilot:
        app.open(ComparisonScreen(SessionModel(some_events(an_advice()))))
        await pilot.pause()
        text = app.screen.query_one(IntervalBars).render()
        roles = app.theme_variables
        used = {str(span.style) for span in text.spans}
    for role in ("advised", "orange", "default"):
        assert any(theme_style(roles, role) in style for style in used)
    # A verdict is ordinary text.
    verdict = str(text).index("67 % less")
    assert not any(
        span.start <= verdict < span.end and "#" in str(span.style) for span in text.spans
    )


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
        assert "There is no advice yet" in notices(app)


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
        assert text.index("Advised") < text.index("Untuned")
        assert text.count("a real difference [sure]") == 1
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
        assert "when the closing comparison has ended" in words(app, "#decided")
        model.apply(an_advice())
        app.open(AdviceScreen(model))
        await pilot.pause()
        await pilot.press("escape")
        await pilot.pause()
        assert "✔ TCP · 8 streams" in text_of(app)
        assert "3× untuned" in text_of(app)
