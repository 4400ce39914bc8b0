"""Profiles on the screens: the list, one of them, two compared, and throughput against the RTT."""

import math
import socket
from collections.abc import Callable
from pathlib import Path
from typing import cast

import msgspec
import pytest
from textual.pilot import Pilot
from textual.widgets import DataTable

from advisor.domain.endpoints import Pair
from advisor.report.rtt_profile import RttProfile, places_of, rtt_profile
from advisor.store.history import Store
from advisor.store.layout import shipped_profiles
from advisor.store.profiles import StoredProfile, reference_profiles
from advisor.tui.app import AdvisorApp
from advisor.tui.features.advising.draft import Draft
from advisor.tui.features.advising.widgets.flow_boxes import FlowBoxes
from advisor.tui.features.profiles.screens.changes import ChangesScreen
from advisor.tui.features.profiles.screens.profile import ProfileScreen
from advisor.tui.features.profiles.screens.profiles import ProfilesScreen
from advisor.tui.features.profiles.screens.rtt import RttScreen
from advisor.tui.features.profiles.widgets.rtt_chart import (
    BEST,
    RttChart,
    curve_series,
    panels_of,
    place_on_axis,
)
from advisor.tui.kit.tables.row_table import RowTable

from .conftest import NewApp
from .driving import row_count, until, words

SIZES = [(80, 24), (120, 40), (200, 60)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Nothing of the user's own, and the reference profiles."""
    return Store(tmp_path / "history", shipped_profiles())


@pytest.fixture
def references(store: Store) -> list[StoredProfile]:
    return reference_profiles(store)


@pytest.fixture(scope="module")
def against_rtt(tmp_path_factory: pytest.TempPathFactory) -> RttProfile:
    folder = tmp_path_factory.mktemp("none")
    return rtt_profile(places_of(reference_profiles(Store(folder, shipped_profiles()))))


def keep_as_own(store: Store, profiles: list[StoredProfile]) -> None:
    """The same measurements, as if this host had made them between other hosts."""
    for number, profile in enumerate(profiles):
        pair = Pair(socket.gethostname(), f"dtn{number}")
        for record in (profile.record, *profile.probes):
            store.append(msgspec.structs.replace(record, pair=pair))


@pytest.mark.asyncio
async def test_home_leads_to_the_list_and_from_there_to_one(
    new_app: NewApp, references: list[StoredProfile]
) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.press("g")
        await until(pilot, lambda: row_count(app, "ProfilesScreen RowTable") == len(references))
        table = app.screen.query_one(DataTable)
        assert "emulated, read-only" in str(table.get_row_at(0)[-1])
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ProfileScreen))
        assert "Emulated on one machine" in words(app, "#head")
        titles = [table.title for table in app.screen.query(RowTable)]
        assert any("a single maximum" in title for title in titles)
        assert len(app.screen.query(FlowBoxes)) == 5
        await pilot.press("escape")
        assert isinstance(app.screen, ProfilesScreen)


@pytest.mark.asyncio
async def test_review_leads_to_the_list(new_app: NewApp) -> None:
    app = new_app(first="review")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("p")
        await until(pilot, lambda: isinstance(app.screen, ProfilesScreen))


@pytest.mark.asyncio
async def test_two_that_are_marked_are_compared(new_app: NewApp) -> None:
    app = new_app(first="profiles")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: row_count(app, "ProfilesScreen RowTable"))
        await pilot.press("b")
        assert "mark two" in [n.message for n in app._notifications][-1]
        await pilot.press("space", "space", "b")
        await until(pilot, lambda: isinstance(app.screen, ChangesScreen))
        await until(pilot, lambda: "changed clearly" in words(app, "#summary"))
        assert row_count(app, "#changes") > 1


@pytest.mark.asyncio
async def test_the_history_is_put_at_its_rtts_and_r_shows_the_references(
    new_app: NewApp, store: Store, references: list[StoredProfile]
) -> None:
    keep_as_own(store, references[:2])
    app = new_app(first="rtt")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "this host's history" in words(app, "#of"))
        chart = app.screen.query_one(RttChart)
        assert [label for _, label in chart.picture.x_ticks] == ["0.4 ms", "11.6 ms"]
        await pilot.press("r")
        await until(pilot, lambda: "emulated paths" in words(app, "#of"))
        assert len(chart.picture.x_ticks) == len(references)
        before = chart.title
        await pilot.press("c")
        assert chart.title != before
        await pilot.press("left", "left")
        assert chart.title == BEST


@pytest.mark.asyncio
async def test_without_any_history_it_says_what_to_do(new_app: NewApp) -> None:
    app = new_app(first="rtt")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "r shows the reference profiles" in words(app, "#of"))
        await pilot.press("c")
        assert isinstance(app.screen, RttScreen)


@pytest.mark.asyncio
async def test_nothing_is_listed_without_profiles(tmp_path: Path) -> None:
    app = AdvisorApp(Store(tmp_path / "own"), Draft(), first="profiles")
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "No profile is stored" in words(app, "#nothing"))
        await pilot.press("enter", "space", "t")
        await until(pilot, lambda: isinstance(app.screen, RttScreen))


def test_each_panel_has_a_line_for_each_number_of_flows(against_rtt: RttProfile) -> None:
    panels = panels_of(against_rtt)
    assert list(panels)[-1] == BEST
    rtts_s = against_rtt.rtts_s
    for title, curves in panels.items():
        lines = [one for one in curve_series(curves, rtts_s, title) if one.mark]
        assert len(lines) == len(curves)
        assert len({one.mark for one in lines}) == len(lines)
        for line, repeats in zip(lines, curves.values(), strict=True):
            assert len(line.xs) == len(repeats)
            assert all(math.floor(x) == place for place, x in enumerate(line.xs))


@pytest.mark.parametrize(
    ("rtt_ms", "place"),
    [(5, 0.5), (10, 0.5), (20, 1.0), (40, 1.5), (80, 2.0), (160, 2.5), (900, 2.5)],
)
def test_an_rtt_lies_between_those_measured(rtt_ms: float, place: float) -> None:
    assert place_on_axis(rtt_ms / 1e3, [0.01, 0.04, 0.16]) == pytest.approx(place)


@pytest.mark.parametrize("size", SIZES)
def test_the_list_as_it_looks(
    snap_compare: Callable[..., bool], new_app: NewApp, size: tuple[int, int]
) -> None:
    async def shown(pilot: Pilot[int]) -> None:
        app = cast(AdvisorApp, pilot.app)
        await until(pilot, lambda: row_count(app, "ProfilesScreen RowTable"))
        await pilot.pause()

    assert snap_compare(new_app(first="profiles"), terminal_size=size, run_before=shown)


@pytest.mark.parametrize("size", SIZES)
def test_throughput_against_the_rtt_as_it_looks(
    snap_compare: Callable[..., bool], new_app: NewApp, size: tuple[int, int]
) -> None:
    async def shown(pilot: Pilot[int]) -> None:
        app = cast(AdvisorApp, pilot.app)
        await pilot.press("r")
        await until(pilot, lambda: "emulated paths" in words(app, "#of"))
        await pilot.pause()

    assert snap_compare(new_app(first="rtt"), terminal_size=size, run_before=shown)


@pytest.mark.parametrize("size", SIZES)
def test_one_profile_as_it_looks(
    snap_compare: Callable[..., bool],
    new_app: NewApp,
    references: list[StoredProfile],
    size: tuple[int, int],
) -> None:
    async def shown(pilot: Pilot[int]) -> None:
        app = cast(AdvisorApp, pilot.app)
        app.open(ProfileScreen(references[0]))
        await until(pilot, lambda: [chart.picture.series for chart in app.screen.query(FlowBoxes)])
        await until(pilot, lambda: "idle" in words(app, "#status"))
        await pilot.pause(0.5)

    assert snap_compare(new_app(), terminal_size=size, run_before=shown)
