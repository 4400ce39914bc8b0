"""The screens of a session that profiles a tool from disk to disk."""

import re
import statistics
from typing import Any

import msgspec
import pytest
from textual.pilot import Pilot

from advisor.domain import orders as o
from advisor.domain.advice import Composition, Subsystem
from advisor.domain.endpoints import Pair
from advisor.domain.file_io import TOOL_IN_MEMORY
from advisor.domain.records import AdviceRecord, SessionRecord
from advisor.store.history import Store
from advisor.testing.samples import a_path
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.screens.advice import AdviceScreen
from advisor.tui.features.advising.screens.comparison import ComparisonScreen, compared
from advisor.tui.features.advising.screens.explanation import explain
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.widgets.boxes import Box, boxes_of
from advisor.tui.features.advising.widgets.command_card import CommandCard
from advisor.tui.features.advising.widgets.composition_bars import CompositionBars, composition_bars
from advisor.tui.features.advising.widgets.flow_boxes import FlowBoxes
from advisor.tui.features.advising.widgets.flow_lines import FlowLines
from advisor.tui.features.advising.widgets.ranking import ranked
from advisor.tui.features.advising.widgets.session_view import SESSION_PANELS, SessionView
from advisor.tui.features.history.screens.session import SessionScreen
from advisor.tui.kit.charts.chart import Chart
from advisor.tui.kit.charts.interval_bars import Bar, IntervalBars
from advisor.tui.kit.dialogs.jump import JumpScreen

from .conftest import NewApp
from .disk_to_disk import (
    BEST,
    COMPOSITION,
    TOOL,
    a_plan,
    an_advice,
    events,
    rates_by_flows,
)
from .disk_to_disk import until as events_until
from .driving import until, words
from .test_profiling import SIZES, shown, text_of


def searching() -> list[Any]:
    return events_until(events(), TOOL, 45)


async def drawn(pilot: Pilot[int], app: AdvisorApp) -> str:
    """The screen after all panels had their turn."""
    await until(pilot, lambda: app.screen.query(SessionView))
    model = app.session.model if app.session else None
    assert model
    app.screen.query_one(SessionView).show(model)
    await pilot.pause()
    return text_of(app)


def test_a_box_is_quartiles_and_whiskers_without_what_lies_far_out() -> None:
    box = Box(4, (10.0, 40.0, 30.0, 20.0, 1000.0))
    assert box.median_bps == 30
    assert box.quartiles_bps == (20, 40)
    # 1.5 box heights of 20 reach from -10 to 70.
    assert box.whiskers_bps == (10, 40)


def test_two_probes_are_no_box() -> None:
    box = Box(4, (10.0, 20.0))
    assert (box.median_bps, box.quartiles_bps, box.whiskers_bps) == (15, None, None)


def test_there_is_a_box_for_each_number_of_flows_over_all_its_probes() -> None:
    recorded = events()
    boxes = boxes_of(SessionModel(recorded), TOOL)
    assert {box.at_once: list(box.rates_bps) for box in boxes} == rates_by_flows(recorded)
    assert [box.at_once for box in boxes] == [1, 2, 4, 8, 16, 32, 64]
    # 2 × 4, 8 × 1 and 1 × 8 files and streams are eight flows each.
    assert len(next(box for box in boxes if box.at_once == 8).rates_bps) == 15


def test_boxes_of_a_disk_are_by_threads() -> None:
    boxes = boxes_of(SessionModel(events()), "source disk")
    assert [(box.at_once, max(box.rates_bps)) for box in boxes] == [
        (1, 3.1e9),
        (2, 5e9),
        (4, 8.2e9),
        (8, 8e9),
    ]


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_the_search_of_a_tool_is_seen_as_map_and_boxes(
    new_app: NewApp, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        await shown(app, pilot, searching())
        text = await drawn(pilot, app)
        panels = {p.id for p in app.screen.query(".panel") if p.region.area}
        if size == (80, 24):
            assert panels == {"throughput"}
            await pilot.press("5")
            assert f"{TOOL} by flows" in text_of(app)
            await pilot.press("3")
            await pilot.pause()
            text = text_of(app)
        else:
            assert panels >= set(SESSION_PANELS)
            assert f"{TOOL} by flows" in text
            assert "└" not in text  # no panel is cut off by another row
        assert f"{TOOL}: streams × files (log)" in text
        assert "↑ streams each   → files at a time" in text
        assert ("map-other" in panels) == (size == (200, 60))
        if size == (200, 60):
            assert "destination disk: request × threads (log)" in text
            assert "↑ request   → threads" in text


@pytest.mark.asyncio
@pytest.mark.parametrize("drawing", ["braille", "block", "ascii"])
async def test_boxes_are_drawn_in_every_mode(new_app: NewApp, drawing: str) -> None:
    app = new_app(drawing=drawing)
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, searching())
        await pilot.press("5")
        await pilot.pause()
        boxes = app.screen.query_one(FlowBoxes)
        rows = text_of(app).splitlines()[boxes.region.y : boxes.region.bottom]
        inside = "".join(row[12:-4] for row in rows[3:-4])
        probe, median = ("o", "-") if drawing == "ascii" else ("○", "─")
        assert probe in inside
        assert median in inside
        outline = {"braille": range(0x2801, 0x2900), "block": range(0x2580, 0x25A0)}
        if drawing == "ascii":
            assert "*" in inside
            assert "".join(rows).isascii()
        else:
            assert sum(ord(c) in outline[drawing] for c in inside) > 20


@pytest.mark.asyncio
async def test_boxes_say_themselves_in_words(new_app: NewApp) -> None:
    app = new_app()
    recorded = searching()
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, recorded)
        await drawn(pilot, app)
        said = app.screen.query_one(FlowBoxes).HELP.plain
        rates = rates_by_flows(recorded)[1]
        median = statistics.median(rates) / 1e6
        assert f"1: {len(rates)} probes, median {median:.0f} Mbit/s" in said
        app.screen.query_one(FlowBoxes).focus()
        await pilot.press("f1")
        await until(pilot, lambda: "the median" in text_of(app))
        await pilot.press("escape")
        boxes = app.screen.query_one(FlowBoxes)
        assert boxes.title == f"{TOOL} by flows"
        await pilot.press("ctrl+o")
        await until(pilot, lambda: isinstance(app.screen, JumpScreen))
        assert boxes.region.y in {one.region.y for one in app.screen.query(".letter")}


@pytest.mark.asyncio
async def test_a_disk_has_an_axis_of_its_own(new_app: NewApp) -> None:
    app = new_app()
    recorded = events()
    disk = events_until(recorded, "source disk", 6)
    async with app.run_test(size=(120, 40)) as pilot:
        session = await shown(app, pilot, disk)
        text = await drawn(pilot, app)
        chart = app.screen.query_one("#throughput", Chart)
        assert "source disk by threads" in text
        assert "source disk: " in text
        assert chart.title == "Probes: source disk"
        assert "from 0 to 5.81 Gbit/s" in chart.picture.summary
        assert "TCP" not in chart.picture.summary
        for event in recorded[len(disk) : len(searching())]:
            session.model.apply(event)
        await drawn(pilot, app)
        assert chart.title == "Probes"
        assert "from 0 to 1.26 Gbit/s" in chart.picture.summary
        assert "Line: source, 8.20 Gbit/s" in chart.picture.summary
        assert "TCP alone: 3 values" in chart.picture.summary


@pytest.mark.asyncio
async def test_a_disk_that_was_not_probed_has_no_panels(new_app: NewApp) -> None:
    app = new_app()
    recorded = [*events_until(events(), "destination disk", 0)[:-3]]
    assert recorded[-1].stage == "destination disk"
    async with app.run_test(size=(120, 40)) as pilot:
        await shown(app, pilot, recorded)
        text = await drawn(pilot, app)
        assert "source disk: " in text
        assert "source disk by threads" in text


@pytest.mark.asyncio
async def test_a_tool_s_panels_come_when_its_plan_is_reported(new_app: NewApp) -> None:
    app = new_app()
    recorded = searching()
    async with app.run_test(size=(120, 40)) as pilot:
        session = await shown(app, pilot, recorded[:3])
        await drawn(pilot, app)
        assert not app.screen.query_one("#boxes").display
        for event in recorded[3:]:
            session.model.apply(event)
        await drawn(pilot, app)
        assert app.screen.query_one("#boxes").region.area


@pytest.mark.asyncio
async def test_maps_of_all_that_was_tried_in_turn(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(app, pilot, searching())
        await pilot.press("3")
        for subject in ("destination disk", "source disk", "TCP", TOOL, "destination disk"):
            await pilot.press("u")
            await pilot.pause()
            assert f"─ {subject}: " in text_of(app)


@pytest.mark.asyncio
async def test_a_disk_can_be_skipped_and_the_default_cannot(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        session = await shown(app, pilot, events_until(events(), "source disk", 2))
        await pilot.press("s")
        assert session.orders == [o.Skip(stage="source disk")]
        app.go("home")
        session = await shown(app, pilot, events_until(events(), "baseline", 0))
        await pilot.press("s")
        assert session.orders == []


def test_the_screen_in_plain_words_says_what_happens_to_files() -> None:
    said = explain(SessionModel(searching()))
    assert "not touched" not in said
    assert "part of your files from dtn1 to dtn2 with globus-url-copy" in said
    assert "/data/.advisor-7f3a" in said
    assert "read at the source" in said
    assert "hollow for globus-url-copy" in said


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_the_advice_shows_disks_and_network_as_a_picture(
    new_app: NewApp, size: tuple[int, int]
) -> None:
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.open(AdviceScreen(SessionModel(events())))
        await until(pilot, lambda: app.screen.query(CompositionBars))
        await pilot.pause(0.3)
        # The headline is in view, although a card below it has the focus.
        assert isinstance(app.focused, CommandCard)
        assert "441 Mbit/s (420–462)" in text_of(app)
        facts = words(app, "#facts")
        assert "from disk to disk" in facts
        assert "no disk" not in facts
        assert "The network is the bottleneck" in facts
        assert "1.5× the tool's default" in facts
        assert "start-up" not in facts
        picture = app.screen.query_one(CompositionBars).render().plain.splitlines()
        mark, fill, beyond = "▶", "█", "»"
        rows = {row[2:].split("  ")[0]: row for row in picture[1:]}
        [limiting] = [row for row in picture if row.startswith(f"{mark} ")]
        assert limiting == rows["Network"]
        assert re.search(r"Network +16 streams.* 490 .* bottleneck$", limiting)
        # 2.5 times 490 Mbit/s is the most that an axis to 1.5 Gbit/s has to hold.
        assert rows["Source disk"].rstrip().endswith(fill + beyond)
        assert rows["Together at most"].count("▒") == limiting.count(fill)
        assert rows["Measured together"].count(fill) < limiting.count(fill)
        assert rows["Destination disk"].count(fill) > limiting.count(fill)
        assert rows["Measured together"].endswith("90 % of that")
        assert rows["Together at most"].endswith("the least of them")
        lines = app.screen.query_one("#flow-lines", Chart).picture.summary
        assert "network: 3 values, 120 Mbit/s to 490 Mbit/s" in lines
        assert "destination disk: 3 values" in lines
        assert "together, median of probes: 7 values" in lines
        assert "Line: source disk, at best, 8.20 Gbit/s" in lines


def test_what_lets_the_least_pass_is_marked_wherever_it_is() -> None:
    slow = [msgspec.structs.replace(s, throughput_bps=2e8) for s in COMPOSITION.subsystems[2:]]
    composition = Composition(
        subsystems=[*COMPOSITION.subsystems[:2], *slow], predicted_bps=2e8, joint_bps=1e8
    )
    bars = list(composition_bars(an_advice(composition=composition), composition))
    assert [bar.name for bar in bars if bar.kind == "limit"] == ["Destination disk"]
    assert [bar.value_bps for bar in bars] == [8.2e9, 490e6, 2e8, 2e8, 1e8]
    assert [bar.verdict for bar in bars[2:]] == ["bottleneck", "the least of them", "50 % of that"]


def test_the_tool_itself_is_a_bar_of_its_own_and_may_be_the_bottleneck() -> None:
    tool = Subsystem(what=TOOL_IN_MEMORY, throughput_bps=300e6, setting=BEST, by_flows={16: 300e6})
    composition = msgspec.structs.replace(
        COMPOSITION, subsystems=[*COMPOSITION.subsystems, tool], predicted_bps=300e6
    )
    bars = list(composition_bars(an_advice(composition=composition), composition))
    assert len(bars) == 6
    [limit] = [bar for bar in bars if bar.kind == "limit"]
    assert (limit.name, limit.verdict) == ("Tool memory to memory", "bottleneck")


def test_without_several_numbers_of_flows_there_are_no_lines() -> None:
    alone = [msgspec.structs.replace(s, by_flows={4: 1e9}) for s in COMPOSITION.subsystems]
    composition = msgspec.structs.replace(COMPOSITION, subsystems=alone)
    model = SessionModel([an_advice(composition=composition)])
    assert FlowLines(model, composition).series == []


def test_bars_in_their_order_are_not_sorted_and_end_in_an_arrow_beyond_the_axis() -> None:
    bars = [
        Bar(name="a", detail="", value_bps=1e9),
        Bar(name="b", detail="", value_bps=5e9),
    ]
    assert [bar.name for bar in IntervalBars(bars)._bars] == ["b", "a"]
    assert [bar.name for bar in IntervalBars(bars, best_first=False)._bars] == ["a", "b"]


@pytest.mark.asyncio
async def test_the_comparison_leaves_disks_out_and_says_what_they_let_pass(
    new_app: NewApp,
) -> None:
    model = SessionModel(events())
    names = [bar.name for bar in compared(model)]
    assert "Advised" in names
    assert "Default" in names
    assert not any("disk" in name for name in names)
    assert "TCP alone" in names
    # One part's rate is not that of all files.
    assert len(names) == 3
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.open(ComparisonScreen(model))
        await until(pilot, lambda: "together at most 490 Mbit/s" in words(app, "#composition"))
        assert "was not measured" not in text_of(app)


@pytest.mark.asyncio
@pytest.mark.parametrize("size", SIZES)
async def test_a_past_session_says_it_and_shows_the_picture(
    new_app: NewApp, store: Store, size: tuple[int, int]
) -> None:
    pair = Pair("dtn1", "dtn2")
    advice = an_advice()
    store.append(
        SessionRecord(
            session=advice.session, pair=pair, recorded_s=1.6e9, request={}, path=a_path()
        )
    )
    store.append(AdviceRecord(pair=pair, recorded_s=1.6e9 + 400, advice=advice))
    (session,) = store.sessions()
    app = new_app()
    async with app.run_test(size=size) as pilot:
        app.open(SessionScreen(session))
        await until(pilot, lambda: "the network is the bottleneck" in words(app, "#about"))
        await pilot.press("v")
        await until(pilot, lambda: app.screen.query(CompositionBars))


@pytest.mark.parametrize("keep", [False, True])
def test_a_story_knows_its_files(keep: bool) -> None:
    assert SessionModel(events(keep=keep)).files == a_plan(keep=keep)
    assert SessionModel(events()[:3]).files is None


def test_only_what_is_comparable_is_ranked() -> None:
    tool = ranked(SessionModel(searching()))
    assert {row.subject for row in tool} == {TOOL}
    disk = ranked(SessionModel(events_until(events(), "source disk", 6)))
    assert {row.subject for row in disk} == {"source disk"}
