"""The reference profiles that come with the program."""

import math
import statistics
from pathlib import Path

import pytest

from advisor.domain.advice import NINE_OF_TEN
from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Measurement
from advisor.models.rtt_profile import FEWEST_RTTS
from advisor.report.rtt_profile import places_of, rtt_profile
from advisor.store.history import Store
from advisor.store.layout import shipped_profiles
from advisor.store.profiles import StoredProfile, reference_profiles
from advisor.store.references import SUFFIX

RTTS_MS = (0.4, 11.6, 22.6, 45.6, 91.6, 183.0, 366.0)
_LARGEST_BYTES = 32 * 2**10


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> list[StoredProfile]:
    store = Store(tmp_path_factory.mktemp("none"), shipped_profiles())
    found = reference_profiles(store)
    assert store.references.refused == []
    return found


def test_there_is_one_for_each_rtt_of_the_paper(shipped: list[StoredProfile]) -> None:
    paths = [profile.record.path for profile in shipped]
    assert [path.rtt_s * 1e3 for path in paths if path] == pytest.approx(list(RTTS_MS))
    assert [p.record.name for p in shipped] == [f"reference-{rtt_ms:g}ms" for rtt_ms in RTTS_MS]


def test_all_of_the_grids_is_measured_several_times(shipped: list[StoredProfile]) -> None:
    for profile in shipped:
        assert profile.left == 0
        assert profile.record.repeats >= 4
        declared = {subject for subject, _ in profile.declared}
        assert declared == {"tcp", "udt", "globus-url-copy"}
        assert all(len(rates) >= 4 for rates in profile.rates_bps.values())


def test_they_say_that_they_are_emulated(shipped: list[StoredProfile]) -> None:
    for profile in shipped:
        assert profile.emulated
        assert profile.shipped
        assert profile.record.about.startswith("Emulated on one machine")
        path = profile.record.path
        assert path is not None
        assert {path.source.hostname, path.destination.hostname} == {"emulated"}
        assert path.rtt_method == "emulated"


def test_no_rate_is_beyond_what_was_emulated(shipped: list[StoredProfile]) -> None:
    for profile in shipped:
        capacity_bps = profile.record.path.capacity_bps if profile.record.path else None
        assert capacity_bps == 1e9
        for probe in profile.probes:
            if isinstance(probe.result, Measurement):
                assert math.isfinite(probe.result.throughput_bps)
                # A probe ends between two packets: what waited in the queue counts in full. One
                # that did not settle says how uncertain it is.
                surely_bps = probe.result.throughput_bps - NINE_OF_TEN * probe.result.stderr_bps
                assert surely_bps <= 1.05 * capacity_bps
        for rates in profile.rates_bps.values():
            assert statistics.median(rates) <= 1.05 * capacity_bps


def test_no_search_starts_from_them(shipped: list[StoredProfile], tmp_path: Path) -> None:
    store = Store(tmp_path, shipped_profiles())
    pair = Pair("dtn1.example.org", "dtn2.example.org")
    for profile in shipped:
        path = profile.record.path
        assert path is not None
        assert store.prior(pair, path) == []
        assert store.prior_of_similar(pair, path.rtt_s, path.bandwidth_bps) == []


def test_they_stay_small(shipped: list[StoredProfile]) -> None:
    files = [file for folder in shipped_profiles() for file in Path(folder).glob(f"*{SUFFIX}")]
    assert len(files) == len(shipped)
    assert all(file.stat().st_size < _LARGEST_BYTES for file in files)
    assert all(not getattr(p.result, "intervals", []) for one in shipped for p in one.probes)


def test_together_they_are_the_picture_of_throughput_against_rtt(
    shipped: list[StoredProfile],
) -> None:
    found = rtt_profile(places_of(shipped))
    assert len(found.rtts_s) == len(RTTS_MS) >= FEWEST_RTTS
    assert {name.flows for name in found.curves if name.subject == "tcp"} == {1, 4, 10, None}
